"""Queries that are names: without accents, a part of a name, an alias; and two names joined by a word."""

import pytest

from kgagent import HybridSearchOptions, HybridSearchResult, KnowledgeGraph
from kgagent.tools import Toolset
from tests.support.payloads import succeeded

FILLER = [
    {"label": "Person", "name": f"Passer-by {n}", "description": f"Walks dog number {n} in the park every morning"}
    for n in range(25)
]


@pytest.fixture
async def people(tools: Toolset) -> None:
    """People whose names have letters that ASCII lacks, and three with one first name."""
    names = ("Łukasz Wójcik", "Bjørn Aas", "Anna", "Anna Berg", "Anna Kowalska", "Ingrid Solberg", "Romeo and Juliet")
    succeeded(
        await tools.remember(
            nodes=[
                *({"label": "Person", "name": name} for name in names),
                {"label": "Person", "name": "李娜", "aliases": ["Li Na"]},
                *FILLER,
            ],
            relationships=[{"from": "Bjørn Aas", "to": "Ingrid Solberg", "relationship_type": "neighbor of"}],
        )
    )


async def search(graph: KnowledgeGraph, user_id: str, query: str, limit: int = 5) -> HybridSearchResult:
    return await graph.retrieval.hybrid_search(HybridSearchOptions(query=query, limit=limit), user_id=user_id)


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize(
    ("query", "name"),
    [("Lukasz Wojcik", "Łukasz Wójcik"), ("lukasz", "Łukasz Wójcik"), ("Bjorn", "Bjørn Aas"), ("Li Na", "李娜")],
)
async def test_a_name_is_found_without_accents_and_by_an_alias(
    graph: KnowledgeGraph, tools: Toolset, user_id: str, query: str, name: str
) -> None:
    found = await search(graph, user_id, query)
    assert found.objects[0].name == name
    assert found.is_relevant is not False
    answer = await tools.hybrid_search.call_text({"query": query, "limit": 5})
    assert "No node is named" not in answer.text


@pytest.mark.usefixtures("people")
async def test_a_part_of_a_name_finds_everybody_who_has_it(graph: KnowledgeGraph, user_id: str) -> None:
    found = await search(graph, user_id, "Anna")
    assert {"Anna", "Anna Berg", "Anna Kowalska"} <= {one.name for one in found.objects}


async def test_end_nodes_take_no_places_of_relationships(tools: Toolset, graph: KnowledgeGraph, user_id: str) -> None:
    friends = [f"Friend {n}" for n in range(6)]
    succeeded(
        await tools.remember(
            nodes=[{"label": "Person", "name": name} for name in ("Ada", *friends)],
            relationships=[{"from": "Ada", "to": name, "relationship_type": "rows with"} for name in friends],
        )
    )
    found = await search(graph, user_id, "who rows with whom", limit=4)
    assert len(found.relationships or ()) == 4
    wide = await search(graph, user_id, "who rows with whom", limit=30)
    assert {one.name for one in wide.objects} >= {"Ada", *friends}
