import pytest

from kgagent import KnowledgeGraph
from kgagent.errors import InputError
from kgagent.knowledge_graph import services_of
from kgagent.tools import Toolset
from tests.support.crowd import plant_people, plant_relationships
from tests.support.people import persons, relate


async def test_relationships_among_the_nodes_and_neighbors_one_hop_away_are_found(
    graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    ada, bo, cy, di, eve = await persons(tools, "Ada", "Bo", "Cy", "Di", "Eve")
    for first, second in ((ada, bo), (bo, cy), (cy, ada), (cy, di), (di, eve)):
        await relate(tools, first, second)
    found = await graph.retrieval.expand_graph([ada, bo], user_id=user_id)
    assert [node.name for node in found.neighbors] == ["Cy"]
    assert {frozenset((r.from_name, r.to_name)) for r in found.relationships} == {
        frozenset(pair) for pair in (("Ada", "Bo"), ("Bo", "Cy"), ("Cy", "Ada"))
    }
    assert len(found.relationships) == 3


async def test_the_strongest_relationships_among_the_nodes_come_first(
    graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    keys = await persons(tools, "Ada", "Bo", "Cy")
    await relate(tools, keys[0], keys[1], attitude=1, proximity=1)
    await relate(tools, keys[1], keys[2], attitude=5, proximity=5)
    await relate(tools, keys[0], keys[2])
    found = await graph.retrieval.expand_graph(keys, user_id=user_id, max_relationships=2)
    assert [r.attitude for r in found.relationships] == [5, 1]


async def test_at_most_30_neighbors_of_a_hub_are_read_those_with_most_relationships_first(
    graph: KnowledgeGraph, user_id: str
) -> None:
    keys = await plant_people(graph, user_id, 52)
    rows = [{"first": keys[0], "second": key, "properties": {}} for key in keys[2:]]
    rows += [{"first": keys[1], "second": keys[51], "properties": {}}]
    await plant_relationships(graph, user_id, rows)
    found = await graph.retrieval.expand_graph([keys[0]], user_id=user_id)
    assert len(found.neighbors) == 30
    few = await graph.retrieval.expand_graph([keys[0]], user_id=user_id, max_neighbors=3)
    assert len(few.neighbors) == 3


async def test_relationships_of_an_old_graph_without_user_id_are_returned(
    graph: KnowledgeGraph, user_id: str
) -> None:
    keys = await plant_people(graph, user_id, 3)
    rows = [
        {"first": keys[0], "second": key, "properties": {"description": "old"}} for key in keys[1:]
    ]
    await plant_relationships(graph, user_id, rows)
    await services_of(graph).store.write(
        "MATCH (:Person|Concept {user_id: $user})-[r]->() REMOVE r.user_id", {"user": user_id}
    )
    found = await graph.retrieval.expand_graph(keys[:2], user_id=user_id)
    assert [r.description for r in found.relationships] == ["old", "old"]
    assert [node.entity_key for node in found.neighbors] == [keys[2]]


async def test_no_keys_return_an_empty_result(graph: KnowledgeGraph, user_id: str) -> None:
    assert await graph.retrieval.expand_graph(
        [], user_id=user_id
    ) == await graph.retrieval.expand_graph(["ghost"], user_id=user_id)
    with pytest.raises(InputError, match="user_id must not be empty"):
        await graph.retrieval.expand_graph(["x"], user_id="")
