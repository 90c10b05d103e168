"""The base class of embedders, and the validation of texts and embeddings that they share."""

import math
from abc import ABC, abstractmethod
from array import array
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar

from kgagent.errors import EmbeddingResponseError, InputError

if TYPE_CHECKING:
    Embedding = array[float]
else:
    # Python 3.11 cannot subscript it at run time.
    Embedding = array
"""One embedding: float32 (typecode "f"), shape (dimensions,)."""


class Embedder(ABC):
    """Embeds batches of texts.

    An embedding depends only on its text and on `model`, never on the other texts of the batch.
    """

    provider: ClassVar[str] = "custom"
    """Short name of the provider, for messages."""

    def __str__(self) -> str:
        return f"{self.provider} {self.model}, {self.dimensions} dimensions"

    @property
    @abstractmethod
    def model(self) -> str:
        """Name stored with each vector, to distinguish vectors of different models."""

    @property
    @abstractmethod
    def dimensions(self) -> int:
        """Length of each embedding."""

    @abstractmethod
    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """Embed texts to store.

        Args:
            texts: non-empty texts; an empty list makes no request.

        Returns:
            One embedding for each text, in the same order.

        Raises:
            InputError: a text is empty or cannot be encoded as UTF-8.
            ConfigurationError: the model cannot be used with this configuration.
            EmbeddingUnavailableError: the model could not be reached, even after retries.
            EmbeddingResponseError: the response has the wrong number of embeddings, or an embedding has the wrong
                length or values that are not finite.
        """

    async def embed_queries(self, texts: Sequence[str]) -> list[Embedding]:
        """Embed search queries; the same as `embed` unless the model distinguishes queries from documents."""
        return await self.embed(texts)

    async def aclose(self) -> None:
        """Release the resources of the embedder; it must not be used afterwards."""
        return


def validate_texts(texts: Sequence[str]) -> list[str]:
    """Return the texts as a list if each can be embedded.

    Raises:
        InputError: `texts` is a single string, or a text is empty or contains an unpaired surrogate.
    """
    if isinstance(texts, str):
        raise InputError("texts must be a list of texts, got one string; put it in a list")
    for position, text in enumerate(texts, start=1):
        if not text.strip():
            raise InputError(f"text {position} of {len(texts)} is empty; remove it")
        if not _is_utf8(text):
            raise InputError(
                f"text {position} of {len(texts)} contains an unpaired surrogate, which is not a character; remove it"
            )
    return list(texts)


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def validate_embeddings(
    vectors: Iterable[Sequence[float]], *, count: int, dimensions: int, model: str
) -> list[Embedding]:
    """Validate a model's response and convert it to embeddings.

    Args:
        vectors: the response, one vector for each text.
        count: number of texts.
        dimensions: expected length of each vector.
        model: name of the model, for errors.

    Raises:
        EmbeddingResponseError: wrong number of vectors, wrong length, or values that are not finite or all zero.
    """
    embeddings = [_as_embedding(vector, model) for vector in vectors]
    if len(embeddings) != count:
        raise EmbeddingResponseError(f"{model} returned {len(embeddings)} embeddings for {count} texts")
    for position, embedding in enumerate(embeddings, start=1):
        if len(embedding) != dimensions:
            raise EmbeddingResponseError(
                f"{model} returned an embedding of length {len(embedding)}, expected {dimensions} "
                f"(text {position} of {count}); set KGAGENT_EMBEDDING_DIMENSIONS to the model's length"
            )
        norm = math.hypot(*embedding)
        if not math.isfinite(norm) or norm == 0.0:
            raise EmbeddingResponseError(
                f"{model} returned an embedding that is zero or not finite (text {position} of {count})"
            )
    return embeddings


def _as_embedding(vector: Sequence[float], model: str) -> Embedding:
    if isinstance(vector, array) and vector.typecode == "f":
        return vector
    try:
        return array("f", vector)
    except (TypeError, OverflowError):
        raise EmbeddingResponseError(f"{model} returned an embedding that is not a list of numbers") from None
