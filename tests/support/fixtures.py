"""Fixtures for the folders whose tests count embedding requests or make them fail."""

from collections.abc import AsyncIterator

import pytest

from kgagent import KnowledgeGraph, Settings
from kgagent.embedding.hashing import HashingEmbedder
from tests.conftest import DIMENSIONS, Clock
from tests.support.embedders import WatchedEmbedder


@pytest.fixture
def embedder() -> WatchedEmbedder:
    """A deterministic embedder that notes what it is asked."""
    return WatchedEmbedder()


@pytest.fixture(scope="session")
async def opened(settings: Settings) -> AsyncIterator[KnowledgeGraph]:
    """A graph that stays open for the whole run, its schema made."""
    async with KnowledgeGraph.connect(settings=settings, embedder=HashingEmbedder(DIMENSIONS)) as graph:
        yield graph


@pytest.fixture
async def graph(opened: KnowledgeGraph, embedder: WatchedEmbedder, clock: Clock) -> KnowledgeGraph:
    """That graph with an embedder and a clock of the test's own."""
    return KnowledgeGraph(opened.store, opened.ontology, embedder, opened.settings, clock=clock)
