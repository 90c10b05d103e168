"""A cache of query embeddings in memory."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from functools import partial

from kgagent.embedding.base import Embedder, Embedding
from kgagent.embedding.validation import validate_texts
from kgagent.embedding.wrapper import WrapperEmbedder
from kgagent.errors import ConfigurationError, EmbeddingUnavailableError

_Embeddings = dict[str, Embedding]


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
        self._requests: dict[str, asyncio.Task[_Embeddings]] = {}

    async def embed_queries(self, texts: Sequence[str]) -> list[Embedding]:
        """Embed search queries; only queries that are not cached reach the wrapped embedder.

        Raises:
            InputError: a text is empty or cannot be encoded as UTF-8.
            EmbeddingError: the wrapped embedder failed.
        """
        wanted = dict.fromkeys(validate_texts(texts))
        embeddings = {text: self._cached[text] for text in wanted if text in self._cached}
        for text in embeddings:
            self._cached.move_to_end(text)
        if uncached := [text for text in wanted if text not in embeddings]:
            embeddings |= await self._requested(uncached)
        # Copies, so that a caller cannot change the cached embeddings.
        return [embeddings[text][:] for text in texts]

    def evict(self) -> None:
        """Empty the cache; requests that are pending are answered, but not cached."""
        self._cached = OrderedDict()

    async def clear(self) -> None:
        """Cancel pending requests and empty the cache; the wrapped embedder stays open."""
        tasks = set(self._requests.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.evict()

    async def aclose(self) -> None:
        """Cancel pending requests and close the wrapped embedder."""
        await self.clear()
        await super().aclose()

    async def _requested(self, texts: list[str]) -> _Embeddings:
        """Embed texts: those without a pending request in a new one, which continues if a call is cancelled."""
        if missing := [text for text in texts if text not in self._requests]:
            task = asyncio.create_task(self._request(missing))
            task.add_done_callback(partial(self._finish, missing, self._cached))
            self._requests |= dict.fromkeys(missing, task)
        embeddings: _Embeddings = {}
        for task in {self._requests[text] for text in texts}:
            # `asyncio.wait` does not cancel the task when its caller is cancelled.
            await asyncio.wait([task])
            if task.cancelled():
                raise EmbeddingUnavailableError("The embedder was closed before it responded")
            embeddings |= task.result()
        return embeddings

    async def _request(self, texts: list[str]) -> _Embeddings:
        return dict(zip(texts, await self._embedder.embed_queries(texts), strict=True))

    def _finish(self, texts: list[str], cached: OrderedDict[str, Embedding], task: asyncio.Task[_Embeddings]) -> None:
        """Cache what a request returned, in the cache that was in use when it began."""
        for text in texts:
            del self._requests[text]
        # Retrieving the exception keeps asyncio from logging it when no call waits any more.
        if task.cancelled() or task.exception() is not None:
            return
        cached.update(task.result())
        while len(cached) > self._size:
            cached.popitem(last=False)
