"""A query that says an attitude finds the relationships that have it, whoever is meant, with the local model."""

import pytest

from kgagent import HybridSearchOptions, HybridSearchResult, KnowledgeGraph
from kgagent.tools import Toolset
from tests.support.local_model import embedder
from tests.support.payloads import succeeded

__all__ = ["embedder"]

OWNER, FRIEND, ENEMY, BOSS = "Nora Lund", "Ingrid Dahl", "Jon Lie", "Anna Berg"
REMEMBERED = "After a fight she was openly hostile, then she apologized and they reconciled"


@pytest.fixture(autouse=True)
async def relationships(tools: Toolset) -> None:
    """The owner with a friend whose note has the word of a low attitude, and two people with that attitude."""
    people = [{"label": "Person", "name": name} for name in (FRIEND, ENEMY, BOSS)]
    succeeded(
        await tools.remember(
            nodes=[{"label": "Person", "name": OWNER, "is_owner": True}, *people],
            relationships=[
                {"from": FRIEND, "to": OWNER, "relationship_type": "friend of", "attitude": 4, "notes": [REMEMBERED]},
                {"from": ENEMY, "to": OWNER, "relationship_type": "band mate of", "attitude": 1},
                {"from": BOSS, "to": OWNER, "relationship_type": "boss of", "attitude": 1},
                {"from": FRIEND, "to": BOSS, "relationship_type": "colleague of", "attitude": 5},
            ],
        )
    )


async def search(graph: KnowledgeGraph, user_id: str, query: str) -> HybridSearchResult:
    return await graph.retrieval.hybrid_search(HybridSearchOptions(query=query), user_id=user_id)


@pytest.mark.parametrize("query", ["hostile", "Who is hostile to me?", "hostile relationships of Nora Lund"])
async def test_relationships_with_the_attitude_come_before_one_whose_note_has_the_word(
    graph: KnowledgeGraph, user_id: str, query: str
) -> None:
    found = await search(graph, user_id, query)
    assert {one.from_name for one in (found.relationships or ())[:2]} == {ENEMY, BOSS}


async def test_the_opposite_attitude_comes_last(graph: KnowledgeGraph, user_id: str) -> None:
    first, *_ = (await search(graph, user_id, "Who is close to me?")).relationships or ()
    assert first.attitude not in {1, 2}


@pytest.mark.parametrize("query", ["who don't I get along with?", "who do I dislike?"])
async def test_a_relationship_with_the_attitude_is_relevant(graph: KnowledgeGraph, user_id: str, query: str) -> None:
    found = await search(graph, user_id, query)
    assert found.is_relevant is not False
    assert {one.from_name for one in (found.relationships or ())[:2]} == {ENEMY, BOSS}
