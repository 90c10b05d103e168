"""A cache of query embeddings in memory."""

from collections import OrderedDict
from collections.abc import Sequence

from kgagent.embedding.base import Embedder, Embedding
from kgagent.embedding.shared_requests import Response, SharedRequests
from kgagent.embedding.validation import validate_texts
from kgagent.embedding.wrapper import WrapperEmbedder
from kgagent.errors import ConfigurationError


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
        self._requests = SharedRequests(embedder, self._keep)

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
            embeddings |= await self._requests.embed([text for text in wanted if text not in embeddings])
        # Copies, so that a caller cannot change the cached embeddings.
        return [embeddings[text][:] for text in texts]

    def evict(self) -> None:
        """Empty the cache; requests that are pending are answered, but not cached."""
        self._requests.keep_none()
        self._cached.clear()

    async def clear(self) -> None:
        """Cancel pending requests and empty the cache; the wrapped embedder stays open."""
        await self._requests.cancel()
        self._cached.clear()

    async def aclose(self) -> None:
        """Cancel pending requests and close the wrapped embedder."""
        await self.clear()
        await super().aclose()

    def _keep(self, response: Response) -> None:
        self._cached |= response
        while len(self._cached) > self._size:
            self._cached.popitem(last=False)

    def _get(self, text: str) -> Embedding:
        self._cached.move_to_end(text)
        return self._cached[text]
