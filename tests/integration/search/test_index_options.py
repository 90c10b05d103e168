"""However an index shortens the vectors that it compares, what a search tells is plain cosine."""

import pytest

from kgagent import KnowledgeGraph, Settings
from kgagent.embedding.hashing import HashingEmbedder, hash_embedding
from kgagent.knowledge_graph import services_of
from tests.conftest import Clock
from tests.support.own_ontology import dropped_in_the_end, own_graph, own_ontology
from tests.support.stored import cosine, cypher

pytestmark = pytest.mark.schema

DIMENSIONS = 128
COUNT = 300
THRESHOLD = 0.7
USER = "me"


@pytest.mark.parametrize("quantization", ["none", "scalar", "binary"])
async def test_similarities_are_plain_cosine_under_every_quantization(
    settings: Settings, clock: Clock, quantization: str
) -> None:
    chosen = settings.model_copy(update={"index_quantization": quantization, "exact_scan_limit": 0})
    embedder = HashingEmbedder(DIMENSIONS)
    names = [f"Number {n} of {n % 7} and {n % 11}" for n in range(COUNT)]
    stored = {name: list(hash_embedding(name, DIMENSIONS)) for name in names}
    async with (
        dropped_in_the_end(settings, own_ontology()) as ontology,
        own_graph(chosen, embedder, clock, ontology) as graph,
    ):
        assert await services_of(graph).schema.differing_options() == []
        label = next(iter(ontology.labels))
        await plant_nodes(graph, label, embedder.model, stored)
        for query in ("Number 3 of 3 and 3", "of 5 and 10"):
            vector = hash_embedding(query, DIMENSIONS)
            expected = {name: cosine(vector, other) for name, other in stored.items()}
            found = await graph.retrieval.node_vector_search(
                query, -1.0, user_id=USER, labels=[label], limit=10
            )
            assert found.plan != "exact"
            assert [match.similarity for match in found] == pytest.approx(
                [expected[match.node.name] for match in found], abs=1e-5
            )
            assert found[0].similarity == pytest.approx(max(expected.values()), abs=1e-5)
            above = {name for name, similarity in expected.items() if similarity >= THRESHOLD}
            near = await graph.retrieval.node_vector_search(
                query, THRESHOLD, user_id=USER, labels=[label], limit=COUNT
            )
            assert {match.node.name for match in near} == above
            assert 0 < len(above) < COUNT


async def plant_nodes(
    graph: KnowledgeGraph, label: str, model: str, stored: dict[str, list[float]]
) -> None:
    await cypher(
        graph,
        f"UNWIND $rows AS row CREATE (n:`{label}` "
        f"{{user_id: $user, name: row[0], entity_key: row[0], "
        "embedding: row[1], embedding_model: $model, embedding_hash: 'planted'})",
        rows=[[name, vector] for name, vector in stored.items()],
        user=USER,
        model=model,
    )
