"""A cache of query embeddings in memory."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from functools import partial

from kgagent.embedding.base import Embedder, Embedding
from kgagent.embedding.validation import validate_texts
from kgagent.embedding.wrapper import WrapperEmbedder
from kgagent.errors import ConfigurationError, EmbeddingUnavailableError

Response = dict[str, Embedding]


class QueryCache(WrapperEmbedder):
    """Caches the embeddings of the most recently used queries; texts to store are not cached.

    The queries of one call that are not cached are embedded in one request. Concurrent calls with the same text
    share a request, which continues if one of the calls is cancelled. An error is raised to every waiting call and
    is not cached. Use it from one event loop only.
    """

    def __init__(self, embedder: Embedder, size: int = 512) -> None:
        """Wrap an embedder.

        Args:
            embedder: the embedder to wrap; closed with the cache.
            size: maximum number of cached queries, from 1; the least recently used query is evicted.

        Raises:
            ConfigurationError: `size` is below 1.
        """
        if size < 1:
            raise ConfigurationError(f"size must be 1 or more, got {size}; use the embedder itself to cache nothing")
        super().__init__(embedder)
        self._size = size
        self._cached: OrderedDict[str, Embedding] = OrderedDict()
        self._pending: dict[str, asyncio.Task[Response]] = {}
        self._evictions = 0

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """Embed texts to store; they are not cached, because they are rarely embedded twice."""
        return await self._embedder.embed(texts)

    async def embed_queries(self, texts: Sequence[str]) -> list[Embedding]:
        """Embed search queries; only queries that are not cached reach the wrapped embedder.

        Raises:
            InputError: a text is empty or cannot be encoded as UTF-8.
            EmbeddingError: the wrapped embedder failed.
        """
        wanted = dict.fromkeys(texts)
        embeddings = {text: self._get(text) for text in wanted if text in self._cached}
        if len(embeddings) < len(wanted):
            validate_texts(texts)
            for task in self._tasks_for([text for text in wanted if text not in embeddings]):
                embeddings |= await _result_of(task)
        # Copies, so that a caller cannot change the cached embeddings.
        return [embeddings[text][:] for text in texts]

    def evict(self) -> None:
        """Empty the cache; requests that are pending are answered, but not cached."""
        self._evictions += 1
        self._cached.clear()

    async def clear(self) -> None:
        """Cancel pending requests and empty the cache; the wrapped embedder stays open."""
        tasks = set(self._pending.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._cached.clear()

    async def aclose(self) -> None:
        """Cancel pending requests and close the wrapped embedder."""
        await self.clear()
        await super().aclose()

    def _tasks_for(self, texts: list[str]) -> set[asyncio.Task[Response]]:
        """Return the pending requests of the texts; start one request for texts that have none."""
        missing = [text for text in texts if text not in self._pending]
        if missing:
            task = asyncio.create_task(self._request(missing))
            task.add_done_callback(partial(self._finish, missing, self._evictions))
            self._pending |= dict.fromkeys(missing, task)
        return {self._pending[text] for text in texts}

    async def _request(self, texts: list[str]) -> Response:
        return dict(zip(texts, await self._embedder.embed_queries(texts), strict=True))

    def _finish(self, texts: list[str], begun: int, task: asyncio.Task[Response]) -> None:
        for text in texts:
            del self._pending[text]
        # Retrieving the exception keeps asyncio from logging it when no call waits any more.
        if not task.cancelled() and task.exception() is None and begun == self._evictions:
            self._cached |= task.result()
            while len(self._cached) > self._size:
                self._cached.popitem(last=False)

    def _get(self, text: str) -> Embedding:
        self._cached.move_to_end(text)
        return self._cached[text]


async def _result_of(task: asyncio.Task[Response]) -> Response:
    # `asyncio.wait` does not cancel the task when its caller is cancelled.
    await asyncio.wait([task])
    if task.cancelled():
        raise EmbeddingUnavailableError("The embedder was closed before it responded")
    return task.result()
