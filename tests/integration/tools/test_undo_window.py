"""After its undo window a deleted record is not restored, and it is purged, whoever deletes or
restores next.
"""

import asyncio
from datetime import datetime
from typing import Any

import pytest

from kgagent import InputError, KnowledgeGraph
from kgagent.knowledge_graph import services_of
from kgagent.tools import Toolset
from tests.conftest import Clock
from tests.support.embedders import WatchedEmbedder
from tests.support.payloads import error_of, succeeded
from tests.support.people import person, two_friends
from tests.support.stored import Database, cypher

# A purge concerns the records of all users, and other tests have other clocks.
pytestmark = pytest.mark.alone

MONTH_NOTE = {"content": "They met in Rome", "lifetime": "month"}
MANY = 250


@pytest.fixture
async def graph(opened: KnowledgeGraph, embedder: WatchedEmbedder, clock: Clock) -> KnowledgeGraph:
    """A graph in which deletions can be undone for 30 days."""
    short = opened.settings.model_copy(update={"undo_days": 30.0})
    return KnowledgeGraph(services_of(opened).store, opened.ontology, embedder, short, clock=clock)


@pytest.fixture
def others(graph: KnowledgeGraph, user_id: str) -> Toolset:
    """The tools of another user."""
    return graph.tools(user_id=f"{user_id}-other")


async def kept(graph: KnowledgeGraph, user_id: str) -> int:
    """Number of deleted records of a user that are kept."""
    [row] = await cypher(
        graph,
        "MATCH (n:KgagentDeletedNode|KgagentDeletedRelationship {user_id: $user}) RETURN count(*) "
        "AS found",
        user=user_id,
    )
    return int(row["found"])


async def keep_many(graph: KnowledgeGraph, user_id: str, until: datetime) -> None:
    """Have many deleted records of a user kept."""
    await cypher(
        graph,
        "UNWIND range(1, $many) AS number "
        "CREATE (:KgagentDeletedRelationship {user_id: $user, kgagent_undo_until: $until})",
        user=user_id,
        many=MANY,
        until=until,
    )


async def delete_some_node(tools: Toolset) -> dict[str, Any]:
    return succeeded(await tools.delete_node(entity_key=await person(tools, "Eve")))


async def test_a_relationship_is_restored_until_its_window_ends(
    tools: Toolset, clock: Clock
) -> None:
    ends = await two_friends(tools)
    first, second = ends.values()
    assert (
        succeeded(await tools.delete_relationship(**ends))["undo_until"] == "2026-01-31T00:00:00Z"
    )
    clock.forward(days=30, seconds=-1)
    succeeded(await tools.restore(**ends))
    succeeded(await tools.delete_relationship(**ends))
    clock.forward(days=30)
    error = error_of(await tools.restore(**ends))
    assert f"Ada ({first[:12]}) and Bo ({second[:12]}), deleted on 2026-01-30" in error
    assert "was restorable until 2026-03-01" in error


async def test_a_node_is_restored_until_its_window_ends(tools: Toolset, clock: Clock) -> None:
    key = await person(tools, "Ada")
    assert (
        succeeded(await tools.delete_node(entity_key=key))["undo_until"] == "2026-01-31T00:00:00Z"
    )
    clock.forward(days=30)
    error = error_of(await tools.restore(entity_key=key))
    assert error.endswith("deleted on 2026-01-01T00:00Z, was restorable until 2026-01-31T00:00Z")


async def test_a_record_that_expires_while_it_is_embedded_is_not_restored(
    tools: Toolset, database: Database, embedder: WatchedEmbedder, clock: Clock
) -> None:
    ends = await two_friends(tools, notes=[MONTH_NOTE])
    ada = await person(tools, "Cy", notes=[MONTH_NOTE])
    clock.forward(days=10)
    succeeded(await tools.delete_relationship(**ends))
    succeeded(await tools.delete_node(entity_key=ada))
    # The note has expired, so the text must be embedded again.
    clock.forward(days=29)
    embedder.forget()
    embedder.gate.clear()
    restoring = [
        asyncio.create_task(tools.restore(**ends)),
        asyncio.create_task(tools.restore(entity_key=ada)),
    ]
    await embedder.asked_for(2)
    clock.forward(days=1)
    embedder.gate.set()
    for answer in await asyncio.gather(*restoring):
        assert "was restorable until 2026-02-10" in error_of(answer)
    assert await database.relationships() == []
    assert len(await database.nodes()) == 2


async def test_a_name_means_the_deleted_node_that_can_still_be_restored(
    tools: Toolset, clock: Clock
) -> None:
    succeeded(await tools.delete_node(entity_key=await person(tools, "Bob")))
    clock.forward(days=29)
    key = await person(tools, "Bob")
    succeeded(await tools.delete_node(entity_key=key))
    clock.forward(days=1)
    assert succeeded(await tools.restore(entity_key="bob"))["node"]["entity_key"] == key


async def test_a_deletion_or_restoration_purges_what_has_expired_of_any_user(
    tools: Toolset, others: Toolset, graph: KnowledgeGraph, user_id: str, clock: Clock
) -> None:
    for change in ("delete node", "delete relationship", "restore relationship", "restore node"):
        ends = await two_friends(others)
        succeeded(await others.delete_relationship(**ends))
        succeeded(await others.delete_node(entity_key=ends["from_entity_key"]))
        assert await kept(graph, others.user_id) == 2
        clock.forward(days=29)
        relationship = await two_friends(tools)
        node = {"entity_key": relationship["from_entity_key"]}
        deletion: dict[str, Any] = {**node, "delete_relationships": True}
        if change == "restore relationship":
            succeeded(await tools.delete_relationship(**relationship))
        if change == "restore node":
            succeeded(await tools.delete_node(**deletion))
        assert await kept(graph, others.user_id) == 2
        clock.forward(days=1)
        given = {"delete node": deletion, "restore node": node}.get(change, relationship)
        tool = "restore" if change.startswith("restore") else change.replace(" ", "_")
        succeeded(await tools[tool](**given))
        assert await kept(graph, others.user_id) == 0
    assert await kept(graph, user_id) == 0


async def test_one_deletion_purges_at_most_100_records(
    tools: Toolset, others: Toolset, graph: KnowledgeGraph, clock: Clock
) -> None:
    await keep_many(graph, others.user_id, clock())
    for left in (MANY - 100, MANY - 200, 0):
        await delete_some_node(tools)
        assert await kept(graph, others.user_id) == left


async def test_purge_removes_all_that_has_expired_and_nothing_else(
    tools: Toolset, others: Toolset, graph: KnowledgeGraph, user_id: str, clock: Clock
) -> None:
    await keep_many(graph, user_id, clock())
    await keep_many(graph, others.user_id, clock())
    clock.forward(seconds=-1)
    await delete_some_node(tools)
    clock.forward(seconds=1)
    assert str(await graph.purge(user_id=user_id, dry_run=True)) == (
        f"0 deleted nodes and {MANY} deleted relationships would be purged"
    )
    report = await graph.purge(user_id=user_id, batch_size=100)
    assert report.to_dict() == {"nodes": 0, "relationships": MANY, "dry_run": False}
    assert await kept(graph, user_id) == 1
    assert await kept(graph, others.user_id) == MANY
    assert (await graph.purge()).relationships >= MANY
    assert await kept(graph, others.user_id) == 0
    clock.forward(days=30)
    report = await graph.purge(user_id=user_id)
    assert str(report) == "1 deleted node and 0 deleted relationships purged"
    assert "There is no deleted node" in error_of(await tools.restore(entity_key="Eve"))
    for size in (0, -1):
        with pytest.raises(InputError, match=rf"batch_size must be at least 1, got {size!r}$"):
            await graph.purge(batch_size=size)


async def test_what_can_be_restored_is_purged_on_demand_of_its_user_only(
    tools: Toolset, others: Toolset, graph: KnowledgeGraph, user_id: str
) -> None:
    for each in (tools, others):
        succeeded(await each.delete_node(entity_key=await person(each, "Ada")))
    with pytest.raises(InputError, match="restorable needs a user_id"):
        await graph.purge(restorable=True)
    counted = await graph.purge(user_id=user_id, restorable=True, dry_run=True)
    assert (counted.nodes, await kept(graph, user_id)) == (1, 1)
    purged = await graph.purge(user_id=user_id, restorable=True)
    assert (purged.nodes, await kept(graph, user_id), await kept(graph, others.user_id)) == (
        1,
        0,
        1,
    )
    assert "no deleted node 'Ada'" in error_of(await tools.restore(entity_key="Ada"))
