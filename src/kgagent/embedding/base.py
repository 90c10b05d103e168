"""What every embedder is."""

import math
from abc import ABC, abstractmethod
from array import array
from collections.abc import Iterable, Sequence

from kgagent.errors import EmbeddingResponseError

Embedding = array[float]
"""One embedding: float32 (typecode "f"), shape (dimensions,)."""


class Embedder(ABC):
    """Turns texts into embeddings; batches are the rule and one text is a batch of one.

    An embedding depends on its text and on `model` alone: a text embeds the same by itself and among others.
    """

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
            EmbeddingUnavailableError: the model could not be reached, retries included.
            EmbeddingResponseError: the answer had another count, another length, or values that are not finite.
        """

    async def embed_queries(self, texts: Sequence[str]) -> list[Embedding]:
        """Embed texts that are searched for; the same as `embed` unless the model tells them apart."""
        return await self.embed(texts)

    async def aclose(self) -> None:
        """Free what the embedder holds; it is not used afterwards."""
        return


def checked(vectors: Iterable[Sequence[float]], *, count: int, dimensions: int, model: str) -> list[Embedding]:
    """Turn a model's answer into embeddings after checking it.

    Raises:
        EmbeddingResponseError: another count, another length, or values that are not finite, or all zero.
    """
    embeddings = [v if isinstance(v, array) and v.typecode == "f" else array("f", v) for v in vectors]
    if len(embeddings) != count:
        raise EmbeddingResponseError(f"{model} was asked for {count} embeddings and answered {len(embeddings)}")
    for position, embedding in enumerate(embeddings):
        if len(embedding) != dimensions:
            raise EmbeddingResponseError(
                f"{model} answered an embedding of length {len(embedding)} where {dimensions} was expected "
                f"(text {position + 1} of {count}); set KGAGENT_EMBEDDING_DIMENSIONS to the model's length"
            )
        norm = math.fsum(x * x for x in embedding)
        if not math.isfinite(norm) or norm == 0.0:
            raise EmbeddingResponseError(f"{model} answered an embedding of no direction (text {position + 1} of {count})")
    return embeddings
