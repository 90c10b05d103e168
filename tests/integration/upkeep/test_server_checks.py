"""Missing or unsuitable indexes and an embedder that fails are found."""

import pytest

from kgagent import KnowledgeGraph
from kgagent.errors import EmbeddingUnavailableError
from kgagent.graph.identifiers import Identifier
from kgagent.graph.schema_parts import node_vector_index
from kgagent.knowledge_graph import services_of
from tests.integration.upkeep.damaged import healthy, problems
from tests.support.embedders import WatchedEmbedder

pytestmark = pytest.mark.schema


async def test_a_missing_index_is_an_error_and_init_fixes_it(own: KnowledgeGraph) -> None:
    await healthy(own)
    name = node_vector_index(next(iter(own.ontology.labels)))
    await services_of(own).store.run_schema(f"DROP INDEX {Identifier(name)}")
    [finding] = problems(await own.diagnose())
    assert (finding.severity, finding.message, finding.fix) == (
        "error",
        f"{name}: missing",
        "kgagent init",
    )


async def test_the_embedder_is_called_once_and_only_on_request(
    own: KnowledgeGraph, embedder: WatchedEmbedder
) -> None:
    assert (await own.diagnose(check_embedder=True)).is_healthy
    assert embedder.calls == 1
    await own.diagnose()
    assert embedder.calls == 1


async def test_an_embedder_that_cannot_be_reached_is_an_error(
    own: KnowledgeGraph, embedder: WatchedEmbedder
) -> None:
    embedder.failure = EmbeddingUnavailableError("The model is away")
    [finding] = problems(await own.diagnose(check_embedder=True))
    assert finding.severity == "error"
    assert finding.message.endswith("makes no embeddings: The model is away")


@pytest.mark.parametrize("dropped", ["Person", "knows"])
async def test_records_are_examined_even_if_constraints_are_missing(
    own: KnowledgeGraph, dropped: str
) -> None:
    await healthy(own)
    [name] = [
        name
        for name in (*own.ontology.labels, *own.ontology.relationships)
        if name.startswith(dropped)
    ]
    constraint = f"kgagent_{name}_unique"
    await services_of(own).store.run_schema(f"DROP CONSTRAINT {Identifier(constraint)}")
    diagnosis = await own.diagnose()
    assert [finding.message for finding in problems(diagnosis)] == [f"{constraint}: missing"]
    assert diagnosis.facts.relationships == 3
