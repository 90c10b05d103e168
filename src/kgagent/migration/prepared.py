"""Embedding the texts of one batch in one call, whoever they belong to, and finding those that a model refuses."""

from array import array
from collections.abc import Mapping, Sequence

from kgagent.embedding.base import Embedder, Embedding
from kgagent.embedding.wrapper import WrapperEmbedder
from kgagent.errors import EmbeddingResponseError, InputError

PROBE = "kgagent"
"""A text that every model embeds; one that refuses it is not at odds with a single record."""

_REFUSALS = (EmbeddingResponseError, InputError)


class PreparedEmbedder(WrapperEmbedder):
    """Knows the embeddings of some texts already and asks the real embedder for others.

    The writers of a batch share one: each text is embedded once, and a text that a tool changed meanwhile is
    still embedded as it now is.
    """

    def __init__(self, embedder: Embedder, known: Mapping[str, Embedding]) -> None:
        super().__init__(embedder)
        self._known = known

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """Embed texts, calling the real embedder only for those that are not known.

        Raises:
            EmbeddingError: the real embedder failed.
            InputError: it refused a text.
        """
        unknown = [text for text in dict.fromkeys(texts) if text not in self._known]
        made = dict(zip(unknown, await self._embedder.embed(unknown), strict=True)) if unknown else {}
        return [self._known[text] if text in self._known else made[text] for text in texts]

    async def aclose(self) -> None:
        """Do nothing: the real embedder goes on to the next batch."""


class IdleEmbedder(PreparedEmbedder):
    """Stands in for an embedder where nothing will be written: no call is made, and every text has one embedding."""

    def __init__(self, embedder: Embedder) -> None:
        super().__init__(embedder, {})
        self._blank: Embedding = array("f", bytes(4 * embedder.dimensions))

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        """Give the same embedding for each text."""
        return [self._blank for _ in texts]


class Preparation:
    """Embeds batches of texts and tells apart a model that fails from a text that it refuses."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    async def embed(self, texts: Sequence[str]) -> tuple[dict[str, Embedding], dict[str, str]]:
        """Embed texts.

        Args:
            texts: non-empty texts, each at most once.

        Returns:
            The embeddings by text, and the reasons of the refused ones by text.

        Raises:
            KgAgentError: the model cannot be reached or refuses even a plain text.
        """
        if not texts:
            return {}, {}
        try:
            return dict(zip(texts, await self._embedder.embed(texts), strict=True)), {}
        except _REFUSALS:
            await self._embedder.embed([PROBE])
        return await self._sift(texts)

    async def _sift(self, texts: Sequence[str]) -> tuple[dict[str, Embedding], dict[str, str]]:
        """Halve the texts until the refused ones stand alone."""
        try:
            return dict(zip(texts, await self._embedder.embed(texts), strict=True)), {}
        except _REFUSALS as error:
            if len(texts) == 1:
                return {}, {texts[0]: str(error)}
        middle = len(texts) // 2
        first, first_refused = await self._sift(texts[:middle])
        second, second_refused = await self._sift(texts[middle:])
        return first | second, first_refused | second_refused
