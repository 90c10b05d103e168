from uuid import uuid4

import pytest

from kgagent import KnowledgeGraph
from kgagent.knowledge_graph import services_of
from tests.support.fixtures import embedder
from tests.support.ward import plant_ward

__all__ = ["embedder"]


def with_settings(graph: KnowledgeGraph, **changes: object) -> KnowledgeGraph:
    """The same graph with other settings."""
    return KnowledgeGraph(
        services_of(graph).store,
        graph.ontology,
        graph.embedder,
        graph.settings.model_copy(update=changes),
    )


@pytest.fixture(scope="module")
def shared_user() -> str:
    """The user of `shared_ward`."""
    return f"user-{uuid4()}"


@pytest.fixture(scope="module")
async def shared_ward(opened: KnowledgeGraph, shared_user: str) -> KnowledgeGraph:
    """The hospital for all tests that only read it, so that its schema is read once; another user
    has the same.
    """
    await plant_ward(opened, shared_user)
    await plant_ward(opened, f"{shared_user}-other")
    # A busy machine changes nothing.
    return with_settings(opened, patterns_timeout=120.0)
