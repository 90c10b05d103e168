"""An old graph becomes one that the tools would have written."""

import pytest

from kgagent import KnowledgeGraph
from kgagent.tools import Toolset
from kgagent.upkeep.migration_report import Counts
from tests.conftest import Clock
from tests.integration.upkeep.old_graph import (
    EVERY_FORM,
    OTHER_VECTORS,
    Old,
    assert_migrated,
    many_old,
    old_relationships,
    run,
)
from tests.support.embedders import WatchedEmbedder
from tests.support.payloads import succeeded
from tests.support.people import two_friends
from tests.support.stored import (
    assert_embeddings_are_current,
    cypher,
    nodes_of,
    relationships_of,
    the_relationship,
)


async def test_every_old_form_gets_the_embedding_of_its_text_and_loses_its_old_fields(
    graph: KnowledgeGraph, user_id: str, embedder: WatchedEmbedder
) -> None:
    await old_relationships(graph, user_id, EVERY_FORM)
    report = await run(graph, user_id)
    for stored in await relationships_of(graph, user_id):
        await assert_migrated(stored, embedder)
        assert stored["user_id"] == user_id
    for node in await nodes_of(graph, user_id):
        [expected] = await embedder.embed([node["name"]])
        assert node["embedding"] == list(expected)
    # The one without any text has nothing to embed.
    assert report.relationships == Counts(examined=6, embedded=5, updated=1)
    assert report.nodes == Counts(examined=12, embedded=12)
    assert report.skipped == ()


@pytest.mark.parametrize("vector", OTHER_VECTORS)
async def test_an_invalid_value_in_place_of_the_embedding_is_replaced(
    graph: KnowledgeGraph, user_id: str, embedder: WatchedEmbedder, vector: dict[str, object]
) -> None:
    old = Old(
        "has_relationship_with", "Person", "Person", "Friends", {"description": "Friends", **vector}
    )
    await old_relationships(graph, user_id, [old])
    report = await run(graph, user_id)
    await assert_migrated(await the_relationship(graph, user_id), embedder)
    assert report.relationships.embedded == 1


async def test_a_second_run_embeds_and_writes_nothing(
    graph: KnowledgeGraph, user_id: str, embedder: WatchedEmbedder
) -> None:
    await old_relationships(graph, user_id, EVERY_FORM)
    await run(graph, user_id)
    before = await relationships_of(graph, user_id)
    embedder.forget()
    report = await run(graph, user_id)
    assert report.total == Counts(examined=18, up_to_date=18)
    assert embedder.calls == 0
    assert await relationships_of(graph, user_id) == before


@pytest.mark.parametrize(
    "of_old",
    [
        "SET r.relation_embedding = [0.5], r.notes_embedding = [0.5], r.description_embedding = "
        "'none'",
        "REMOVE r.user_id",
        "SET r.user_id = 'someone else'",
        "REMOVE r.relationship_key",
        "SET r.attitude = '4'",
    ],
)
async def test_old_fields_are_removed_even_if_the_embedding_is_current(
    graph: KnowledgeGraph, user_id: str, embedder: WatchedEmbedder, clock: Clock, of_old: str
) -> None:
    await two_friends(graph.tools(user_id=user_id), description="They row", attitude=4)
    await cypher(graph, "MATCH (:Person|Concept {user_id: $user})-[r]->() " + of_old, user=user_id)
    embedder.forget()
    report = await run(graph, user_id)
    assert report.relationships == Counts(examined=1, updated=1)
    assert embedder.calls == 0
    await assert_embeddings_are_current(graph, user_id, embedder, clock())


async def test_a_note_that_expired_since_leaves_the_embedding(
    graph: KnowledgeGraph, tools: Toolset, user_id: str, embedder: WatchedEmbedder, clock: Clock
) -> None:
    ends = await two_friends(tools, description="They row")
    succeeded(await tools.add_note_to_relationship(**ends, content="On holiday", lifetime="week"))
    assert (await run(graph, user_id)).relationships.up_to_date == 1
    clock.forward(days=8)
    embedder.forget()
    report = await run(graph, user_id)
    assert report.relationships.embedded == 1
    assert embedder.stored == [["They row friend"]]
    await assert_embeddings_are_current(graph, user_id, embedder, clock())


async def test_content_and_time_of_change_stay(graph: KnowledgeGraph, user_id: str) -> None:
    kept = {
        "description": "Friends",
        "attitude": 4,
        "notes": ["one", "two"],
        "updated_at": "yesterday",
        "created_at": "long ago",
        "confidence": 0.3,
    }
    await old_relationships(
        graph, user_id, [Old("has_relationship_with", "Person", "Person", "", {**kept, "x": [1]})]
    )
    await run(graph, user_id)
    stored = await the_relationship(graph, user_id)
    assert {key: stored[key] for key in kept} == kept
    assert stored["x"] == [1]
    assert all("updated_at" not in node for node in await nodes_of(graph, user_id))


async def test_after_it_the_tools_find_and_change_old_relationships(
    graph: KnowledgeGraph, tools: Toolset, user_id: str, embedder: WatchedEmbedder, clock: Clock
) -> None:
    await many_old(graph, user_id, 3)
    assert not await graph.retrieval.relationship_vector_search(
        "Old story 2", user_id=user_id, threshold=0.99
    )
    await run(graph, user_id)
    [hit] = await graph.retrieval.relationship_vector_search(
        "Old story 2", user_id=user_id, threshold=0.99
    )
    assert hit.description == "Old story 2"
    succeeded(
        await tools.update_relationship(
            from_entity_key=hit.from_entity_key,
            to_entity_key=hit.to_entity_key,
            description="New story",
        )
    )
    await assert_embeddings_are_current(graph, user_id, embedder, clock())


async def test_a_batch_is_embedded_in_one_call(
    graph: KnowledgeGraph, user_id: str, embedder: WatchedEmbedder
) -> None:
    await many_old(graph, user_id, 25)
    report = await run(graph, user_id, batch_size=10)
    assert report.total == Counts(examined=51, embedded=51)
    assert sorted(len(texts) for texts in embedder.stored) == [5, 6, 10, 10, 10, 10]
