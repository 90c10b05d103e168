"""Tools work on a graph while it is migrated: nothing that they write is lost, and every embedding
is current.
"""

import asyncio
import random

from kgagent import KnowledgeGraph, Settings
from kgagent.tools import Toolset
from tests.conftest import Clock
from tests.integration.upkeep.old_graph import many_old, run
from tests.support.embedders import WatchedEmbedder
from tests.support.graphs import connections
from tests.support.payloads import succeeded
from tests.support.stored import (
    assert_embeddings_are_current,
    cypher,
    note_contents,
    relationships_of,
)

COUNT = 40


async def test_what_tools_write_meanwhile_is_kept_and_embedded(
    graph: KnowledgeGraph, tools: Toolset, user_id: str, embedder: WatchedEmbedder, clock: Clock
) -> None:
    await many_old(graph, user_id, COUNT)
    running = asyncio.create_task(run(graph, user_id, batch_size=7))
    for number in random.Random(1).sample(range(1, COUNT + 1), COUNT):
        ends = {
            "from_entity_key": f"{user_id}-{number - 1}",
            "to_entity_key": f"{user_id}-{number}",
        }
        succeeded(
            await tools.update_relationship(**ends, description=f"New story {number}", attitude=5)
        )
        succeeded(await tools.add_note_to_relationship(**ends, content=f"Note {number}"))
    report = await running
    assert report.relationships.examined == COUNT
    found = await assert_embeddings_are_current(graph, user_id, embedder, clock())
    assert {stored["description"] for stored in found} == {
        f"New story {number}" for number in range(1, COUNT + 1)
    }
    assert all(
        note_contents(stored) == [stored["description"].replace("New story", "Note")]
        for stored in found
    )


async def test_a_change_between_reading_and_writing_wins(
    graph: KnowledgeGraph, user_id: str, embedder: WatchedEmbedder, clock: Clock, settings: Settings
) -> None:
    await many_old(graph, user_id, 1)
    await cypher(
        graph,
        "MATCH (:Person|Concept {user_id: $user})-[r]->() SET r.attitude = 'friendly'",
        user=user_id,
    )
    slow = WatchedEmbedder()
    async with connections(1, settings=settings, embedder=slow, clock=clock) as [other]:
        slow.gate.clear()
        running = asyncio.create_task(run(other, user_id))
        await slow.asked.wait()
        ends = {"from_entity_key": f"{user_id}-0", "to_entity_key": f"{user_id}-1"}
        tools = graph.tools(user_id=user_id)
        succeeded(await tools.update_relationship(**ends, description="New story", attitude=1))
        slow.gate.set()
        await running
    [stored] = await assert_embeddings_are_current(graph, user_id, embedder, clock())
    assert (stored["description"], stored["attitude"]) == ("New story", 1)


async def test_concurrent_migrations_end_in_one_state(
    graph: KnowledgeGraph, user_id: str, embedder: WatchedEmbedder, clock: Clock, settings: Settings
) -> None:
    await many_old(graph, user_id, COUNT)
    async with connections(3, settings=settings, embedder=WatchedEmbedder(), clock=clock) as graphs:
        reports = await asyncio.gather(*(run(each, user_id, batch_size=9) for each in graphs))
    assert all(report.total.skipped == 0 for report in reports)
    assert sum(report.relationships.written for report in reports) == COUNT
    assert len(await relationships_of(graph, user_id)) == COUNT
    await assert_embeddings_are_current(graph, user_id, embedder, clock())
