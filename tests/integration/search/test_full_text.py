"""Full-text search: any text is looked for by its words, among one user's records alone."""

from itertools import pairwise

import pytest

from kgagent import KnowledgeGraph
from kgagent.knowledge_graph import services_of
from kgagent.search.full_text import search_nodes_full_text, search_relationships_full_text
from kgagent.search.query import EmbeddedQuery
from kgagent.search.scope import RelationshipFilter, SearchScope
from kgagent.tools import Toolset
from tests.conftest import Clock
from tests.support.crowd import plant_people, plant_relationships
from tests.support.payloads import succeeded
from tests.support.people import node, person, persons, relate, remembered, two_friends
from tests.support.stored import cypher, the_relationship


@pytest.fixture
def scope(graph: KnowledgeGraph) -> SearchScope:
    return services_of(graph).retrieval.scope


def query(text: str) -> EmbeddedQuery:
    return EmbeddedQuery((), 0.0, text)


async def names(
    scope: SearchScope, text: str, user_id: str, *labels: str, limit: int = 10
) -> list[str]:
    every = labels or ("Person", "Concept", "Entity", "Source")
    [ranking] = await search_nodes_full_text(
        scope.of(user_id), [query(text)], labels=every, limit=limit
    )
    return [one.record.text("name") for one in ranking.candidates if one.record]


async def descriptions(
    scope: SearchScope, text: str, user_id: str, types: list[str] | None = None
) -> list[str]:
    kept = RelationshipFilter(None if types is None else tuple(types))
    [ranking] = await search_relationships_full_text(
        scope.of(user_id), [query(text)], kept=kept, limit=10
    )
    rows = await scope.store.read(
        "UNWIND $ids AS id MATCH ()-[r]->() WHERE elementId(r) = id RETURN r.description AS "
        "description",
        {"ids": [one.record.element_id for one in ranking.candidates if one.record]},
    )
    return [row["description"] for row in rows]


HOSTILE = [
    '"mentor]) OR user_id:(someone [a TO mentor}',
    "+mentor -mentor !mentor AND NOT name:mentor* mentor^99 ~0.1 /.*/ \\ mentor \\",
    "🎉 mentor 我的导师",
    "(" * 10_000 + " mentor " + "\\" * 9_990,
    " ".join(f"w{number}" for number in range(4_000)) + " mentor mentorship",
]


async def test_any_text_finds_its_words(scope: SearchScope, tools: Toolset, user_id: str) -> None:
    first, second = (
        await person(tools, "Ruth", "A mentor, in mentorship"),
        await person(tools, "Bo"),
    )
    await relate(tools, first, second, "mentor", description="Ruth taught Bo")
    for text in HOSTILE:
        assert await names(scope, text, user_id) == ["Ruth"], text
        assert await descriptions(scope, text, user_id) == ["Ruth taught Bo"], text
    for text in ("", "?!", '"', "\\", "🂡" * 3, "(" * 20_000):
        assert (
            await names(scope, text, user_id) == await descriptions(scope, text, user_id) == []
        ), text


async def test_words_of_any_script_are_found(
    scope: SearchScope, tools: Toolset, user_id: str
) -> None:
    await remembered(
        tools, [{"label": "Concept", "name": name} for name in ("我的导师", "🎉 party", "Москва")]
    )
    for text, found in (
        *(
            ("导师", "我的导师"),
            ("谁是我的导师", "我的导师"),
            ("🎉", "🎉 party"),
            ("party", "🎉 party"),
            ("москва", "Москва"),
        ),
    ):
        assert await names(scope, text, user_id) == [found]


async def test_notes_are_found_by_their_content_and_not_by_their_json(
    scope: SearchScope, tools: Toolset, graph: KnowledgeGraph, user_id: str, clock: Clock
) -> None:
    ends = await two_friends(tools, description="Old friends", notes=["They sail together"])
    assert await descriptions(scope, "who sail", user_id) == ["Old friends"]
    for word in ("content", "added_by", "2026", "null"):
        assert await descriptions(scope, word, user_id) == []
    succeeded(
        await tools.add_note_to_relationship(**ends, content="Quarrelled once", lifetime="week")
    )
    assert await descriptions(scope, "quarrelled", user_id) == ["Old friends"]
    clock.forward(days=8)
    succeeded(await tools.update_relationship(**ends, attitude=3))
    assert await descriptions(scope, "quarrelled", user_id) == []
    assert (await the_relationship(graph, user_id))["notes_text"] == "They sail together"


async def test_the_users_records_are_found_among_many_of_others(
    scope: SearchScope, graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    others = await plant_people(
        graph, f"{user_id}-x", 600, description="mentor mentor mentor", name="mentor"
    )
    rows = [
        {
            "first": one,
            "second": other,
            "properties": {"relationship_type": "mentor", "description": "mentor"},
        }
        for one, other in pairwise(others)
    ]
    await plant_relationships(graph, f"{user_id}-x", rows)
    first = await person(
        tools, "Ruth", "Among much else that could be said of her at some length, she is a mentor"
    )
    await relate(tools, first, await person(tools, "Bo"), "teacher", description="A kind of mentor")
    assert await names(scope, "mentor", user_id, limit=1) == ["Ruth"]
    assert await descriptions(scope, "mentor", user_id) == ["A kind of mentor"]


@pytest.mark.parametrize("other", ["{}", "{} ", "{}-"], ids=range(3))
async def test_users_with_ids_of_the_same_words_are_distinguished(
    scope: SearchScope, graph: KnowledgeGraph, user_id: str, other: str
) -> None:
    mine, theirs = user_id.upper(), other.format(user_id)
    await plant_people(graph, mine, 1, name="mentor of mine")
    await plant_people(graph, theirs, 200, name="mentor")
    assert await names(scope, "mentor", mine, limit=1) == ["mentor of mine"]
    assert set(await names(scope, "mentor", theirs, limit=300)) == {"mentor"}


async def test_a_user_id_may_be_any_text(
    scope: SearchScope, graph: KnowledgeGraph, user_id: str
) -> None:
    for strange in (f'{user_id} "quoted" \\', f"---{user_id} AND x:y", f"用户{user_id}"):
        await plant_people(graph, strange, 1, name="mentor")
        assert await names(scope, "mentor", strange) == ["mentor"]


async def test_a_user_id_without_a_word_still_sees_only_its_own(
    scope: SearchScope, graph: KnowledgeGraph, user_id: str
) -> None:
    word = f"word{user_id[-12:]}"
    await plant_people(graph, "---", 1, name=f"{word} mine")
    await plant_people(graph, user_id, 120, name=word)
    try:
        assert await names(scope, word, "---", limit=1) == [f"{word} mine"]
        assert await names(scope, word, "-+-") == []
    finally:
        await cypher(graph, "MATCH (n {user_id: '---'}) DETACH DELETE n")


async def test_a_relationship_that_reaches_another_users_node_is_not_found(
    scope: SearchScope, graph: KnowledgeGraph, user_id: str
) -> None:
    [mine] = await plant_people(graph, user_id, 1)
    [theirs] = await plant_people(graph, f"{user_id}-x", 1)
    properties = {"relationship_type": "mentor", "description": "crosses"}
    await plant_relationships(
        graph, user_id, [{"first": mine, "second": theirs, "properties": properties}]
    )
    assert await descriptions(scope, "mentor", user_id) == []


async def test_filters_hold_before_the_limit(
    scope: SearchScope, graph: KnowledgeGraph, user_id: str
) -> None:
    people = await plant_people(graph, user_id, 301, description="mentor mentor")
    rows = [
        {
            "first": people[i],
            "second": people[i + 1],
            "properties": {"relationship_type": kind, "description": "mentor"},
        }
        for i, kind in enumerate(["mentor"] * 298 + ["Mentor", "rare mentor"])
    ]
    await plant_relationships(graph, user_id, rows)
    await node(
        graph.tools(user_id=user_id),
        "Concept",
        "Mentorship",
        "What a mentor does, told at more length than it need be",
    )
    [hits] = await search_relationships_full_text(
        scope.of(user_id), [query("mentor")], kept=RelationshipFilter(("rare mentor",)), limit=5
    )
    assert [one.record.text("relationship_type") for one in hits.candidates if one.record] == [
        "rare mentor"
    ]
    assert await names(scope, "mentor", user_id, "Concept", limit=1) == ["Mentorship"]
    assert await descriptions(scope, "mentor", user_id, []) == []


async def test_the_best_match_scores_one_and_none_scores_nothing(
    scope: SearchScope, tools: Toolset, user_id: str
) -> None:
    await person(tools, "Mentor", "mentor")
    await person(tools, "Ruth", "knows a mentor, a friend, a sailor and a smith")
    [hits] = await search_nodes_full_text(
        scope.of(user_id), [query("mentor")], labels=["Person"], limit=10
    )
    assert [one.record.text("name") for one in hits.candidates if one.record] == ["Mentor", "Ruth"]
    assert hits.candidates[0].score == 1.0
    assert 0.0 < hits.candidates[1].score < 1.0


async def test_each_of_several_texts_has_a_ranking_of_its_own(
    scope: SearchScope, tools: Toolset, user_id: str
) -> None:
    await persons(tools, "Ruth", "Bo")
    rankings = await search_nodes_full_text(
        scope.of(user_id), [query("bo"), query("?!"), query("ruth")], labels=["Person"], limit=5
    )
    found = [
        [one.record.text("name") for one in each.candidates if one.record] for each in rankings
    ]
    assert found == [["Bo"], [], ["Ruth"]]
