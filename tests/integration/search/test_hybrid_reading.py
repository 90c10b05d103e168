"""What a hybrid search reads: few statements, and in full only what it answers, as it is by
then.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from kgagent import KnowledgeGraph
from kgagent.errors import SearchError, StoreError
from kgagent.graph.store import Store
from kgagent.models import ExploreRequest, VectorQuery
from kgagent.models.hybrid import HybridSearchRequest, HybridSearchResult
from kgagent.tools import Toolset
from tests.support.people import remembered
from tests.support.stored import cypher

ANY = HybridSearchRequest(threshold=-1.0)
IN_FULL = "$element_ids"
"""What stands in the statement that reads in full, and in no other."""

Seen = Callable[[str], Awaitable[None]]


def request(query: str | None, options: HybridSearchRequest = ANY) -> HybridSearchRequest:
    return options.model_copy(update={"query": query})


@pytest.fixture
async def people(tools: Toolset) -> dict[str, str]:
    """Ruth mentors Ada, who plays chess with Bo."""
    return await remembered(
        tools,
        [
            {"label": "Person", "name": name, "description": "Likes boats"}
            for name in ("Ruth", "Ada", "Bo")
        ],
        [
            {
                "from": "Ruth",
                "to": "Ada",
                "relationship_type": "mentor",
                "description": "She taught Ada to lead",
            },
            {
                "from": "Ada",
                "to": "Bo",
                "relationship_type": "chess partner",
                "description": "They play on Sundays",
            },
        ],
    )


@pytest.fixture
def before_each_read(monkeypatch: pytest.MonkeyPatch) -> Callable[[Seen], None]:
    """Has something done before each statement that reads, which it is given."""

    def arrange(seen: Seen) -> None:
        read = Store.read

        async def after(store: Store, text: str, *args: Any, **kwargs: Any) -> Any:
            await seen(text)
            return await read(store, text, *args, **kwargs)

        monkeypatch.setattr(Store, "read", after)

    return arrange


@pytest.fixture
def meanwhile(
    graph: KnowledgeGraph, user_id: str, before_each_read: Callable[[Seen], None]
) -> Callable[[str], None]:
    """Has another program run a statement between the search and the reading of what is
    answered.
    """

    def arrange(text: str) -> None:
        async def act(asked: str) -> None:
            if IN_FULL in asked:
                await cypher(graph, text, user=user_id)

        before_each_read(act)

    return arrange


def triplets(result: HybridSearchResult) -> set[str]:
    return {item.triplet_text for item in result.relationships or ()}


MENTOR = "MATCH (:Person {user_id: $user})-[r {relationship_type: 'mentor'}]->()"
CHANGES = {
    "deleted": f"{MENTOR} DELETE r",
    "of another user": f"{MENTOR} SET r.user_id = 'another'",
    "another one": f"{MENTOR} SET r.relationship_key = 'another'",
}


@pytest.mark.usefixtures("people")
async def test_an_end_that_is_another_users_by_now_is_omitted_with_its_relationships(
    graph: KnowledgeGraph, user_id: str, meanwhile: Callable[[str], None]
) -> None:
    meanwhile("MATCH (n:Person {user_id: $user, name: 'Bo'}) SET n.user_id = 'another'")
    result = await graph.retrieval.hybrid_search(
        HybridSearchRequest(query="sundays mentor", threshold=0.2), user_id=user_id
    )
    assert triplets(result) == {"Ruth mentor Ada"}
    assert {item.name for item in result.objects} == {"Ruth", "Ada"}


@pytest.mark.usefixtures("people")
async def test_if_hydration_fails_the_found_nodes_remain(
    graph: KnowledgeGraph, user_id: str, before_each_read: Callable[[Seen], None]
) -> None:
    async def refuse(text: str) -> None:
        if IN_FULL in text:
            raise StoreError("the database is away")

    before_each_read(refuse)
    result = await graph.retrieval.hybrid_search(request("mentor chess"), user_id=user_id)
    assert {item.name for item in result.objects} == {"Ruth", "Ada", "Bo"}
    assert result.relationships == ()
    assert result.warnings == ("Skipped relationships and their end nodes: the database is away",)
    with pytest.raises(SearchError, match="The results could not be read: the database is away"):
        await graph.retrieval.hybrid_search(
            HybridSearchRequest(query="sundays", threshold=0.3), user_id=user_id
        )


@pytest.mark.usefixtures("people")
async def test_a_record_with_properties_of_other_types_does_not_affect_others(
    graph: KnowledgeGraph, user_id: str
) -> None:
    await cypher(
        graph,
        "MATCH (n:Person {user_id: $user, name: 'Bo'})-[r]-() SET n += $wrong, r += $wrong",
        user=user_id,
        wrong={
            "description": 7,
            "notes": "no JSON",
            "attitude": "warm",
            "when_latest": "never",
            "created_at": 1.5,
        },
    )
    result = await graph.retrieval.hybrid_search(request("mentor chess"), user_id=user_id)
    assert {item.name for item in result.objects} == {"Ruth", "Ada", "Bo"}
    assert triplets(result) == {"Ruth mentor Ada", "Ada chess partner Bo"}
    assert result.warnings == ()


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_explore_omits_a_match_that_was_changed_meanwhile(
    graph: KnowledgeGraph, user_id: str, meanwhile: Callable[[str], None], change: str
) -> None:
    meanwhile(change)
    result = await graph.retrieval.explore(
        ExploreRequest(queries=(VectorQuery(query="mentor chess", threshold=0.0),)), user_id=user_id
    )
    matched = [one.relationship_type for one in result.relationships if one.similarity is not None]
    assert matched == ["chess partner"]
    assert {item.node.name for item in result.nodes if item.signals} >= {"Ada", "Bo"}
    assert all(item.signals for item in result.nodes)
    assert result.warnings == ()


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_a_relationship_that_was_changed_meanwhile_is_omitted(
    graph: KnowledgeGraph, user_id: str, meanwhile: Callable[[str], None], change: str
) -> None:
    meanwhile(change)
    result = await graph.retrieval.hybrid_search(request("mentor chess"), user_id=user_id)
    assert triplets(result) == {"Ada chess partner Bo"}
    assert [item.rank for item in result.items] == list(range(1, len(result.items) + 1))
    assert result.warnings == ()
