"""Prefixes that a model expects before its texts."""

from collections.abc import Sequence

from kgagent.embedding.base import Embedder, Embedding
from kgagent.embedding.validation import validate_texts
from kgagent.embedding.wrapper import WrapperEmbedder


class PrefixedEmbedder(WrapperEmbedder):
    """Puts a prefix before each query and each text to store, as models such as E5 and Nomic Embed expect."""

    def __init__(self, embedder: Embedder, *, query_prefix: str = "", passage_prefix: str = "") -> None:
        """Wrap an embedder.

        Args:
            embedder: the embedder to wrap; closed with the wrapper.
            query_prefix: put before a search query, such as "query: ".
            passage_prefix: put before a text to store, such as "passage: ". It is part of the name of the model,
                since it changes the stored vectors.
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
