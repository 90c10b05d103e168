"""Names, the owner's words and levels that a query says, whatever the embeddings are."""

from collections.abc import Sequence

import pytest

from kgagent import ExploreRequest, HybridSearchRequest, KnowledgeGraph, VectorQuery
from kgagent.embedding.base import Embedding
from kgagent.embedding.hashing import HashingEmbedder, hash_embedding
from kgagent.knowledge_graph import services_of
from kgagent.tools import Toolset
from tests.conftest import DIMENSIONS
from tests.support.failing import fail_at
from tests.support.loop_turns import turns_of_others
from tests.support.payloads import succeeded
from tests.support.stored import cosine, indexed_statements

ME, RUTH, KING = "Ines Halloran", "Hannelore Petersen", "Frederick William I"


@pytest.fixture(autouse=True)
async def people(tools: Toolset) -> None:
    """People whose relationships do not say their names."""
    names = ("Łukasz Wójcik", "Tom Ritter", KING)
    succeeded(
        await tools.remember(
            nodes=[
                {"label": "Person", "name": ME, "is_owner": True},
                {"label": "Person", "name": RUTH, "aliases": ["Frau Petersen"]},
                *({"label": "Person", "name": name} for name in names),
                *(
                    {"label": "Concept", "name": name}
                    for name in ("Cats", "Oslo", "Story", "Chess", "War", "Choir")
                ),
            ],
            relationships=[
                {"from": RUTH, "to": "Cats", "relationship_type": "feeds"},
                {"from": RUTH, "to": "Choir", "relationship_type": "sings in", "attitude": 1},
                {"from": "Łukasz Wójcik", "to": "Oslo", "relationship_type": "lives in"},
                {"from": "Tom Ritter", "to": "Story", "relationship_type": "visits"},
                {"from": KING, "to": "War", "relationship_type": "wages"},
                {"from": ME, "to": "Chess", "relationship_type": "plays", "attitude": 5},
            ],
        )
    )


async def far_from_all(graph: KnowledgeGraph, user_id: str) -> list[float]:
    """A vector to which no statement of the user is similar."""
    embeddings = [one["embedding"] for one in await indexed_statements(graph, user_id)]
    vector = [-sum(column) for column in zip(*embeddings, strict=True)]
    assert all(cosine(vector, embedding) < 0.0 for embedding in embeddings)
    return vector


async def first(graph: KnowledgeGraph, user_id: str, query: str) -> str:
    """The person of the best relationship."""
    options = HybridSearchRequest(query=query, threshold=-1.0)
    result = await graph.retrieval.hybrid_search(options, user_id=user_id)
    return (result.relationships or ())[0].from_name


async def test_relationships_of_a_node_that_the_query_names_come_first(
    graph: KnowledgeGraph, user_id: str
) -> None:
    for query, name in (
        ("what about tom ritter", "Tom Ritter"),
        ("What about Frau Petersen", RUTH),
        ("What about Hannelore", RUTH),
        ("What about Lukasz Wojcik", "Łukasz Wójcik"),
    ):
        assert await first(graph, user_id, query) == name


@pytest.mark.parametrize("query", ["what is it to me?", "anything of my own", "what did I begin?"])
async def test_the_words_for_the_owner_name_the_owner(
    graph: KnowledgeGraph, user_id: str, query: str
) -> None:
    options = HybridSearchRequest(query=query, threshold=-1.0, expand_hops=0)
    result = await graph.retrieval.hybrid_search(options, user_id=user_id)
    named = {one.from_name for one in result.relationships or () if one.contributions.get("named")}
    assert named == {ME}
    # In a graph where all are equally similar, the owner's come first.
    alike = await graph.retrieval.hybrid_search(
        options, user_id=user_id, vector=await far_from_all(graph, user_id)
    )
    assert (alike.relationships or ())[0].from_name == ME


async def test_an_owner_word_within_a_name_is_not_the_owner(
    graph: KnowledgeGraph, user_id: str
) -> None:
    options = HybridSearchRequest(query=f"anything about {KING}", threshold=-1.0)
    result = await graph.retrieval.hybrid_search(options, user_id=user_id)
    named = {
        one.from_name: one.contributions.get("named", 0.0)
        for one in result.relationships or ()
        if not one.path
    }
    assert named[KING] > 0.0
    assert named[ME] == 0.0


async def test_the_word_of_a_level_counts_for_the_relationships_of_a_named_node_that_have_it(
    graph: KnowledgeGraph, user_id: str
) -> None:
    word = graph.ontology.word("engages_with", "attitude", 1)
    options = HybridSearchRequest(query=f"{word} Frau Petersen", threshold=-1.0)
    result = await graph.retrieval.hybrid_search(options, user_id=user_id)
    [best, *others] = result.relationships or ()
    assert best.to_name == "Choir"
    assert best.contributions["types"] > 0.0
    assert not any(one.contributions.get("types") for one in others if not one.path)


async def test_names_of_another_user_name_nothing(graph: KnowledgeGraph, user_id: str) -> None:
    stranger = graph.tools(user_id=f"{user_id}-stranger")
    succeeded(
        await stranger.remember(
            nodes=[
                {"label": "Person", "name": "Xu", "aliases": ["Frau Petersen"], "is_owner": True}
            ],
            relationships=[{"from": "Xu", "to": "Xu", "relationship_type": "feeds"}],
        )
    )
    assert await first(graph, user_id, "What about Frau Petersen") == RUTH


async def test_if_the_names_cannot_be_looked_up_a_warning_says_so(
    graph: KnowledgeGraph, user_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_at(monkeypatch, services_of(graph).store, "read", "find_named_nodes")
    found = await graph.retrieval.hybrid_search(
        HybridSearchRequest(query="who feeds cats?"), user_id=user_id
    )
    assert found.relationships
    assert found.warnings == (
        "Skipped statements at the nodes that the query names: The disk is full",
    )


async def test_long_queries_do_not_hold_the_event_loop(
    graph: KnowledgeGraph, user_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def embed(_: object, texts: Sequence[str]) -> list[Embedding]:
        return [hash_embedding(text[:20], DIMENSIONS) for text in texts]

    monkeypatch.setattr(HashingEmbedder, "embed", embed)
    await graph.retrieval.explore(
        ExploreRequest(queries=(VectorQuery(query="cats"),)), user_id=user_id
    )
    texts = [
        " ".join(f"w{number}x{position}" for position in range(1_000))[:7_800]
        for number in range(20)
    ]
    request = ExploreRequest(queries=tuple(VectorQuery(query=text) for text in texts))
    async with turns_of_others() as turns:
        await graph.retrieval.explore(request, user_id=user_id)
    assert turns.longest < 0.2
