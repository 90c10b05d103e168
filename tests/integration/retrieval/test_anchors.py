"""Queries that name a node by an alias or by a first name."""

import pytest

from kgagent import HybridSearchOptions, KnowledgeGraph
from kgagent.tools import Toolset

PEOPLE = ("Hannelore Petersen", "Marc Feldmann", "Marc Oyelaran", "Tom Ritter")


@pytest.fixture
async def known(tools: Toolset) -> None:
    """People, one of them with an alias, whose relationships do not say their names."""
    nodes = [{"label": "Person", "name": name} for name in PEOPLE]
    nodes[0]["aliases"] = ["Frau Petersen"]  # type: ignore[assignment]
    places = {"Cats": "feeds", "Choir": "sings in", "Depot": "leads", "Oslo": "lives in", "Story": "visits"}
    nodes += [{"label": "Concept", "name": place} for place in places]
    ends = [(PEOPLE[0], "Cats"), (PEOPLE[0], "Choir"), (PEOPLE[1], "Depot"), (PEOPLE[2], "Oslo"), (PEOPLE[3], "Story")]
    relationships = [{"from": one, "to": other, "relationship_type": places[other]} for one, other in ends]
    answer = await tools.remember(nodes=nodes, relationships=relationships)
    assert answer["success"], answer


async def first(graph: KnowledgeGraph, user_id: str, query: str, count: int) -> set[str]:
    """The people of the best relationships."""
    options = HybridSearchOptions(query=query, threshold=-1.0)
    result = await graph.retrieval.hybrid_search(options, user_id=user_id)
    return {one.from_name for one in (result.relationships or ())[:count]}


@pytest.mark.usefixtures("known")
async def test_relationships_of_a_node_that_the_query_names_by_an_alias_come_first(
    graph: KnowledgeGraph, user_id: str
) -> None:
    assert await first(graph, user_id, "Tell me about Frau Petersen", 1) == {"Hannelore Petersen"}


@pytest.mark.usefixtures("known")
async def test_a_first_name_means_every_node_that_has_it(graph: KnowledgeGraph, user_id: str) -> None:
    assert await first(graph, user_id, "Tell me about Marc", 2) == {"Marc Feldmann", "Marc Oyelaran"}


@pytest.mark.usefixtures("known")
async def test_an_alias_counts_beside_a_mentioned_name_but_a_first_name_does_not(
    graph: KnowledgeGraph, user_id: str
) -> None:
    assert "Hannelore Petersen" in await first(graph, user_id, "Does Tom Ritter visit Frau Petersen?", 3)
    assert await first(graph, user_id, "Does Tom Ritter visit Marc?", 1) == {"Tom Ritter"}


@pytest.mark.usefixtures("known")
async def test_names_of_another_user_mean_nothing(graph: KnowledgeGraph, user_id: str) -> None:
    stranger = graph.tools(user_id=f"{user_id}-stranger")
    await stranger.remember(
        nodes=[{"label": "Person", "name": "Xu", "aliases": ["Frau Petersen", "Marc"]}],
        relationships=[{"from": "Xu", "to": "Xu", "relationship_type": "feeds"}],
    )
    assert await first(graph, user_id, "Tell me about Frau Petersen", 1) == {"Hannelore Petersen"}
