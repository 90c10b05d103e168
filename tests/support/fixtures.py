"""Fixtures for the folders whose tests count embedding requests or make them fail."""

from collections.abc import AsyncIterator

import pytest

from kgagent import KnowledgeGraph, Settings
from kgagent.tools import Toolset
from tests.conftest import Clock
from tests.support.embedders import WatchedEmbedder
from tests.support.graphs import connections
from tests.support.stored import Database


@pytest.fixture
def embedder() -> WatchedEmbedder:
    """A deterministic embedder that notes what it is asked."""
    return WatchedEmbedder()


@pytest.fixture
async def agents(
    settings: Settings, embedder: WatchedEmbedder, clock: Clock, user_id: str
) -> AsyncIterator[list[Toolset]]:
    """Four agents of one user, each with a connection of its own."""
    async with connections(4, settings=settings, embedder=embedder, clock=clock) as graphs:
        yield [graph.tools(user_id=user_id) for graph in graphs]


@pytest.fixture
def database(
    graph: KnowledgeGraph, user_id: str, embedder: WatchedEmbedder, clock: Clock
) -> Database:
    """What is stored for the user of the test."""
    return Database(graph, user_id, embedder, clock)
