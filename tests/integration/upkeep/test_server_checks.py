"""Missing or unsuitable indexes and an embedder that fails are found."""

import pytest

from kgagent import KnowledgeGraph, Settings
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.errors import EmbeddingUnavailableError
from kgagent.graph.identifiers import Identifier
from kgagent.graph.schema_parts import node_vector_index
from kgagent.knowledge_graph import services_of
from tests.conftest import Clock
from tests.integration.upkeep.damaged import healthy, problems
from tests.support.embedders import WatchedEmbedder
from tests.support.own_ontology import (
    dropped_in_the_end,
    leave_shared_indexes_out,
    own_graph,
    own_ontology,
)

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


async def test_indexes_for_another_length_are_an_error_and_rebuilding_fixes_it(
    settings: Settings, clock: Clock
) -> None:
    async with (
        dropped_in_the_end(settings, own_ontology()) as ontology,
        own_graph(settings, HashingEmbedder(96), clock, ontology),
        KnowledgeGraph.connect(
            settings=settings,
            embedder=HashingEmbedder(48),
            clock=clock,
            ontology=ontology,
            ensure_schema=False,
        ) as graph,
    ):
        leave_shared_indexes_out(graph)
        [finding] = problems(await graph.diagnose())
        assert finding.severity == "error"
        assert "made for embeddings of length 96" in finding.message
        assert finding.fix == (
            "choose the embedder that the graph was created with; or, to embed everything again, "
            "kgagent migrate --rebuild-indexes"
        )
        await services_of(graph).schema.rebuild_vector_indexes()
        assert (await graph.diagnose()).is_healthy


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
