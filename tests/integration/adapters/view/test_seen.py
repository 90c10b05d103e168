"""What the page is given of what a search found."""

import uuid

from kgagent import KnowledgeGraph
from kgagent.adapters.view import ViewGraph, explored_graph, searched_graph
from kgagent.models import ExploreRequest, VectorQuery
from kgagent.models.hybrid import HybridSearchOptions, HybridSearchRequest
from kgagent.tools import Toolset
from tests.support.people import node, person, relate

QUERY = "who guides Ines in her career?"


def names(seen: ViewGraph, *, matched: bool) -> set[str]:
    return {item.node.name for item in seen.nodes if (item.standing is not None) == matched}


async def family(tools: Toolset) -> None:
    ruth, ines = await person(tools, "Ruth"), await person(tools, "Ines")
    await relate(tools, ruth, ines, "mentor", description="Ruth guides Ines in her career", attitude=5)
    await relate(tools, ines, await person(tools, "Omar"), "sibling")
    await relate(tools, ines, await node(tools, "Concept", "Rowing"), "practises")


async def test_what_matched_stands_among_what_is_around_it(graph: KnowledgeGraph, tools: Toolset, user_id: str) -> None:
    await family(tools)
    seen = await searched_graph(graph.retrieval, QUERY, user_id, HybridSearchOptions(limit=3))
    assert names(seen, matched=True) == {"Ruth", "Ines"}
    assert names(seen, matched=False) == {"Omar", "Rowing"}
    standings = {item.relationship.relationship_type: item.standing for item in seen.relationships}
    assert standings["sibling"] is None
    assert standings["mentor"] is not None
    assert {reason.found_among for reason in standings["mentor"].reasons} == {
        "relationships by meaning",
        "relationships by their words",
    }


async def test_the_ranks_are_those_of_the_search(graph: KnowledgeGraph, tools: Toolset, user_id: str) -> None:
    await family(tools)
    found = await graph.retrieval.hybrid_search(HybridSearchRequest(query=QUERY), user_id=user_id)
    seen = await searched_graph(graph.retrieval, QUERY, user_id, HybridSearchOptions())
    ranks = [item.standing.rank for item in seen.nodes if item.standing is not None]
    ranks += [item.standing.rank for item in seen.relationships if item.standing is not None]
    assert sorted(ranks) == [item.rank for item in found.items]


async def test_no_more_neighbours_come_than_are_asked_for(graph: KnowledgeGraph, tools: Toolset, user_id: str) -> None:
    await family(tools)
    seen = await searched_graph(graph.retrieval, QUERY, user_id, HybridSearchOptions(limit=3), around=1)
    assert len(names(seen, matched=False)) == 1
    alone = await searched_graph(graph.retrieval, QUERY, user_id, HybridSearchOptions(limit=3), around=0)
    assert names(alone, matched=False) == set()


async def test_a_relationship_whose_nodes_did_not_fit_brings_them(
    graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    await family(tools)
    query = "mentor who guides in a career"
    seen = await searched_graph(graph.retrieval, query, user_id, HybridSearchOptions(limit=1), around=0)
    [mentor] = seen.relationships
    assert mentor.standing is not None
    assert names(seen, matched=False) == {"Ruth", "Ines"}


async def test_explore_tells_which_search_found_a_node_and_at_which_place(
    graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    await family(tools)
    request = ExploreRequest(queries=(VectorQuery(query=QUERY),), text_matches=("Omar",), limit_per_label=2)
    result = await graph.retrieval.explore(request, user_id=user_id)
    seen = await explored_graph(graph.retrieval, request, user_id, result)
    assert seen.asked == f"{QUERY} · Omar"
    best = seen.nodes[0]
    assert best.standing is not None
    assert best.standing.rank == 1
    assert all(reason.rank is not None for reason in best.standing.reasons)
    shown = {item.node.entity_key for item in seen.nodes}
    for item in seen.relationships:
        assert {item.relationship.from_entity_key, item.relationship.to_entity_key} <= shown


async def test_nothing_of_another_user_is_seen(graph: KnowledgeGraph, tools: Toolset) -> None:
    await family(tools)
    seen = await searched_graph(graph.retrieval, QUERY, f"user-{uuid.uuid4()}", HybridSearchOptions(), around=200)
    assert (seen.nodes, seen.relationships) == ((), ())


async def test_no_embedding_is_part_of_it(graph: KnowledgeGraph, tools: Toolset, user_id: str) -> None:
    await family(tools)
    seen = await searched_graph(graph.retrieval, QUERY, user_id, HybridSearchOptions())
    assert "embedding" not in seen.model_dump_json()
