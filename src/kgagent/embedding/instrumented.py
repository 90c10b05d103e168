"""An embedder that reports its requests to an observer."""

from collections.abc import Sequence

from kgagent.embedding.base import Embedder, Embedding
from kgagent.embedding.wrapper import WrapperEmbedder
from kgagent.observing import Observer
from kgagent.operations import EmbeddingRequest


class InstrumentedEmbedder(WrapperEmbedder):
    """Reports each request of the wrapped embedder: the model and the number of texts, but no text."""

    def __init__(self, embedder: Embedder, observer: Observer) -> None:
        """Wrap an embedder; it is closed with the wrapper."""
        super().__init__(embedder)
        self._observer = observer

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """Embed texts to store; see `Embedder.embed`."""
        if not texts:
            return await self._embedder.embed(texts)
        with self._observer.watch(self._request(texts)):
            embeddings = await self._embedder.embed(texts)
        return embeddings  # noqa: RET504 - mypy assumes that the context manager may suppress exceptions

    async def embed_queries(self, texts: Sequence[str]) -> list[Embedding]:
        """Embed search queries; see `Embedder.embed_queries`."""
        if not texts:
            return await self._embedder.embed_queries(texts)
        with self._observer.watch(self._request(texts)):
            embeddings = await self._embedder.embed_queries(texts)
        return embeddings  # noqa: RET504 - mypy assumes that the context manager may suppress exceptions

    def _request(self, texts: Sequence[str]) -> EmbeddingRequest:
        embedder = self._embedder
        return EmbeddingRequest(embedder.provider, embedder.model, embedder.dimensions, len(texts))
