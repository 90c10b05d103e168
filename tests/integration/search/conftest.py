from collections.abc import Callable
from typing import Literal

import pytest

from kgagent import KnowledgeGraph
from kgagent.knowledge_graph import services_of
from tests.conftest import Clock
from tests.support.embedders import WatchedEmbedder
from tests.support.fixtures import embedder

__all__ = ["embedder"]


@pytest.fixture(params=["exact", "index"])
def plan(request: pytest.FixtureRequest) -> Literal["exact", "index"]:
    """How searches are run."""
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
async def searching(
    opened: KnowledgeGraph, embedder: WatchedEmbedder, clock: Clock
) -> Callable[[str], KnowledgeGraph]:
    """Gives the graph of the test so that it compares one by one, or asks an index however few
    there are.
    """

    def one(plan: str) -> KnowledgeGraph:
        settings = opened.settings.model_copy(
            update={"exact_scan_limit": 100_000 if plan == "exact" else 0}
        )
        return KnowledgeGraph(
            services_of(opened).store, opened.ontology, embedder, settings, clock=clock
        )

    return one


@pytest.fixture
async def searched(searching: Callable[[str], KnowledgeGraph], plan: str) -> KnowledgeGraph:
    """The graph of the test, searched by each plan in turn."""
    return searching(plan)
