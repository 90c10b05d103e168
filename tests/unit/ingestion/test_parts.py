"""Splitting a source into parts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgagent.answers.token_budget import estimated_tokens
from kgagent.ingestion import Source, Turn
from kgagent.ingestion.parts import split_source

MOST = 60
WORDS = st.text(
    st.characters(categories=("L", "N", "P", "Z"), include_characters="\n"),
    min_size=1,
    max_size=900,
)


def letters(text: str) -> str:
    return "".join(text.split())


@given(WORDS.filter(lambda text: text.strip()))
def test_parts_contain_the_whole_text_in_order_and_fit(text: str) -> None:
    source = Source(name="x", text=text)
    parts = split_source(source, MOST)
    assert letters("".join(part.text for part in parts)) == letters(source.text)
    assert [part.number for part in parts] == list(range(1, len(parts) + 1))
    for part in parts:
        assert estimated_tokens(part.text) <= MOST


def test_a_short_source_is_one_part() -> None:
    [part] = split_source(Source(name="x", text="One.\n\nTwo."), MOST)
    assert (part.text, part.preceding_text) == ("One.\n\nTwo.", "")


def test_paragraphs_that_fit_are_not_split() -> None:
    paragraphs = ["first " * 40, "second " * 40, "third " * 5]
    parts = split_source(Source(name="x", text="\n\n".join(paragraphs)), 100)
    assert [part.text.split()[0] for part in parts] == ["first", "second"]
    assert parts[1].text == f"{paragraphs[1]}\n\n{paragraphs[2]}".strip()


def test_long_paragraph_is_split_after_sentences() -> None:
    parts = split_source(Source(name="x", text="It rained all day long. " * 30), MOST)
    assert all(part.text.endswith("long.") for part in parts)


def test_part_repeats_the_end_of_the_previous_part() -> None:
    turns = tuple(Turn(speaker="A", text=f"word{n} " * 20) for n in range(4))
    parts = split_source(Source(name="x", turns=turns), MOST)
    assert parts[0].preceding_text == ""
    assert parts[1].preceding_text
    assert parts[0].text.endswith(parts[1].preceding_text)


@pytest.mark.parametrize("text", ["x" * 5_000, "\u6f22" * 3_000])
def test_text_without_split_points_is_split_by_characters(text: str) -> None:
    parts = split_source(Source(name="x", text=text), 50)
    assert "".join(part.text for part in parts) == text
