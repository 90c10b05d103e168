"""Graphs that hold `is_reversed` under its old name: read as they are, converted by writes and by
the migration.
"""

import pytest

from kgagent import KnowledgeGraph
from kgagent.embedding.base import Embedder
from kgagent.tools import Toolset
from tests.conftest import Clock
from tests.integration.upkeep.old_graph import run
from tests.support.embedders import WatchedEmbedder
from tests.support.payloads import succeeded
from tests.support.people import node, person, relate
from tests.support.stored import assert_embeddings_are_current, cypher, the_relationship

TRIPLET = "Bread baked by Ada"


@pytest.fixture
async def ends(graph: KnowledgeGraph, tools: Toolset, user_id: str) -> dict[str, str]:
    """A relationship stored against the direction in which it was created, with the old name of the
    property.
    """
    bread, ada = await node(tools, "Concept", "Bread"), await person(tools, "Ada")
    await relate(tools, bread, ada, "baked by")
    await cypher(
        graph,
        "MATCH (:Person|Concept {user_id: $user})-[r]->() SET r.told_in_reverse = r.is_reversed "
        "REMOVE r.is_reversed",
        user=user_id,
    )
    assert (await the_relationship(graph, user_id))["told_in_reverse"] is True
    return {"from_entity_key": ada, "to_entity_key": bread}


async def assert_converted(
    graph: KnowledgeGraph, user_id: str, embedder: Embedder, clock: Clock
) -> None:
    stored = await the_relationship(graph, user_id)
    assert stored["is_reversed"] is True
    assert "told_in_reverse" not in stored
    await assert_embeddings_are_current(graph, user_id, embedder, clock())


async def test_every_read_understands_the_old_name(
    graph: KnowledgeGraph, tools: Toolset, ends: dict[str, str]
) -> None:
    read = succeeded(await tools.get_relationship(**ends))
    assert read["triplet"] == TRIPLET
    [around] = succeeded(
        await tools.traverse(entity_key=ends["from_entity_key"], direction="incoming")
    )["nodes"]
    assert around["relationships"][0]["triplet"] == TRIPLET
    for search in (tools.hybrid_search(query="baked by"), tools.explore(queries=["baked by"])):
        assert "'from_name': 'Bread', 'to_name': 'Ada'" in str(succeeded(await search))
    [match] = await graph.retrieval.relationship_vector_search(
        "baked by", 0.2, user_id=tools.user_id
    )
    assert (match.from_name, match.to_name) == ("Bread", "Ada")
    for name in ("told_in_reverse", "is_reversed"):
        assert f"'{name}'" not in str([read, around, succeeded(await tools.describe_graph())])


@pytest.mark.parametrize(
    ("tool", "change"),
    [
        ("update_relationship", {"attitude": 5}),
        ("add_note_to_relationship", {"content": "Every Sunday"}),
    ],
)
async def test_the_first_write_converts_it(
    graph: KnowledgeGraph,
    tools: Toolset,
    user_id: str,
    embedder: WatchedEmbedder,
    clock: Clock,
    ends: dict[str, str],
    tool: str,
    change: dict[str, object],
) -> None:
    written = succeeded(await getattr(tools, tool)(**ends, **change))
    assert written["triplet"] == TRIPLET
    await assert_converted(graph, user_id, embedder, clock)


async def test_a_relationship_deleted_under_the_old_name_is_restored_under_the_new_one(
    graph: KnowledgeGraph,
    tools: Toolset,
    user_id: str,
    embedder: WatchedEmbedder,
    clock: Clock,
    ends: dict[str, str],
) -> None:
    succeeded(await tools.delete_relationship(**ends))
    await cypher(
        graph,
        "MATCH (kept:KgagentDeletedRelationship {user_id: $user}) "
        "SET kept.told_in_reverse = kept.is_reversed REMOVE kept.is_reversed",
        user=user_id,
    )
    assert succeeded(await tools.restore_relationship(**ends))["triplet"] == TRIPLET
    await assert_converted(graph, user_id, embedder, clock)


async def test_merging_nodes_converts_it(
    graph: KnowledgeGraph,
    tools: Toolset,
    user_id: str,
    embedder: WatchedEmbedder,
    clock: Clock,
    ends: dict[str, str],
) -> None:
    other = await person(tools, "Ada Byron")
    succeeded(
        await tools.merge_nodes(keep_entity_key=other, drop_entity_key=ends["from_entity_key"])
    )
    await assert_converted(graph, user_id, embedder, clock)


async def test_the_migration_converts_it(
    graph: KnowledgeGraph,
    user_id: str,
    embedder: WatchedEmbedder,
    clock: Clock,
    ends: dict[str, str],  # noqa: ARG001
) -> None:
    embedder.forget()
    assert (await run(graph, user_id)).relationships.updated == 1
    assert embedder.calls == 0
    await assert_converted(graph, user_id, embedder, clock)
