from collections.abc import Sequence

import pytest

from kgagent.embedding.base import Embedding
from kgagent.embedding.hashing import HashingEmbedder, hash_embedding
from kgagent.errors import EmbeddingResponseError
from kgagent.upkeep.rewrite import PreparedEmbedder, embed_batch
from tests.support.embedders import WatchedEmbedder


class Refusing(WatchedEmbedder):
    """Refuses requests that hold one of some texts."""

    def __init__(self, *refused: str) -> None:
        super().__init__(HashingEmbedder(8))
        self._refused = set(refused)

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        answer = await super().embed(texts)
        if self._refused & set(texts):
            raise EmbeddingResponseError("too long")
        return answer


async def test_known_texts_are_not_embedded_again_and_others_once() -> None:
    watched = WatchedEmbedder(HashingEmbedder(8))
    prepared = PreparedEmbedder(watched, {"a": hash_embedding("a", 8)})
    assert await prepared.embed(["b", "a", "b"]) == [
        hash_embedding("b", 8),
        hash_embedding("a", 8),
        hash_embedding("b", 8),
    ]
    assert watched.stored == [["b"]]
    assert await prepared.embed(["a"]) == [hash_embedding("a", 8)]
    assert watched.calls == 1


@pytest.mark.parametrize("refused", [["c"], list("abcde")])
async def test_refused_texts_are_found_and_the_others_embedded(refused: list[str]) -> None:
    made, reasons = await embed_batch(Refusing(*refused), list("abcde"))
    assert made == {text: hash_embedding(text, 8) for text in "abcde" if text not in refused}
    assert reasons == dict.fromkeys(refused, "too long")


@pytest.mark.parametrize("texts", [["a"], ["a", "b"]])
async def test_a_model_that_refuses_even_a_plain_text_is_at_fault_itself(texts: list[str]) -> None:
    refusing = Refusing("a", "kgagent")
    with pytest.raises(EmbeddingResponseError):
        await embed_batch(refusing, texts)
    assert refusing.stored == [texts, ["kgagent"]]
