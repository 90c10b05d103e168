"""Other openings of one graph: several connections, as several processes have them, and one with
an observer.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime

from kgagent import KnowledgeGraph, Settings
from kgagent.embedding.base import Embedder
from kgagent.knowledge_graph import services_of
from kgagent.observing import Observer


@asynccontextmanager
async def connections(
    count: int, *, settings: Settings, embedder: Embedder, clock: Callable[[], datetime]
) -> AsyncIterator[list[KnowledgeGraph]]:
    """Open a graph several times."""
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(
                KnowledgeGraph.connect(
                    settings=settings, embedder=embedder, clock=clock, ensure_schema=position == 0
                )
            )
            for position in range(count)
        ]


def watched_graph(
    opened: KnowledgeGraph,
    embedder: Embedder,
    observer: Observer,
    clock: Callable[[], datetime],
) -> KnowledgeGraph:
    """An open graph with another embedder, which an observer watches."""
    return KnowledgeGraph(
        services_of(opened).store,
        opened.ontology,
        embedder,
        opened.settings,
        clock=clock,
        observer=observer,
    )
