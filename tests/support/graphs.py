"""Several connections to one graph, as several processes have them."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime

from kgagent import KnowledgeGraph, Settings
from kgagent.embedding.base import Embedder


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
