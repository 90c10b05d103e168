"""An embedder around another one."""

from kgagent.embedding.base import Embedder


class WrappingEmbedder(Embedder):
    """Passes for the embedder that it wraps: the same model, the same length, the same words about itself."""

    def __init__(self, embedder: Embedder) -> None:
        """Wrap an embedder; it is closed with this one."""
        self._embedder = embedder

    @property
    def wrapped(self) -> Embedder:
        """The embedder within, past every wrapping."""
        return self._embedder.wrapped if isinstance(self._embedder, WrappingEmbedder) else self._embedder

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

    async def aclose(self) -> None:
        """Close the wrapped embedder."""
        await self._embedder.aclose()
