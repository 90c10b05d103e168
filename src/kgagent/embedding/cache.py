"""A cache of query embeddings in memory."""

from collections import OrderedDict
from collections.abc import Sequence

from kgagent.embedding.base import Embedder, Embedding
from kgagent.embedding.validation import validate_texts
from kgagent.embedding.wrapper import WrapperEmbedder
from kgagent.errors import ConfigurationError


class QueryCache(WrapperEmbedder):
    """Caches the embeddings of the most recently used queries; texts to store are not cached.

    The queries of one call that are not cached are embedded in one request. Use it from one event
    loop only.
    """

    def __init__(self, embedder: Embedder, size: int = 512) -> None:
        """Wrap an embedder.

        Args:
            embedder: the embedder to wrap; closed with the cache.
            size: maximum number of cached queries, from 1; the least recently used query is
                evicted.

        Raises:
            ConfigurationError: `size` is below 1.
        """
        if size < 1:
            raise ConfigurationError(
                f"size must be 1 or more, got {size}; use the embedder itself to cache nothing"
            )
        super().__init__(embedder)
        self._size = size
        self._cached: OrderedDict[str, Embedding] = OrderedDict()

    async def embed_queries(self, texts: Sequence[str]) -> list[Embedding]:
        """Embed search queries; only queries that are not cached reach the wrapped embedder.

        Raises:
            InputError: a text is empty or cannot be encoded as UTF-8.
            EmbeddingError: the wrapped embedder failed.
        """
        # If the cache is emptied meanwhile, nothing of this call is kept.
        cached = self._cached
        wanted = dict.fromkeys(validate_texts(texts))
        embeddings = {text: cached[text] for text in wanted if text in cached}
        if new := [text for text in wanted if text not in embeddings]:
            embeddings |= zip(new, await self._embedder.embed_queries(new), strict=True)
        for text, embedding in embeddings.items():
            cached[text] = embedding
            cached.move_to_end(text)
        while len(cached) > self._size:
            cached.popitem(last=False)
        # Copies, so that a caller cannot change the cached embeddings.
        return [embeddings[text][:] for text in texts]

    def evict(self) -> None:
        """Empty the cache."""
        self._cached = OrderedDict()
