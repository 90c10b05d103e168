"""The base class of embedders that wrap another embedder."""

from collections.abc import Sequence

from kgagent.embedding.base import Embedder, Embedding


class WrapperEmbedder(Embedder):
    """Has the model, dimensions and description of the wrapped embedder."""

    def __init__(self, embedder: Embedder) -> None:
        """Wrap an embedder; it is closed with the wrapper."""
        self._embedder = embedder

    @property
    def wrapped(self) -> Embedder:
        """The innermost embedder."""
        return self._embedder.wrapped if isinstance(self._embedder, WrapperEmbedder) else self._embedder

    def __str__(self) -> str:
        return str(self._embedder)

    @property
    def model(self) -> str:
        """Name of the wrapped embedder's model."""
        return self._embedder.model

    @property
    def dimensions(self) -> int:
        """Length of each embedding."""
        return self._embedder.dimensions

    async def embed_queries(self, texts: Sequence[str]) -> list[Embedding]:
        """Embed search queries as the wrapped embedder does."""
        return await self._embedder.embed_queries(texts)

    async def ready(self, timeout: float) -> None:
        """Wait as the wrapped embedder does."""
        await self._embedder.ready(timeout)

    def preload(self) -> None:
        """Preload the wrapped embedder."""
        self._embedder.preload()

    async def aclose(self) -> None:
        """Close the wrapped embedder."""
        await self._embedder.aclose()
