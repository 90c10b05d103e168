"""Embedders that wrap another embedder: the base class, and those that add prefixes or report
requests.
"""

from collections.abc import Awaitable, Callable, Sequence

from kgagent.embedding.base import Embedder, Embedding
from kgagent.embedding.validation import validate_texts
from kgagent.observing import Observer
from kgagent.operations import EmbeddingRequest


class WrapperEmbedder(Embedder):
    """Has the model, dimensions, description and embeddings of the wrapped embedder."""

    def __init__(self, embedder: Embedder) -> None:
        """Wrap an embedder; it is closed with the wrapper."""
        self._embedder = embedder

    @property
    def wrapped(self) -> Embedder:
        """The innermost embedder."""
        return (
            self._embedder.wrapped
            if isinstance(self._embedder, WrapperEmbedder)
            else self._embedder
        )

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

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """Embed texts to store as the wrapped embedder does."""
        return await self._embedder.embed(texts)

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


class PrefixedEmbedder(WrapperEmbedder):
    """Puts a prefix before each query and each text to store, as models such as E5 and Nomic Embed
    expect.
    """

    def __init__(
        self, embedder: Embedder, *, query_prefix: str = "", passage_prefix: str = ""
    ) -> None:
        """Wrap an embedder.

        Args:
            embedder: the embedder to wrap; closed with the wrapper.
            query_prefix: put before a search query, such as "query: ".
            passage_prefix: put before a text to store, such as "passage: ". It is part of the name
                of the model, since it changes the stored vectors.
        """
        super().__init__(embedder)
        self._query_prefix = query_prefix
        self._passage_prefix = passage_prefix

    def __str__(self) -> str:
        return f"{self.wrapped.provider} {self.model}, {self.dimensions} dimensions"

    @property
    def model(self) -> str:
        """Name of the model, with the prefix of texts to store."""
        name = super().model
        return f"{name} with prefix {self._passage_prefix!r}" if self._passage_prefix else name

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """Embed texts to store; see `Embedder.embed`."""
        return await self._embedder.embed(with_prefix(self._passage_prefix, texts))

    async def embed_queries(self, texts: Sequence[str]) -> list[Embedding]:
        """Embed search queries; see `Embedder.embed_queries`."""
        return await self._embedder.embed_queries(with_prefix(self._query_prefix, texts))


def with_prefix(prefix: str, texts: Sequence[str]) -> list[str]:
    """The texts, each after a prefix.

    Raises:
        InputError: a text is empty or cannot be encoded as UTF-8; a prefix alone is no text.
    """
    return [f"{prefix}{text}" for text in validate_texts(texts)]


class InstrumentedEmbedder(WrapperEmbedder):
    """Reports each request of the wrapped embedder: the model and the number of texts, but no
    text.
    """

    def __init__(self, embedder: Embedder, observer: Observer) -> None:
        """Wrap an embedder; it is closed with the wrapper."""
        super().__init__(embedder)
        self._observer = observer

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """Embed texts to store; see `Embedder.embed`."""
        return await self._watched(self._embedder.embed, texts)

    async def embed_queries(self, texts: Sequence[str]) -> list[Embedding]:
        """Embed search queries; see `Embedder.embed_queries`."""
        return await self._watched(self._embedder.embed_queries, texts)

    async def _watched(
        self, embed: Callable[[Sequence[str]], Awaitable[list[Embedding]]], texts: Sequence[str]
    ) -> list[Embedding]:
        if not texts:
            return await embed(texts)
        request = EmbeddingRequest(self._embedder.provider, self.model, self.dimensions, len(texts))
        with self._observer.watch(request):
            embeddings = await embed(texts)
        return embeddings  # noqa: RET504 - mypy assumes that the context manager may suppress exceptions
