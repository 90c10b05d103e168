"""The graph that is built from search results."""

import uuid

from kgagent import KnowledgeGraph
from kgagent.adapters.view import DEFAULT_NEIGHBORS, ViewGraph, build_view
from kgagent.adapters.view.view_builder import build_overview
from kgagent.models.hybrid import HybridSearchRequest
from kgagent.tools import Toolset
from tests.support.people import node, person, relate
from tests.support.stored import cypher

QUERY = "who guides Ines in her career?"
UNNAMED = HybridSearchRequest(query="guides in her career", expand_hops=0)
"""A query that only the first relationship of the family matches."""


async def view_of(
    graph: KnowledgeGraph,
    request: HybridSearchRequest,
    user_id: str,
    max_neighbors: int = DEFAULT_NEIGHBORS,
) -> ViewGraph:
    result = await graph.search(request, user_id=user_id)
    return await build_view(
        graph.retrieval,
        result,
        user_id=user_id,
        query=request.query or "",
        max_neighbors=max_neighbors,
    )


def names(view: ViewGraph, *, matched: bool) -> set[str]:
    return {item.node.name for item in view.nodes if (item.match is not None) == matched}


async def family(tools: Toolset) -> None:
    ruth, ines = await person(tools, "Ruth"), await person(tools, "Ines")
    await relate(
        tools, ruth, ines, "mentor", description="Ruth guides Ines in her career", attitude=5
    )
    await relate(tools, ines, await person(tools, "Omar"), "sibling")
    await relate(tools, ines, await node(tools, "Concept", "Rowing"), "practises")


async def test_matches_are_shown_with_their_neighbors(
    graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    await family(tools)
    view = await view_of(graph, UNNAMED, user_id)
    assert names(view, matched=True) == {"Ruth", "Ines"}
    assert names(view, matched=False) == {"Omar", "Rowing"}
    matches = {item.relationship.relationship_type: item.match for item in view.relationships}
    assert matches["sibling"] is None
    assert matches["mentor"] is not None
    assert {reason.retriever for reason in matches["mentor"].reasons} == {
        "semantic search of statements",
        "full-text search of statements",
    }
    assert "embedding" not in view.model_dump_json()
    for limit in (1, 0):
        assert len(names(await view_of(graph, UNNAMED, user_id, limit), matched=False)) == limit
    stranger = await view_of(graph, UNNAMED, f"user-{uuid.uuid4()}", 200)
    assert (stranger.nodes, stranger.relationships) == ((), ())


async def test_the_overview_has_the_best_connected_nodes_the_owner_first(
    graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    await family(tools)
    await person(graph.tools(user_id=f"{user_id}-other"), "Stranger")
    view = await build_overview(graph.retrieval, user_id=user_id, limit=1)
    [best] = [item for item in view.nodes if item.match is not None]
    assert best.match is not None
    assert (best.node.name, best.match.rank, best.match.score) == ("Ines", 1, 3)
    assert names(view, matched=False) == {"Ruth", "Omar", "Rowing"}
    assert len(view.relationships) == 3
    await cypher(
        graph,
        "MATCH (n:Person|Concept {user_id: $user, name: 'Omar'}) SET n.is_owner = true",
        user=user_id,
    )
    owned = await build_overview(graph.retrieval, user_id=user_id, limit=2, max_neighbors=0)
    assert [item.node.name for item in owned.nodes] == ["Omar", "Ines"]


async def test_ranks_are_those_of_the_search(
    graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    await family(tools)
    found = await graph.retrieval.hybrid_search(HybridSearchRequest(query=QUERY), user_id=user_id)
    view = await view_of(graph, HybridSearchRequest(query=QUERY), user_id)
    ranks = [item.match.rank for item in view.nodes if item.match is not None]
    ranks += [item.match.rank for item in view.relationships if item.match is not None]
    assert sorted(ranks) == [item.rank for item in found.items]


async def test_end_nodes_of_a_matching_relationship_are_included(
    graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    await family(tools)
    view = await view_of(
        graph, HybridSearchRequest(query="mentor who guides in a career", limit=1), user_id, 0
    )
    [mentor] = view.relationships
    assert mentor.match is not None
    assert names(view, matched=False) == {"Ruth", "Ines"}
