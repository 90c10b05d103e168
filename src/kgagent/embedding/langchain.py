"""Any of LangChain's embedding models."""

from collections.abc import Awaitable, Sequence
from typing import TYPE_CHECKING, ClassVar, Self, TypeVar

from kgagent.concurrency import bounded_map
from kgagent.embedding.base import Embedder, Embedding, checked, require_texts
from kgagent.errors import ConfigurationError, EmbeddingUnavailableError

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

Answer = TypeVar("Answer")

_PROBE = "What is the length of an embedding?"


class LangChainEmbedder(Embedder):
    """Hands texts to a LangChain `Embeddings`; batches, retries and time-outs are its own affair."""

    provider: ClassVar[str] = "langchain"

    def __init__(self, embeddings: "Embeddings", *, model: str, dimensions: int, concurrency: int = 8) -> None:
        """Wrap a model whose length of embeddings is known; `probe` wraps one whose length is not.

        Args:
            embeddings: the LangChain model.
            model: name stored beside each vector, another one for each model; LangChain knows none.
            dimensions: length of each embedding, from 1.
            concurrency: queries embedded at once, from 1; LangChain takes them one by one.

        Raises:
            ConfigurationError: the name is empty or there is no dimension.
        """
        if not model.strip():
            raise ConfigurationError("model must be a name that tells this model's embeddings from another's")
        if dimensions < 1:
            raise ConfigurationError(f"dimensions must be 1 or more, got {dimensions}")
        self._embeddings = embeddings
        self._model = model
        self._dimensions = dimensions
        self._concurrency = concurrency

    @classmethod
    async def probe(cls, embeddings: "Embeddings", *, model: str, concurrency: int = 8) -> Self:
        """Wrap a model after embedding one short text to learn the length of its embeddings.

        Raises:
            ConfigurationError: the name is empty or the model's embeddings are.
            EmbeddingUnavailableError: the model failed.
        """
        vector = await _answer(embeddings.aembed_query(_PROBE), model)
        return cls(embeddings, model=model, dimensions=len(vector), concurrency=concurrency)

    @property
    def model(self) -> str:
        """The name that was given."""
        return self._model

    @property
    def dimensions(self) -> int:
        """Length of each embedding."""
        return self._dimensions

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """Embed texts that are stored, as documents.

        Raises:
            InputError: a text is empty or not UTF-8.
            EmbeddingUnavailableError: the model failed, however it did.
            EmbeddingResponseError: its answer does not fit the texts.
        """
        documents = require_texts(texts)
        if not documents:
            return []
        return self._checked(await _answer(self._embeddings.aembed_documents(documents), self._model), len(documents))

    async def embed_queries(self, texts: Sequence[str]) -> list[Embedding]:
        """Embed texts that are searched for, as queries.

        Raises:
            InputError: a text is empty or not UTF-8.
            EmbeddingUnavailableError: the model failed, however it did.
            EmbeddingResponseError: its answer does not fit the texts.
        """
        queries = require_texts(texts)
        return self._checked(await bounded_map(self._embed_query, queries, limit=self._concurrency), len(queries))

    async def _embed_query(self, text: str) -> list[float]:
        return await _answer(self._embeddings.aembed_query(text), self._model)

    def _checked(self, vectors: list[list[float]], count: int) -> list[Embedding]:
        return checked(vectors, count=count, dimensions=self._dimensions, model=self._model)


async def _answer(call: Awaitable[Answer], model: str) -> Answer:
    try:
        return await call
    except Exception as error:
        # Each LangChain model raises what it likes, and its text may hold a key.
        raise EmbeddingUnavailableError(f"{model} failed with {type(error).__name__}") from error
