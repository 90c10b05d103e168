"""The store of a user."""

import pytest

from kgagent import KnowledgeGraph
from kgagent.adapters.langgraph import KnowledgeGraphStore


@pytest.fixture
def store(graph: KnowledgeGraph, user_id: str) -> KnowledgeGraphStore:
    return KnowledgeGraphStore(graph, user_id=user_id)
