"""Types of which a node has one value at a time: a new one ends the old one."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kgagent import KnowledgeGraph
from kgagent.tools import Payload, Toolset
from tests.conftest import Clock
from tests.support.payloads import error_of, succeeded
from tests.support.stored import cypher, relationships_of

PEOPLE = [{"label": "Person", "name": name} for name in ("Anna", "Bo", "Cy")]
PLACES = [{"label": "Entity", "name": name} for name in ("Oslo", "Bergen", "Rome", "Acme")]


def lives_in(place: str, **more: object) -> dict[str, object]:
    """Where Anna lives."""
    return {"from": "Anna", "to": place, "relationship_type": "lives in", **more}


async def tell(tools: Toolset, *facts: Mapping[str, object], **call: Any) -> Payload:
    """Tell facts in one call."""
    return succeeded(
        await tools.remember(nodes=[*PEOPLE, *PLACES], relationships=list(facts), **call)
    )


async def times(graph: KnowledgeGraph, user_id: str) -> dict[str, str | None]:
    """The time of each relationship, by the name of the node beside Anna or Acme."""
    rows = await cypher(
        graph,
        "MATCH (a)-[r {user_id: $user}]->(b) RETURN a.name AS a, b.name AS b, r.when AS when",
        user=user_id,
    )
    return {row["b"] if row["a"] == "Anna" else row["a"]: row["when"] for row in rows}


@pytest.mark.parametrize(
    ("old", "new", "said", "oslo", "bergen"),
    [
        # In the precision of the beginning, if that is over.
        ({"when": "2019/.."}, {"when": "2024-05/.."}, "2024-06-03", "2019/2024-05", "2024-05/.."),
        ({"when": "2019/.."}, {"when": "2024-05"}, "2024-06-03", "2019/2024-05", "2024-05/.."),
        ({}, {"when": "2024-05/.."}, "2024-06-03", "2015/2024-05", "2024-05/.."),
        # Otherwise the last day on which it may not have begun.
        ({"when": "2019"}, {"when": "2024-05/.."}, "2024-05-20", "2019/2024-05-19", "2024-05/.."),
        (
            {"when": "2019/.."},
            {"when": "2024-05-20"},
            "2024-06",
            "2019/2024-05-19",
            "2024-05-20/..",
        ),
        (
            {"when": "2019/.."},
            {"when": "2025-03/.."},
            "2024-06-03",
            "2019/2025-02-28",
            "2025-03/..",
        ),
        ({"when": "2019/.."}, {}, "2024-06-03", "2019/2024-06-02", None),
        ({"when": "2010/2012; 2019/.."}, {}, None, "2010/2012; 2019/2025-12-31", None),
        # What has ended stays; what is told of a past period ends nothing.
        ({"when": "2010/2012"}, {"when": "2024"}, None, "2010/2012", "2024/.."),
        ({"when": "2019/.."}, {"when": "2020/2021"}, None, "2019/..", "2020/2021"),
    ],
)
async def test_a_new_value_ends_the_old_one(
    tools: Toolset,
    graph: KnowledgeGraph,
    user_id: str,
    *,
    old: dict[str, str],
    new: dict[str, str],
    said: str | None,
    oslo: str,
    bergen: str | None,
) -> None:
    await tell(tools, lives_in("Oslo", **old), said_on=None if old else "2015")
    payload = await tell(tools, lives_in("Bergen", **new), said_on=said)
    expected = {"Oslo": oslo, "Bergen": bergen}
    assert await times(graph, user_id) == expected
    until = oslo.rpartition("/")[2]
    is_ended = oslo != old.get("when")
    assert payload["ended"] == ([f"Anna lives in Oslo (until {until})"] if is_ended else [])


async def test_an_older_value_has_ended_when_the_known_one_began(
    tools: Toolset, graph: KnowledgeGraph, user_id: str
) -> None:
    await tell(tools, lives_in("Bergen", when="2020-05/.."), said_on="2020-06-01")
    payload = await tell(tools, lives_in("Oslo", when="2015"), said_on="2021-01-01")
    assert payload["ended"] == ["Anna lives in Oslo (until 2020-05, then Anna lives in Bergen)"]
    assert await times(graph, user_id) == {"Oslo": "2015/2020-05", "Bergen": "2020-05/.."}


async def test_one_call_may_have_both_values_and_a_former_one_may_come_back(
    tools: Toolset, graph: KnowledgeGraph, user_id: str
) -> None:
    both = [lives_in("Oslo"), lives_in("Bergen")]
    payload = await tell(tools, *both, said_on="2020-05-01")
    assert payload["ended"] == ["Anna lives in Oslo (until 2020-04-30)"]
    assert payload["relationships"]["created"] == 2
    assert await times(graph, user_id) == {"Oslo": "../2020-04-30", "Bergen": None}
    payload = await tell(tools, lives_in("Oslo"), said_on="2022-02-02")
    assert payload["ended"] == ["Anna lives in Bergen (until 2022-02-01)"]
    assert await times(graph, user_id) == {
        "Oslo": "../2020-04-30; 2022-02-02/..",
        "Bergen": "2020-05-01/2022-02-01",
    }


async def test_of_two_writers_at_once_one_has_the_current_value(
    agents: list[Toolset], graph: KnowledgeGraph, user_id: str
) -> None:
    await tell(agents[0], lives_in("Oslo", when="2015/.."))
    places = ["Bergen", "Rome", "Acme", "Bergen"]
    calls = [
        agent.remember(relationships=[lives_in(place, when="2020/..")])
        for agent, place in zip(agents, places, strict=False)
    ]
    for answer in await asyncio.gather(*calls):
        assert succeeded(answer)["relationships"]["failed"] == 0
    found = await times(graph, user_id)
    assert found["Oslo"] == "2015/2020"
    current = [place for place, when in found.items() if when == "2020/.."]
    assert len(current) == 1
    assert {found[place] for place in set(places) - set(current)} == {"2020"}


async def test_the_first_values_of_a_new_node_may_be_written_at_once(
    agents: list[Toolset], graph: KnowledgeGraph, user_id: str
) -> None:
    capital = {"to": "Norge", "relationship_type": "capital of", "when": "1905/.."}
    norge = {"label": "Entity", "name": "Norge"}
    calls = [
        agent.remember(
            nodes=[norge, {"label": "Entity", "name": place}],
            relationships=[{"from": place, **capital}],
        )
        for agent, place in zip(agents, ("Oslo", "Bergen", "Trondheim"), strict=False)
    ]
    for answer in await asyncio.gather(*calls):
        assert succeeded(answer)["relationships"]["created"] == 1
    rows = await cypher(
        graph,
        "MATCH ({user_id: $user})-[r]->({name: 'Norge'}) RETURN r.when AS when ORDER BY when",
        user=user_id,
    )
    assert [row["when"] for row in rows] == ["1905", "1905", "1905/.."]


async def test_a_correction_says_that_the_old_value_never_held(
    tools: Toolset, graph: KnowledgeGraph, user_id: str
) -> None:
    await tell(tools, lives_in("Oslo", when="2015/..", description="She rents there."))
    payload = await tell(tools, lives_in("Bergen"), said_on="2020-05-01")
    payload = await tell(tools, lives_in("Rome", correction=True), said_on="2020-05-02")
    assert payload["ended"] == ["Anna lives in Bergen (was never so)"]
    stored = {one["relationship_type"]: one for one in await relationships_of(graph, user_id)}
    [bergen] = await relationships_of_type(graph, user_id, "associated with")
    assert '"corrected":true' in bergen["history"]
    assert stored["associated with"].get("when") is None


async def relationships_of_type(
    graph: KnowledgeGraph, user_id: str, relationship_type: str
) -> list[dict[str, Any]]:
    """The relationships with exactly this type."""
    return [
        one
        for one in await relationships_of(graph, user_id)
        if one["relationship_type"] == relationship_type
    ]


async def test_of_several_types_only_the_one_with_another_value_ends(
    tools: Toolset, graph: KnowledgeGraph, user_id: str
) -> None:
    both = [lives_in("Oslo", relationship_type="born in"), lives_in("Oslo")]
    await tell(tools, *both, said_on="2015-01-01")
    payload = await tell(tools, lives_in("Bergen", when="2024-05"))
    assert payload["ended"] == ["Anna lives in Oslo (until 2024-05)"]
    [oslo] = await relationships_of_type(graph, user_id, "born in")
    assert '"value":"born in, lives in"' in oslo["history"]
    # An older value beside another type is a note, as the relationship has one time.
    await tell(tools, lives_in("Rome", relationship_type="works in"))
    payload = await tell(tools, lives_in("Rome", when="2020"))
    assert payload["ended"] == ["Anna lives in Rome (until 2024-05, then Anna lives in Bergen)"]
    [rome] = await relationships_of_type(graph, user_id, "works in")
    assert "Anna lives in Rome." in rome["notes"]
    assert "2020/2024-05" in rome["notes"]
    assert "when" not in rome


async def test_a_type_may_have_one_source_a_target_or_one_value_at_both_ends(
    tools: Toolset,
) -> None:
    head = {"to": "Acme", "relationship_type": "CEO_of"}
    await tell(tools, {"from": "Bo", **head, "when": "2015/.."})
    payload = await tell(tools, {"from": "Cy", **head, "when": "2020/.."})
    assert payload["ended"] == ["Bo ceo of Acme (until 2020)"]
    married = {"relationship_type": "Married to"}
    await tell(tools, {"from": "Anna", "to": "Bo", **married, "when": "2015/.."})
    payload = await tell(tools, {"from": "Cy", "to": "Bo", **married, "when": "2020/.."})
    assert payload["ended"] == ["Anna Married to Bo (until 2020)"]


@pytest.mark.parametrize(
    "spelling", ["LIVES_IN", "Lives  in", "lives\u00a0in", "\uff4cives \uff29n"]
)
async def test_a_value_ends_whatever_the_spelling_of_its_type(
    tools: Toolset, graph: KnowledgeGraph, user_id: str, spelling: str
) -> None:
    await tell(tools, lives_in("Oslo", when="2019/.."))
    await cypher(
        graph,
        "MATCH ()-[r {user_id: $user}]->() SET r.relationship_type = $spelling",
        user=user_id,
        spelling=spelling,
    )
    await tell(tools, lives_in("Bergen", when="2024/.."))
    assert await times(graph, user_id) == {"Oslo": "2019/2024", "Bergen": "2024/.."}


async def test_single_tools_and_load_end_values_too(
    tools: Toolset, graph: KnowledgeGraph, user_id: str, tmp_path: Path
) -> None:
    await tell(tools, lives_in("Oslo", when="2015/.."))
    answer = await tools.create_relationship(
        from_entity_key="Anna", to_entity_key="Bergen", relationship_type="lives in", when="2020"
    )
    assert succeeded(answer)["ended"] == ["Anna lives in Oslo (until 2020)"]
    rows = await cypher(
        graph,
        "MATCH (n {user_id: $user}) RETURN n.name AS name, n.entity_key AS key",
        user=user_id,
    )
    keys = {row["name"]: row["key"] for row in rows}
    line = {"kind": "relationship", **lives_in("Rome", when="2022/..")}
    line |= {"from": keys["Anna"], "to": keys["Rome"]}
    file = tmp_path / "facts.jsonl"
    file.write_text(json.dumps(line), "utf-8")
    report = await graph.load(file, user_id=user_id)
    assert report.relationships.ended == 1
    assert [one.reason for one in report.remarks] == ["Ended: Anna lives in Bergen (until 2022)"]
    assert await times(graph, user_id) == {
        "Oslo": "2015/2020",
        "Bergen": "2020/2022",
        "Rome": "2022/..",
    }


async def test_an_unchanged_file_that_is_loaded_again_brings_nothing_back(
    tools: Toolset, graph: KnowledgeGraph, user_id: str, tmp_path: Path
) -> None:
    file = tmp_path / "memory.jsonl"
    nodes = [{"kind": "node", "id": one["name"], **one} for one in (PEOPLE[0], PLACES[0])]
    nodes[0]["description"] = "A nurse."
    lines = [*nodes, {"kind": "relationship", **lives_in("Oslo"), "description": "She rents."}]
    file.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    await graph.load(file, user_id=user_id)
    bergen = {"label": "Entity", "name": "Bergen"}
    anna = {"label": "Person", "name": "Anna", "description": "A doctor."}
    owns = lives_in("Oslo", relationship_type="owns a house in", replaces=True)
    for facts in ([lives_in("Bergen")], [{**owns, "description": "She lets it."}]):
        succeeded(await tools.remember(nodes=[bergen, anna], relationships=facts))
        before = await times(graph, user_id)
        stored = await relationships_of(graph, user_id)
        report = await graph.load(file, user_id=user_id)
        assert (report.nodes.unchanged, report.relationships.unchanged) == (2, 1)
        assert await times(graph, user_id) == before
        assert await relationships_of(graph, user_id) == stored
    reasons = [one.reason for one in report.remarks]
    assert reasons == [
        "Left as in the graph, which had it before: description",
        "Left as in the graph, which had it before: relationship_type, description",
    ]


async def test_an_item_says_itself_what_it_ends(
    tools: Toolset, graph: KnowledgeGraph, user_id: str
) -> None:
    works = {"from": "Anna", "to": "Acme", "relationship_type": "works for", "when": "2015/.."}
    await tell(tools, works, lives_in("Oslo", relationship_type="born in, rents in"))
    moves = lives_in("Bergen", when="2024-05/..", ends=["Works for Acme", "rents in"])
    payload = await tell(tools, moves, said_on="2026-01-01")
    assert payload["ended"] == [
        "Anna works for Acme (until 2024-05)",
        "Anna rents in Oslo (until 2024-05)",
    ]
    assert (await times(graph, user_id))["Acme"] == "2015/2024-05"
    assert await relationships_of_type(graph, user_id, "born in")


@pytest.mark.parametrize(
    ("ends", "error"),
    [
        ("sails with Cy", "'sails with Cy' is no relationship of the two nodes. These are: 'Anna "),
        ("friend of", "'friend of' may be 'Anna friend of"),
    ],
)
async def test_what_an_item_ends_must_be_one_known_relationship(
    tools: Toolset, graph: KnowledgeGraph, user_id: str, *, ends: str, error: str
) -> None:
    friends = [
        {"from": "Anna", "to": who, "relationship_type": "friend of"} for who in ("Bo", "Cy")
    ]
    await tell(tools, *friends, lives_in("Oslo", relationship_type="born in"))
    payload = await tell(tools, lives_in("Oslo", ends=[ends]), lives_in("Rome"))
    [failed] = payload["failures"]
    assert error in failed["error"]
    assert set(await times(graph, user_id)) == {"Bo", "Cy", "Oslo", "Rome"}


@pytest.mark.parametrize("ends", ["Bo boss of me", "boss of me", "Bo boss of Anna"])
async def test_what_an_item_ends_may_speak_of_the_owner(tools: Toolset, ends: str) -> None:
    await tools.remember(nodes=[{"label": "Person", "name": "Anna", "is_owner": True}])
    await tell(tools, {"from": "Bo", "to": "me", "relationship_type": "boss of"})
    new = {"from": "Cy", "to": "me", "relationship_type": "mentor of", "ends": [ends]}
    payload = await tell(tools, new)
    assert [one.partition(" (")[0] for one in payload["ended"]] == ["Bo boss of Anna"]


async def test_an_item_with_correction_says_that_what_it_ends_never_held(
    tools: Toolset, graph: KnowledgeGraph, user_id: str
) -> None:
    works = {"from": "Anna", "to": "Acme", "relationship_type": "works for"}
    await tell(tools, works, lives_in("Oslo", when="2015/.."))
    payload = await tell(tools, {**works, "ends": ["lives in Oslo"], "correction": True})
    assert payload["ended"] == ["Anna lives in Oslo (was never so)"]
    assert await times(graph, user_id) == {"Acme": None, "Oslo": None}
    assert await relationships_of_type(graph, user_id, "associated with")


async def test_a_restored_time_may_not_make_two_values_hold(
    tools: Toolset, graph: KnowledgeGraph, user_id: str
) -> None:
    for place, when in (("Oslo", "2015/.."), ("Bergen", "2020/..")):
        await tell(tools, lives_in(place, when=when))
    ends = {"from_entity_key": "Anna", "to_entity_key": "Oslo"}
    error = error_of(await tools.restore(**ends, field="when"))
    assert "'Anna lives in Oslo' would hold beside 'Anna lives in Bergen'" in error
    succeeded(await tools.delete_relationship(from_entity_key="Anna", to_entity_key="Bergen"))
    succeeded(await tools.restore(**ends, field="when"))
    assert await times(graph, user_id) == {"Oslo": "2015/.."}


async def test_the_time_of_another_type_leaves_that_of_a_value(
    tools: Toolset, graph: KnowledgeGraph, user_id: str
) -> None:
    await tell(tools, lives_in("Oslo", when="2015/.."))
    await tell(tools, lives_in("Oslo", relationship_type="works in", when="2020/.."))
    [both] = await relationships_of_type(graph, user_id, "lives in, works in")
    assert both["when"] == "2015/.."
    [note] = json.loads(both["notes"])
    assert (note["content"], note["when"]) == ("Anna works in Oslo.", "2020/..")


async def test_values_of_two_sources_of_which_none_is_later_are_a_conflict_until_one_call_settles_it(
    tools: Toolset, graph: KnowledgeGraph, user_id: str, clock: Clock
) -> None:
    for place, source in (("Oslo", "Letter"), ("Bergen", "Diary")):
        payload = await tell(tools, lives_in(place), said_on="2020-05-01", source=source)
        assert payload["ended"] == []
        clock.forward(days=1)
    shown = succeeded(await tools.hybrid_search(query="Where does Anna live?"))
    marks = {one["to_name"]: one["conflicts_with"] for one in shown["relationships"]}
    assert marks == {"Oslo": "Anna lives in Bergen", "Bergen": "Anna lives in Oslo"}
    text = str((await tools.get_relationship(from_entity_key="Anna", format="text"))["text"])
    assert text.count("conflicts with Anna lives in") == 2
    found = [one.message for one in (await graph.diagnose(user_id=user_id)).findings]
    assert any("'Anna lives in Bergen', 'Anna lives in Oslo'" in one for one in found), found
    payload = await tell(tools, lives_in("Bergen", ends=["Oslo"]), said_on="2020-06-01")
    assert payload["ended"] == ["Anna lives in Oslo (until 2020-05-31)"]
    found = [one.message for one in (await graph.diagnose(user_id=user_id)).findings]
    assert not any("conflict" in one for one in found)


@pytest.mark.parametrize(
    ("told", "oslo", "bergen"),
    [
        # An earlier statement of the present value ends nothing of it.
        (
            [("Oslo", "2022-04-24"), ("Bergen", "2022-09-29"), ("Bergen", "2021-12-26")],
            "2022-04-24/2022-09-28",
            "2021-12-26/2022-04-23; 2022-09-29/..",
        ),
        # What was told again of a later day holds again then.
        (
            [("Oslo", "2015-02-01"), ("Oslo", "2020-03-01"), ("Bergen", "2018-04-01")],
            "2015-02-01/2018-03-31; 2020-03-01/..",
            "2018-04-01/2020-02-29",
        ),
    ],
)
async def test_a_value_that_is_told_again_holds_at_both_times(
    tools: Toolset,
    graph: KnowledgeGraph,
    user_id: str,
    told: list[tuple[str, str]],
    oslo: str,
    bergen: str,
) -> None:
    for place, said_on in told:
        await tell(tools, lives_in(place), said_on=said_on)
    assert await times(graph, user_id) == {"Oslo": oslo, "Bergen": bergen}


async def test_an_earlier_beginning_of_the_present_value_ends_where_another_began(
    tools: Toolset, graph: KnowledgeGraph, user_id: str
) -> None:
    for place, when in (("Oslo", "2015-05/.."), ("Bergen", "2020-06/.."), ("Bergen", "2010")):
        await tell(tools, lives_in(place, when=when))
    assert await times(graph, user_id) == {
        "Oslo": "2015-05/2020-06",
        "Bergen": "2010/2015-05; 2020-06/..",
    }


async def test_the_type_that_an_item_replaces_ends_no_relationship_of_others(
    tools: Toolset, graph: KnowledgeGraph, user_id: str
) -> None:
    coaches = {"relationship_type": "coach of", "when": "2023/.."}
    await tell(
        tools, {"from": "Bo", "to": "Anna", **coaches}, {"from": "Cy", "to": "Anna", **coaches}
    )
    former = {"relationship_type": "former coach of", "replaces": True, "ends": ["coach of"]}
    payload = await tell(tools, {"from": "Bo", "to": "Anna", **former})
    assert not payload.get("failures")
    assert not payload.get("ended")
    assert await relationships_of_type(graph, user_id, "former coach of")
    assert await relationships_of_type(graph, user_id, "coach of")


async def test_a_type_that_holds_after_the_period_of_another_takes_its_place(
    tools: Toolset, graph: KnowledgeGraph, user_id: str
) -> None:
    at_acme = {"from": "Anna", "to": "Acme"}
    await tell(tools, {**at_acme, "relationship_type": "studied at", "when": "2010/2014"})
    # What is told of the same time holds beside it.
    await tell(tools, {**at_acme, "relationship_type": "played at", "when": "2013"})
    payload = await tell(tools, {**at_acme, "relationship_type": "works at"}, said_on="2025-01-01")
    assert [(one["field"], one["old"]) for one in payload["replaced"]] == [
        ("relationship_type", "studied at, played at"),
        ("when", "2010/2014"),
    ]
    [works] = await relationships_of_type(graph, user_id, "works at")
    assert works.get("when") is None
    for day, expected in (("2012", "studied at"), ("2025-06", "works at")):
        found = succeeded(await tools.hybrid_search(query="Anna at Acme", as_of=day))
        assert [one["relationship_type"] for one in found["relationships"]] == [expected]


async def test_a_home_may_be_something_else_between_two_times(
    tools: Toolset, graph: KnowledgeGraph, user_id: str
) -> None:
    told = [
        ("Oslo", "lives in"),
        ("Bergen", "lives in"),
        ("Oslo", "works in"),
        ("Oslo", "lives in"),
    ]
    for year, (place, name) in enumerate(told, 2022):
        await tell(tools, lives_in(place, relationship_type=name), said_on=f"{year}-01-01")
    assert await times(graph, user_id) == {"Oslo": None, "Bergen": "2023-01-01/2024-12-31"}
    for day, expected in (
        ("2022-06", {"Oslo": "lives in"}),
        ("2023-06", {"Bergen": "lives in"}),
        ("2024-06", {"Bergen": "lives in", "Oslo": "works in"}),
        ("2025-06", {"Oslo": "works in, lives in"}),
    ):
        found = succeeded(await tools.hybrid_search(query="Anna", as_of=day))["relationships"]
        assert {one["to_name"]: one["relationship_type"] for one in found} == expected


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ({"relationship_type": "works at", "when": "../2024"}, "2010/2012; 2019/2024"),
        ({"ends": ["works at Acme"]}, "2010/2012; 2019/2025-02-02"),
        ({"ends": ["works at"], "when": "2024"}, "2010/2012; 2019/2024"),
        ({"ends": ["works at Acme"], "when": "../2024-05"}, "2010/2012; 2019/2024-05"),
    ],
)
async def test_an_item_may_say_when_its_own_relationship_ended(
    tools: Toolset, graph: KnowledgeGraph, user_id: str, item: dict[str, Any], expected: str
) -> None:
    works = {"from": "Anna", "to": "Acme", "relationship_type": "works at"}
    await tell(tools, {**works, "when": "2010/2012; 2019/.."})
    payload = await tell(tools, {"from": "Anna", "to": "Acme", **item}, said_on="2025-02-03")
    assert await times(graph, user_id) == {"Acme": expected}
    until = expected.rpartition("/")[2]
    assert payload["ended"] == ([f"Anna works at Acme (until {until})"] if "ends" in item else [])


async def test_an_item_that_ends_one_of_its_types_leaves_the_others(
    tools: Toolset, graph: KnowledgeGraph, user_id: str
) -> None:
    await tell(tools, lives_in("Oslo", relationship_type="works in, born in"))
    payload = await tell(
        tools, {"from": "Anna", "to": "Oslo", "ends": ["works in"], "when": "2024"}
    )
    assert payload["ended"] == ["Anna works in Oslo (until 2024)"]
    await tell(tools, lives_in("Oslo", relationship_type="buried in", ends=["born in"]))
    assert await relationships_of_type(graph, user_id, "buried in")


async def test_two_stated_periods_of_different_sources_are_a_conflict(
    tools: Toolset, graph: KnowledgeGraph, user_id: str, clock: Clock
) -> None:
    for place, when, source in (("Oslo", "2020/2030", "Letter"), ("Rome", "2022/2030", "Diary")):
        payload = await tell(tools, lives_in(place, when=when), said_on="2026", source=source)
        assert payload["ended"] == []
        clock.forward(days=1)
    assert await times(graph, user_id) == {"Oslo": "2020/2030", "Rome": "2022/2030"}
    shown = succeeded(await tools.hybrid_search(query="Where does Anna live?"))["relationships"]
    assert {one["conflicts_with"] for one in shown} == {"Anna lives in Oslo", "Anna lives in Rome"}
