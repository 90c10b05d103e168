"""The mean embeddings of relationship types, by which whole paths are compared with a query."""

import itertools

import pytest
from kgagent.retrieval.type_means import TypeMean, TypeMeans, read_type_means

from kgagent import HybridSearchOptions, KnowledgeGraph
from kgagent.knowledge_graph import services_of
from kgagent.retrieval.rerank.cosine import cosine
from kgagent.tools import Toolset

UNUSUAL = 'says "ha\\" to'


async def chained(tools: Toolset, relationship_type: str, names: str) -> None:
    """People in a row, each with a relationship of a type with the next one."""
    keys = [(await tools.create_node(label="Person", name=name))["entity_key"] for name in names.split()]
    for first, second in itertools.pairwise(keys):
        answer = await tools.create_relationship(
            from_entity_key=first, to_entity_key=second, relationship_type=relationship_type
        )
        assert answer["success"], answer


async def read(graph: KnowledgeGraph, user_id: str, *types: str) -> TypeMeans:
    known = TypeMeans()
    await read_type_means(graph.retrieval.scope.of(user_id), types, known, timeout=30.0)
    return known


async def test_the_mean_is_that_of_the_users_own_relationships_of_exactly_the_type(
    graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    await chained(tools, "mentor", "Ada Bo Cy")
    await chained(tools, "former mentor", "Di Eve")
    await chained(tools, UNUSUAL, "Fay Gil")
    stranger = f"{user_id}-stranger"
    await chained(graph.tools(user_id=stranger), "rival", "Xu Yi")
    means = await read(graph, user_id, "mentor", UNUSUAL, "rival", "…")
    [row] = await services_of(graph).store.read(
        "MATCH (:Person {user_id: $user})-[r {relationship_type: 'mentor'}]->() "
        "RETURN collect(r.relationship_embedding) AS embeddings",
        {"user": user_id},
    )
    total = [sum(column) for column in zip(*row["embeddings"], strict=True)]
    assert cosine(means[user_id, "mentor"].vector, total) == pytest.approx(1.0)
    assert means[user_id, "mentor"].sampled == 2
    assert means[user_id, UNUSUAL].vector
    assert means[user_id, "rival"] == TypeMean([], 0)
    assert (user_id, "…") not in means


async def test_means_are_read_once_and_dropped_when_anything_is_forgotten(
    graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    await chained(tools, "mentor", "Ada Bo Cy Di")
    options = HybridSearchOptions(query="mentor", threshold=-1.0)
    await graph.retrieval.hybrid_search(options, user_id=user_id)
    cached = graph.retrieval.type_means
    assert list(cached) == [(user_id, "mentor")]
    await graph.forget(user_id=user_id, entity_key="Ada")
    assert not cached
