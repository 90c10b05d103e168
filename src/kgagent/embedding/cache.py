"""Query embeddings kept in memory."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence

from kgagent.embedding.base import Embedder, Embedding, require_texts
from kgagent.embedding.wrapping import WrappingEmbedder
from kgagent.errors import ConfigurationError, EmbeddingUnavailableError

Answer = dict[str, Embedding]


class QueryCache(WrappingEmbedder):
    """Keeps the embeddings of the latest queries of the embedder that it wraps; stored texts pass through.

    The queries that one call lacks are embedded in one request. Calls that ask for the same text at the same
    time share a request, and it goes on when one of them is cancelled. An error reaches those who wait for it
    and is not kept. For use from one event loop.
    """

    def __init__(self, embedder: Embedder, size: int = 512) -> None:
        """Wrap an embedder.

        Args:
            embedder: whose query embeddings are kept; closed with this one.
            size: queries kept, from 1; the one unused for longest makes room.

        Raises:
            ConfigurationError: no room for a single query.
        """
        if size < 1:
            raise ConfigurationError(f"size must be 1 or more, got {size}; use the embedder itself to keep nothing")
        super().__init__(embedder)
        self._size = size
        self._kept: OrderedDict[str, Embedding] = OrderedDict()
        self._under_way: dict[str, asyncio.Task[Answer]] = {}

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """Embed texts that are stored; nothing is kept, as they seldom come twice."""
        return await self._embedder.embed(texts)

    async def embed_queries(self, texts: Sequence[str]) -> list[Embedding]:
        """Embed texts that are searched for, asking the wrapped embedder for those alone that are not kept.

        Raises:
            InputError: a text is empty or not UTF-8.
            EmbeddingError: what the wrapped embedder raises.
        """
        queries = require_texts(texts)
        wanted = dict.fromkeys(queries)
        found = {text: self._use(text) for text in wanted if text in self._kept}
        for task in self._tasks_for([text for text in wanted if text not in found]):
            found |= await _outcome(task)
        # Copies, so that no caller changes what another one gets.
        return [found[text][:] for text in queries]

    async def clear(self) -> None:
        """Cancel the requests under way and forget all embeddings; the wrapped embedder stays open."""
        tasks = set(self._under_way.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._kept.clear()

    async def aclose(self) -> None:
        """Cancel the requests under way and close the wrapped embedder."""
        await self.clear()
        await super().aclose()

    def _tasks_for(self, texts: list[str]) -> set[asyncio.Task[Answer]]:
        """Join the requests under way for some of the texts and begin one for the others."""
        missing = [text for text in texts if text not in self._under_way]
        if missing:
            task = asyncio.create_task(self._ask(missing))
            task.add_done_callback(lambda done: self._finish(missing, done))
            self._under_way |= dict.fromkeys(missing, task)
        return {self._under_way[text] for text in texts}

    async def _ask(self, texts: list[str]) -> Answer:
        return dict(zip(texts, await self._embedder.embed_queries(texts), strict=True))

    def _finish(self, texts: list[str], task: asyncio.Task[Answer]) -> None:
        for text in texts:
            del self._under_way[text]
        # Looking at the exception also tells asyncio that it is not lost when nobody waits any more.
        if not task.cancelled() and task.exception() is None:
            self._keep(task.result())

    def _keep(self, answer: Answer) -> None:
        self._kept |= answer
        while len(self._kept) > self._size:
            self._kept.popitem(last=False)

    def _use(self, text: str) -> Embedding:
        self._kept.move_to_end(text)
        return self._kept[text]


async def _outcome(task: asyncio.Task[Answer]) -> Answer:
    # `wait` leaves the task alone when its caller is cancelled.
    await asyncio.wait([task])
    if task.cancelled():
        raise EmbeddingUnavailableError("The embedder was closed before it answered")
    return task.result()
