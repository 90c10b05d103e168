"""Fixtures of the tests of ingestion."""

from tests.support.fixtures import embedder, graph, opened

__all__ = ["embedder", "graph", "opened"]
