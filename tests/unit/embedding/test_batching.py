from hypothesis import given
from hypothesis import strategies as st

from kgagent.embedding.openai import RequestLimits, max_tokens, split_batches, truncate

TEXTS = st.lists(
    st.text(min_size=1, max_size=20).map(lambda text: truncate(text, tokens=40)), max_size=40
)
ANY_TEXT = st.text(st.characters(codec="utf-8"))


@given(texts=TEXTS, inputs=st.integers(1, 10), tokens=st.integers(40, 200))
def test_batches_hold_all_texts_in_order_within_the_limits(
    texts: list[str], inputs: int, tokens: int
) -> None:
    made = list(split_batches(texts, RequestLimits(inputs=inputs, tokens=tokens)))
    assert [text for batch in made for text in batch] == texts
    assert all(1 <= len(batch) <= inputs for batch in made)
    assert all(sum(map(max_tokens, batch)) <= tokens for batch in made)


@given(text=ANY_TEXT, tokens=st.integers(4, 60))
def test_truncation_keeps_as_many_whole_characters_as_fit(text: str, tokens: int) -> None:
    cut = truncate(text, tokens=tokens)
    assert text.startswith(cut)
    assert max_tokens(cut) <= tokens
    assert cut == text or max_tokens(text[: len(cut) + 1]) > tokens


def test_a_batch_ends_at_2048_texts_and_at_300000_tokens() -> None:
    assert [len(batch) for batch in split_batches(["a"] * 5000, RequestLimits())] == [
        2048,
        2048,
        904,
    ]
    assert [len(batch) for batch in split_batches(["a" * 8191] * 40, RequestLimits())] == [36, 4]
