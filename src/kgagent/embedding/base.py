"""The base class of embedders."""

from abc import ABC, abstractmethod
from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    Embedding = array[float]
else:
    # Python 3.11 cannot subscript it at run time.
    Embedding = array
"""One embedding: float32 (typecode "f"), shape (dimensions,)."""

LONGEST_LOADING = 40.0
"""Seconds that a search waits for an embedder that is being loaded; many clients wait for a
minute.
"""


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
            EmbeddingResponseError: the response has the wrong number of embeddings, or an embedding
                has the wrong length or values that are not finite.
        """

    async def embed_queries(self, texts: Sequence[str]) -> list[Embedding]:
        """Embed search queries; the same as `embed` unless the model distinguishes queries from
        documents.
        """
        return await self.embed(texts)

    def preload(self) -> None:
        """Begin to load what the first call needs, without waiting; a failure is left for that call
        to report.
        """
        return

    async def ready(self, timeout: float) -> None:  # noqa: ARG002
        """Wait until what the first call needs is loaded, for at most `timeout` seconds.

        Raises:
            EmbeddingUnavailableError: it is still being loaded.
        """
        return

    async def aclose(self) -> None:
        """Release the resources of the embedder; it must not be used afterwards."""
        return
