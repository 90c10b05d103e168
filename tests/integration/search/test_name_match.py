import threading
from collections import Counter
from random import Random
from typing import Any

import pytest

from kgagent import KnowledgeGraph
from kgagent.errors import InputError
from kgagent.names import name_score, plain_text
from kgagent.search import name_match
from kgagent.tools import Toolset
from tests.support.embedders import WatchedEmbedder
from tests.support.payloads import succeeded
from tests.support.people import persons, remembered
from tests.support.stored import cypher

NAMES = [
    "John",
    "John Smith",
    "Smith Jones",
    "Große Straße",
    "İstanbul",
    "50% (off) [a-z]* .+",
    "日本 太郎",
]


async def test_names_are_found_by_how_well_they_match(
    graph: KnowledgeGraph, tools: Toolset, embedder: WatchedEmbedder, user_id: str
) -> None:
    await persons(tools, *NAMES)
    embedder.forget()
    expected: dict[str, dict[str, float]] = {
        "john": {"John": 1.0, "John Smith": 0.82},
        "JOHN SMITH": {"John Smith": 1.0, "John": 0.82, "Smith Jones": 0.5},
        "ohn smi": {"John Smith": 0.91},
        "Johnny Walker": {"John": 0.792},
        "Große": {"Große Straße": 0.829},
        "große straße 5": {"Große Straße": 0.963},
        "50% (off)": {"50% (off) [a-z]* .+": 0.831},
        ".*": {"50% (off) [a-z]* .+": 0.719},
        "太郎": {"日本 太郎": 0.82},
        "' OR 1=1 //": {},
    }
    for text, found in expected.items():
        matches = await graph.retrieval.text_match(text, user_id=user_id)
        assert {
            match.node.name: pytest.approx(match.similarity, abs=0.001) for match in matches
        } == found
        assert [match.similarity for match in matches] == sorted(
            (m.similarity for m in matches), reverse=True
        )
    assert embedder.calls == 0


async def test_a_match_needs_a_score_of_at_least_03(
    graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    await persons(tools, "one two three", "one two three four")
    found = await graph.retrieval.text_match("one x y", user_id=user_id)
    assert [match.node.name for match in found] == ["one two three"]


async def test_limits_and_labels_apply(graph: KnowledgeGraph, tools: Toolset, user_id: str) -> None:
    chess = [{"label": label, "name": "Chess"} for label in ("Person", "Concept", "Entity")]
    await remembered(tools, [*chess, {"label": "Person", "name": "Chess player"}])
    found = await graph.retrieval.text_match("chess", user_id=user_id, limit=3)
    assert [match.similarity for match in found] == [1.0, 1.0, 1.0]
    [concept] = await graph.retrieval.text_match("chess", user_id=user_id, labels=["Concept"])
    assert concept.node.label == "Concept"


async def test_names_that_are_not_text_break_nothing(
    graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    await persons(tools, *(f"Ada {number}" for number in range(5)))
    await cypher(
        graph,
        "MATCH (n:Person {user_id: $user}) WITH n, n.name AS name SET n.name = CASE name "
        "WHEN 'Ada 0' THEN 7 WHEN 'Ada 1' THEN null WHEN 'Ada 2' THEN ['Ada'] WHEN 'Ada 3' THEN "
        "true ELSE name END",
        user=user_id,
    )
    assert [
        match.node.name for match in await graph.retrieval.text_match("Ada", user_id=user_id)
    ] == ["Ada 4"]


async def test_of_many_names_the_likeliest_are_scored_beside_the_event_loop(
    graph: KnowledgeGraph, tools: Toolset, user_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [
        *(f"a long meeting about all of the plans of the year {number}" for number in range(30)),
        *(f"m{number}" for number in range(5)),
    ]
    names += ["Kent Berg", "mentorship programme"]
    nodes: list[dict[str, Any]] = [{"label": "Person", "name": name} for name in names]
    nodes[0]["aliases"] = aliases = [f"the meeting {number}" for number in range(20)]
    succeeded(await tools.remember(nodes=nodes))
    scored, threads = Counter[str](), set[threading.Thread]()
    monkeypatch.setattr(name_match, "MAX_NODES", 10)

    def counted(text: str, name: str) -> float:
        scored[text] += 1
        threads.add(threading.current_thread())
        return name_score(text, name)

    monkeypatch.setattr(name_match, "name_score", counted)
    for text, best in (
        ("visit to the Berg of Kent", "Kent Berg"),
        ("mentorship", "mentorship programme"),
    ):
        [found] = await graph.retrieval.text_match(text, user_id=user_id, limit=1)
        assert found.node.name == best
    everything = await graph.retrieval.text_match("m", user_id=user_id, limit=40)
    assert len(everything) == len([name for name in names if "m" in name])
    assert scored["visit to the Berg of Kent"] <= 10 + len(aliases)
    assert threading.current_thread() not in threads


async def test_names_are_found_as_if_each_were_scored(
    graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    random = Random(7)
    parts = [
        "Weiß",
        "Weiss",
        "Straße",
        "strasse",
        "İzmir",
        "Ann",
        "anna",
        "o'Neil",
        "ﬁn",
        "Lee",
        "of",
        "x",
        "old",
    ]

    def made(most: int) -> str:
        words = random.choices(parts, k=random.randint(1, most))
        return "".join(word + random.choice([" ", "\t", "\u00a0", "  "]) for word in words)

    names = [made(3) for _ in range(80)]
    people = [{"label": "Person", "name": f"Person {number}"} for number in range(len(names))]
    succeeded(await tools.remember(nodes=people))
    text = "MATCH (n:Person {user_id: $user}) SET n.name = $names[toInteger(split(n.name, ' ')[1])]"
    await cypher(graph, text, user=user_id, names=names)
    for text in (made(6) for _ in range(60)):
        plain = plain_text(text)
        expected = sorted(
            score
            for name in names
            if (score := name_score(text, name)) >= name_match.MIN_SCORE
            and (
                any(word in plain_text(name) for word in plain.split()) or plain_text(name) in plain
            )
        )
        found = await graph.retrieval.text_match(text, user_id=user_id, limit=100)
        assert [match.similarity for match in reversed(found)] == pytest.approx(expected), text


async def test_an_empty_text_is_an_error(graph: KnowledgeGraph, user_id: str) -> None:
    with pytest.raises(InputError, match="text must not be empty"):
        await graph.retrieval.text_match("  ", user_id=user_id)
