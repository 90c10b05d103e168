"""A query that names two nodes finds the relationship between them first, with the local model."""

import pytest

from kgagent import HybridSearchOptions, KnowledgeGraph
from kgagent.tools import Toolset
from tests.support.local_model import embedder
from tests.support.payloads import succeeded

__all__ = ["embedder"]

VERA, TILDA, ULF = "Vera Brandt", "Tilda Holm", "Ulf Holm"
SHOPS = [f"Shop {n}" for n in range(6)]
JOINING = "third cousin of"


@pytest.fixture(autouse=True)
async def relationships(tools: Toolset) -> None:
    """Two people with a bare relationship between them, and others with descriptions at both."""
    people = [{"label": "Person", "name": name, "aliases": [name.split()[0]]} for name in (VERA, TILDA, ULF)]
    works = {VERA: "manages the staff of", TILDA: "designs the windows of"}
    succeeded(
        await tools.remember(
            nodes=[*people, *({"label": "Entity", "name": name} for name in SHOPS)],
            relationships=[
                {"from": VERA, "to": TILDA, "relationship_type": JOINING},
                {
                    "from": ULF,
                    "to": VERA,
                    "relationship_type": "neighbor of",
                    "description": f"{ULF} and {VERA} are neighbors, and Tilda knows it",
                    "attitude": 1,
                },
                *(
                    {"from": person, "to": name, "relationship_type": work, "description": f"{person} {work} {name}"}
                    for person, work in works.items()
                    for name in SHOPS
                ),
            ],
        )
    )


@pytest.mark.parametrize(
    "query",
    [
        f"what do you know about {VERA} and {TILDA}?",
        "Tilda and Vera quarrel",
        "Is Tilda kind to Vera?",
        "Is there a conflict between Vera and Tilda?",
    ],
)
async def test_a_relationship_between_two_named_nodes_comes_first(
    graph: KnowledgeGraph, user_id: str, query: str
) -> None:
    found = await graph.retrieval.hybrid_search(HybridSearchOptions(query=query), user_id=user_id)
    assert found.relationships
    assert found.relationships[0].relationship_type == JOINING


async def test_if_a_type_is_named_relationships_of_it_come_first(graph: KnowledgeGraph, user_id: str) -> None:
    query = f"Which shops do {VERA} and {TILDA} manage?"
    found = await graph.retrieval.hybrid_search(HybridSearchOptions(query=query), user_id=user_id)
    assert found.relationships
    assert {one.from_name for one in found.relationships[:6]} == {VERA}
