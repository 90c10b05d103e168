"""Embeddings from any LangChain embedding model."""

from collections.abc import Awaitable, Sequence
from typing import TYPE_CHECKING, ClassVar, Self, TypeVar

from kgagent.bounded_map import bounded_map
from kgagent.embedding.base import Embedder, Embedding
from kgagent.embedding.validation import validate_embeddings, validate_texts
from kgagent.errors import ConfigurationError, EmbeddingUnavailableError

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

Response = TypeVar("Response")

_PROBE = "What is the length of an embedding?"


class LangChainEmbedder(Embedder):
    """Embeds with a LangChain `Embeddings`, which handles batches, retries and timeouts itself."""

    provider: ClassVar[str] = "langchain"

    def __init__(
        self, embeddings: "Embeddings", *, model: str, dimensions: int, concurrency: int = 8
    ) -> None:
        """Wrap a model with a known embedding length; `probe` finds out an unknown length.

        Args:
            embeddings: the LangChain model.
            model: name stored with each vector, unique for each model; LangChain has no common
                attribute for it.
            dimensions: length of each embedding, from 1.
            concurrency: maximum number of concurrent queries, from 1; LangChain embeds queries one
                by one.

        Raises:
            ConfigurationError: the name is empty, or `dimensions` is below 1.
        """
        if not model.strip():
            raise ConfigurationError(
                "model must be a name that identifies this model's embeddings, got an empty one"
            )
        if dimensions < 1:
            raise ConfigurationError(f"dimensions must be 1 or more, got {dimensions}")
        self._embeddings = embeddings
        self._model = model
        self._dimensions = dimensions
        self._concurrency = concurrency

    @classmethod
    async def probe(cls, embeddings: "Embeddings", *, model: str, concurrency: int = 8) -> Self:
        """Embed one short text to find the length of a model's embeddings, then wrap the model.

        Raises:
            ConfigurationError: the name is empty, or the model's embeddings are.
            EmbeddingUnavailableError: the model failed.
        """
        vector = await _call(embeddings.aembed_query(_PROBE), model)
        return cls(embeddings, model=model, dimensions=len(vector), concurrency=concurrency)

    @property
    def model(self) -> str:
        """Name of the model as passed to the constructor."""
        return self._model

    @property
    def dimensions(self) -> int:
        """Length of each embedding."""
        return self._dimensions

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """Embed texts to store, as documents.

        Raises:
            InputError: a text is empty or cannot be encoded as UTF-8.
            EmbeddingUnavailableError: the model raised an exception.
            EmbeddingResponseError: the response does not match the texts.
        """
        documents = validate_texts(texts)
        if not documents:
            return []
        return self._checked(
            await _call(self._embeddings.aembed_documents(documents), self._model), len(documents)
        )

    async def embed_queries(self, texts: Sequence[str]) -> list[Embedding]:
        """Embed search queries, as queries.

        Raises:
            InputError: a text is empty or cannot be encoded as UTF-8.
            EmbeddingUnavailableError: the model raised an exception.
            EmbeddingResponseError: the response does not match the texts.
        """
        queries = validate_texts(texts)
        return self._checked(
            await bounded_map(self._embed_query, queries, limit=self._concurrency), len(queries)
        )

    async def _embed_query(self, text: str) -> list[float]:
        return await _call(self._embeddings.aembed_query(text), self._model)

    def _checked(self, vectors: list[list[float]], count: int) -> list[Embedding]:
        return validate_embeddings(
            vectors, count=count, dimensions=self._dimensions, model=self._model
        )


async def _call(call: Awaitable[Response], model: str) -> Response:
    try:
        return await call
    except Exception as error:
        # LangChain models have no common exception, and the message may contain an API key.
        raise EmbeddingUnavailableError(f"{model} failed with {type(error).__name__}") from error
