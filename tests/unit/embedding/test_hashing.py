import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgagent.embedding.base import Embedding
from kgagent.embedding.hashing import HashingEmbedder, hash_embedding
from kgagent.errors import ConfigurationError


def cosine(a: Embedding, b: Embedding) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


@given(text=st.text(st.characters(codec="utf-8"), min_size=1), dimensions=st.integers(1, 300))
def test_any_text_has_length_1_and_always_the_same_embedding(text: str, dimensions: int) -> None:
    embedding = hash_embedding(text, dimensions)
    assert len(embedding) == dimensions
    assert math.isclose(math.hypot(*embedding), 1.0, rel_tol=1e-5)
    assert embedding == hash_embedding(text, dimensions)


async def test_texts_that_share_words_are_similar() -> None:
    mentor, same, other = await HashingEmbedder().embed(
        ["Ada is my mentor from college", "my college mentor", "he repairs old bicycles"]
    )
    assert cosine(mentor, same) > 0.5
    assert cosine(mentor, other) < 0.2


def test_the_embedding_is_the_same_on_every_machine() -> None:
    signs = "".join("-0+"[(value > 0) - (value < 0) + 1] for value in hash_embedding("mentor", 16))
    assert signs == "00+00++000+0+-+0"


def test_zero_dimensions_are_an_error() -> None:
    with pytest.raises(ConfigurationError, match="got 0"):
        HashingEmbedder(0)
