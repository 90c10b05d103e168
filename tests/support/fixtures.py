"""Fixtures for the folders whose tests count embedding requests or make them fail."""

from collections.abc import AsyncIterator

import pytest

from kgagent import KnowledgeGraph, Settings
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.knowledge_graph import services_of
from kgagent.tools import Toolset
from tests.conftest import DIMENSIONS, Clock
from tests.support.embedders import WatchedEmbedder
from tests.support.graphs import connections


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
    return KnowledgeGraph(services_of(opened).store, opened.ontology, embedder, opened.settings, clock=clock)


@pytest.fixture
async def agents(
    settings: Settings, embedder: WatchedEmbedder, clock: Clock, user_id: str
) -> AsyncIterator[list[Toolset]]:
    """Four agents of one user, each with a connection of its own."""
    async with connections(4, settings=settings, embedder=embedder, clock=clock) as graphs:
        yield [graph.tools(user_id=user_id) for graph in graphs]
