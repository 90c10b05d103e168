"""What every embedder is."""

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
    """Turns texts into embeddings; batches are the rule and one text is a batch of one.

    An embedding depends on its text and on `model` alone: a text embeds the same by itself and among others.
    """

    provider: ClassVar[str] = "custom"
    """Who computes the embeddings, in one word for a person to read."""

    def __str__(self) -> str:
        return f"{self.provider} {self.model}, {self.dimensions} dimensions"

    @property
    @abstractmethod
    def model(self) -> str:
        """Name stored beside each vector, so that vectors of another model are told apart."""

    @property
    @abstractmethod
    def dimensions(self) -> int:
        """Length of each embedding."""

    @abstractmethod
    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """Embed texts that are stored.

        Args:
            texts: any number of non-empty texts; none makes no call.

        Returns:
            One embedding for each text, in their order.

        Raises:
            InputError: a text is empty or is not text that can be written down in UTF-8.
            ConfigurationError: the model cannot be used as it was set up.
            EmbeddingUnavailableError: the model could not be reached, retries included.
            EmbeddingResponseError: the answer had another count, another length, or values that are not
                finite numbers.
        """

    async def embed_queries(self, texts: Sequence[str]) -> list[Embedding]:
        """Embed texts that are searched for; the same as `embed` unless the model tells them apart."""
        return await self.embed(texts)

    async def aclose(self) -> None:
        """Free what the embedder holds; it is not used afterwards."""
        return


def require_texts(texts: Sequence[str]) -> list[str]:
    """Take the texts of one call after checking that each can be embedded.

    Raises:
        InputError: a single string in place of a list, an empty text, or half of a surrogate pair in one.
    """
    if isinstance(texts, str):
        raise InputError("texts must be a list of texts, got one string; put it in a list")
    for position, text in enumerate(texts, start=1):
        if not text.strip():
            raise InputError(f"text {position} of {len(texts)} is empty; leave it out, there is nothing to embed")
        if not _is_utf8(text):
            raise InputError(
                f"text {position} of {len(texts)} holds half of a surrogate pair, which is no character; remove it"
            )
    return list(texts)


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def checked(vectors: Iterable[Sequence[float]], *, count: int, dimensions: int, model: str) -> list[Embedding]:
    """Turn a model's answer into embeddings after checking it.

    Raises:
        EmbeddingResponseError: another count, another length, values that are not finite, or all zero.
    """
    embeddings = [_as_embedding(vector, model) for vector in vectors]
    if len(embeddings) != count:
        raise EmbeddingResponseError(f"{model} was asked for {count} embeddings and answered {len(embeddings)}")
    for position, embedding in enumerate(embeddings, start=1):
        if len(embedding) != dimensions:
            raise EmbeddingResponseError(
                f"{model} answered an embedding of length {len(embedding)} where {dimensions} was expected "
                f"(text {position} of {count}); set KGAGENT_EMBEDDING_DIMENSIONS to the model's length"
            )
        norm = math.hypot(*embedding)
        if not math.isfinite(norm) or norm == 0.0:
            raise EmbeddingResponseError(f"{model} answered an embedding of no direction (text {position} of {count})")
    return embeddings


def _as_embedding(vector: Sequence[float], model: str) -> Embedding:
    if isinstance(vector, array) and vector.typecode == "f":
        return vector
    try:
        return array("f", vector)
    except (TypeError, OverflowError):
        raise EmbeddingResponseError(f"{model} answered an embedding that is not a list of numbers") from None
