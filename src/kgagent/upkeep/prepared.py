"""Embedding the texts of a batch in one call, and isolating those that the model refuses."""

from collections.abc import Mapping, Sequence

from kgagent.embedding.base import Embedder, Embedding
from kgagent.embedding.wrapper import WrapperEmbedder
from kgagent.errors import EmbeddingResponseError, InputError

PROBE = "kgagent"
"""A text that every model accepts; if it is refused, the cause is not a single record."""

_REFUSALS = (EmbeddingResponseError, InputError)


class PreparedEmbedder(WrapperEmbedder):
    """Returns known embeddings, and asks the real embedder for other texts.

    The writes of a batch share one, so that each text is embedded once. A text that a tool has changed meanwhile is
    not known, so its present form is embedded.
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
        """Do nothing: the next batch uses the real embedder again."""


async def embed_batch(
    embedder: Embedder, texts: Sequence[str], *, is_whole: bool = True
) -> tuple[dict[str, Embedding], dict[str, str]]:
    """Embed texts, and distinguish a model that fails from a text that it refuses.

    If the model refuses a batch, it is halved until each refused text is alone.

    Args:
        embedder: the model.
        texts: non-empty texts without repetition.
        is_whole: whether they are a whole batch, not a part of one that was refused.

    Returns:
        The embeddings by text, and the reason of each refusal by text.

    Raises:
        KgAgentError: the model is unavailable, or refuses even `PROBE`.
    """
    if not texts:
        return {}, {}
    try:
        return dict(zip(texts, await embedder.embed(texts), strict=True)), {}
    except _REFUSALS as error:
        if is_whole:
            await embedder.embed([PROBE])
        if len(texts) == 1:
            return {}, {texts[0]: str(error)}
    middle = len(texts) // 2
    first, first_refused = await embed_batch(embedder, texts[:middle], is_whole=False)
    second, second_refused = await embed_batch(embedder, texts[middle:], is_whole=False)
    return first | second, first_refused | second_refused
