"""delete_relationship and restore: what is deleted is found by nothing, and comes back
as it was.
"""

import asyncio
from typing import Any

from kgagent import KnowledgeGraph
from kgagent.graph.relationships import RelationshipIntent
from kgagent.knowledge_graph import services_of
from kgagent.tools import Toolset
from tests.conftest import Clock
from tests.support.crowd import plant_people, plant_relationships
from tests.support.embedders import WatchedEmbedder
from tests.support.payloads import error_of, succeeded
from tests.support.people import relate, two_friends
from tests.support.stored import (
    Database,
    note_contents,
)

FULL = {
    "description": "They row together",
    "attitude": 5,
    "proximity": 2,
    "notes": [
        {"content": "They met in Rome", "lifetime": "month"},
        {"content": "Since school", "lifetime": "forever"},
    ],
    "confidence": 0.4,
}


async def kept(database: Database) -> list[dict[str, Any]]:
    """What is kept of deleted relationships of a user."""
    text = (
        "MATCH (n:KgagentDeletedRelationship {user_id: $user}) RETURN properties(n) AS properties"
    )
    return [row["properties"] for row in await database.run(text)]


async def test_a_deleted_relationship_is_restored_unchanged_and_only_its_statements_are_embedded(
    tools: Toolset,
    graph: KnowledgeGraph,
    database: Database,
    embedder: WatchedEmbedder,
    user_id: str,
    clock: Clock,
) -> None:
    ends = await two_friends(tools, **FULL)
    await database.run(
        "MATCH (:Person|Concept {user_id: $user})-[r]->() SET r.since = date('2019-05-01'), r.tags "
        "= ['a']",
    )
    before = await database.relationship()
    intent = RelationshipIntent(
        from_entity_key=ends["from_entity_key"], to_entity_key=ends["to_entity_key"]
    )
    [record] = await services_of(graph).relationships.read(user_id, intent)
    shown = record.to_model(graph.ontology)
    embedder.forget()
    clock.forward(days=1)
    deleted = succeeded(await tools.delete_relationship(**ends))
    assert deleted["message"].startswith(
        "Deleted relationship between Ada and Bo; restore can undo it"
    )
    assert deleted["relationship"] == shown.to_dict()
    assert deleted["undo_until"] == "2125-12-09T00:00:00Z"
    assert await database.relationships() == []
    clock.forward(days=2)
    back = {"from_entity_key": ends["to_entity_key"], "to_entity_key": ends["from_entity_key"]}
    restored = succeeded(await tools.restore(**back))
    assert (
        restored["message"]
        == "Restored relationship between Bo and Ada. Its direction is from Ada to Bo"
    )
    assert restored["embeddings_regenerated"] == 0
    assert [sorted(texts) for texts in embedder.stored] == [
        sorted([*note_contents(before), "They row together friend close acquaintance"])
    ]
    [record] = await services_of(graph).relationships.read(user_id, intent)
    assert record.to_model(graph.ontology) == shown
    assert await database.relationship() == {**before, "version": before["version"] + 1}
    assert await kept(database) == []
    await database.assert_current()


async def test_a_new_relationship_between_the_nodes_prevents_restoring(
    tools: Toolset, database: Database
) -> None:
    ends = await two_friends(tools, **FULL)
    first, second = ends.values()
    succeeded(await tools.delete_relationship(**ends))
    assert "restore restores it" in error_of(await tools.delete_relationship(**ends))
    await relate(tools, second, first, "colleague")
    error = error_of(await tools.restore(**ends))
    assert error.startswith(
        f"A relationship between Ada ({first[:12]}) and Bo ({second[:12]}) exists"
    )
    [stored] = await database.assert_current()
    assert stored["relationship_type"] == "colleague"
    error_of(await tools.restore(from_entity_key=first, to_entity_key=first))


async def test_a_relationship_of_an_old_graph_is_restored_in_the_current_form(
    tools: Toolset, graph: KnowledgeGraph, database: Database, user_id: str
) -> None:
    keys = await plant_people(graph, user_id, 2, version=None)
    await plant_relationships(
        graph,
        user_id,
        [
            {
                "first": keys[1],
                "second": keys[0],
                "properties": {"description": "old", "relation_embedding": [0.1]},
            }
        ],
    )
    ends = {"from_entity_key": keys[0], "to_entity_key": keys[1]}
    succeeded(await tools.delete_relationship(**ends))
    assert succeeded(await tools.restore(**ends))["embeddings_regenerated"] == 1
    stored = await database.relationship()
    assert (stored["first"], stored["second"]) == (keys[1], keys[0])
    for key in keys:
        await tools.update_node(entity_key=key, description="new")
    await database.assert_current()


async def test_a_note_that_waits_for_its_embedding_fails_if_the_relationship_was_deleted(
    tools: Toolset, database: Database, embedder: WatchedEmbedder
) -> None:
    ends = await two_friends(tools)
    embedder.forget()
    embedder.gate.clear()
    note = asyncio.create_task(tools.add_note_to_relationship(**ends, content="too late"))
    await embedder.asked_for(1)
    succeeded(await tools.delete_relationship(**ends))
    embedder.gate.set()
    assert "Relationship not found" in error_of(await note)
    assert await database.relationships() == []
