"""A synchronous graph, as most of the clients are synchronous."""

from collections.abc import Iterator

import pytest

from kgagent import Settings, SyncKnowledgeGraph
from kgagent.embedding.hashing import HashingEmbedder
from tests.conftest import DIMENSIONS


@pytest.fixture
def opened_sync(settings: Settings) -> Iterator[SyncKnowledgeGraph]:
    """A synchronous graph."""
    with SyncKnowledgeGraph.connect(
        settings=settings, embedder=HashingEmbedder(DIMENSIONS)
    ) as graph:
        yield graph
