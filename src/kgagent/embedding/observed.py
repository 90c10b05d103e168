"""An embedder whose requests are watched."""

from collections.abc import Sequence

from kgagent.embedding.base import Embedder, Embedding
from kgagent.embedding.wrapping import WrappingEmbedder
from kgagent.observing import EmbeddingRequest, Observer


class ObservedEmbedder(WrappingEmbedder):
    """Tells an observer of each request to the embedder that it wraps: the model and how many texts, no text."""

    def __init__(self, embedder: Embedder, observer: Observer) -> None:
        """Wrap an embedder; it is closed with this one."""
        super().__init__(embedder)
        self._observer = observer

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """Embed texts that are stored; see `Embedder.embed`."""
        if not texts:
            return await self._embedder.embed(texts)
        with self._observer.watch(self._request(texts)):
            embeddings = await self._embedder.embed(texts)
        return embeddings  # noqa: RET504 - a context manager may hold errors back, as far as mypy knows

    async def embed_queries(self, texts: Sequence[str]) -> list[Embedding]:
        """Embed texts that are searched for; see `Embedder.embed_queries`."""
        if not texts:
            return await self._embedder.embed_queries(texts)
        with self._observer.watch(self._request(texts)):
            embeddings = await self._embedder.embed_queries(texts)
        return embeddings  # noqa: RET504 - a context manager may hold errors back, as far as mypy knows

    def _request(self, texts: Sequence[str]) -> EmbeddingRequest:
        embedder = self._embedder
        return EmbeddingRequest(embedder.provider, embedder.model, embedder.dimensions, len(texts))
