"""A graph with labels and types that no other test has: for tests of all users, or of broken
indexes.
"""

import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime

import pytest

from kgagent import KnowledgeGraph, Ontology, Settings
from kgagent.embedding.base import Embedder
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.graph.identifiers import Identifier
from kgagent.knowledge_graph import services_of
from tests.conftest import Clock

PERSON, TOPIC, KNOWS, LIKES = "Person", "Topic", "knows", "likes"

_WORDS = {
    "attitude": ["hostile", "cool", "neutral", "warm", "close"],
    "proximity": ["stranger", "acquaintance", "familiar", "known-well", "intimate"],
}


def own_ontology(*, key: str = "uuid4") -> Ontology:
    """Two labels with a rule for their keys, and two types, all with a random suffix."""
    suffix = uuid.uuid4().hex
    person, topic = f"{PERSON}_{suffix}", f"{TOPIC}_{suffix}"
    return Ontology.model_validate(
        {
            "labels": {person: {"key": key}, topic: {"key": key}},
            "relationships": {
                f"{KNOWS}_{suffix}": {"from": person, "to": person, **_WORDS},
                f"{LIKES}_{suffix}": {"from": person, "to": topic, **_WORDS},
            },
            "note_lifetimes_in_days": {"month": 30, "forever": None},
            "default_note_lifetime": "month",
        }
    )


def names(ontology: Ontology) -> dict[str, Identifier]:
    """The quoted labels and types, by the words before their suffix."""
    return {
        name.split("_")[0]: Identifier(name) for name in (*ontology.labels, *ontology.relationships)
    }


@asynccontextmanager
async def own_graph(
    settings: Settings, embedder: Embedder, clock: Callable[[], datetime], ontology: Ontology
) -> AsyncIterator[KnowledgeGraph]:
    """Open a graph with an ontology of its own, with all its indexes; in the end its data is
    deleted.

    Indexes that all ontologies share by name stay as they are and are no part of its schema.
    """
    connecting = KnowledgeGraph.connect(
        settings=settings, embedder=embedder, clock=clock, ontology=ontology, ensure_schema=False
    )
    async with connecting as graph:
        leave_shared_indexes_out(graph)
        await services_of(graph).schema.ensure()
        try:
            yield graph
        finally:
            for label in ontology.labels:
                await services_of(graph).store.write(
                    f"MATCH (n:{Identifier(label)}) DETACH DELETE n", {}
                )


def leave_shared_indexes_out(graph: KnowledgeGraph) -> None:
    """Have a graph's schema know only the constraints and indexes that belong to its ontology
    alone.
    """
    own = (*graph.ontology.labels, *graph.ontology.relationships)
    services_of(graph).schema.parts = [
        part for part in services_of(graph).schema.parts if any(name in part.name for name in own)
    ]


@asynccontextmanager
async def dropped_in_the_end(settings: Settings, ontology: Ontology) -> AsyncIterator[Ontology]:
    """Lend an ontology; in the end the constraints and indexes that were made for it are
    dropped.
    """
    yield ontology
    connecting = KnowledgeGraph.connect(
        settings=settings, embedder=HashingEmbedder(8), ontology=ontology, ensure_schema=False
    )
    async with connecting as graph:
        leave_shared_indexes_out(graph)
        for part in services_of(graph).schema.parts:
            kind = "CONSTRAINT" if part.kind == "unique" else "INDEX"
            await services_of(graph).store.run_schema(
                f"DROP {kind} {Identifier(part.name)} IF EXISTS"
            )


@pytest.fixture(scope="session")
async def lent_ontology(settings: Settings) -> AsyncIterator[Ontology]:
    """An ontology whose indexes are made once for the tests that share it."""
    async with dropped_in_the_end(settings, own_ontology()) as lent:
        yield lent


@pytest.fixture
async def own(
    settings: Settings, embedder: Embedder, clock: Clock, lent_ontology: Ontology
) -> AsyncIterator[KnowledgeGraph]:
    """An empty graph whose labels and types no other test uses meanwhile."""
    async with own_graph(settings, embedder, clock, lent_ontology) as opened:
        yield opened
