"""Cutting a source into parts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgagent.ingestion import Source, Turn
from kgagent.ingestion.parts import CONTEXT_TOKENS, cut
from kgagent.models.llm_context import estimated_tokens

MOST = 60
WORDS = st.text(st.characters(categories=("L", "N", "P", "Z"), include_characters="\n"), min_size=1, max_size=900)


def letters(text: str) -> str:
    return "".join(text.split())


@given(WORDS.filter(lambda text: text.strip()))
def test_parts_hold_all_of_a_text_in_order_and_none_is_too_long(text: str) -> None:
    source = Source(name="x", text=text)
    parts = cut(source, MOST)
    assert letters("".join(part.text for part in parts)) == letters(source.text)
    assert [part.position for part in parts] == list(range(len(parts)))
    for part in parts:
        assert estimated_tokens(part.text) <= MOST
        assert estimated_tokens(part.before) <= CONTEXT_TOKENS


@given(st.lists(st.tuples(st.sampled_from("AB"), WORDS.filter(lambda text: text.strip())), min_size=1, max_size=6))
def test_parts_hold_all_turns_in_order(said: list[tuple[str, str]]) -> None:
    turns = tuple(Turn(speaker=speaker, text=text) for speaker, text in said)
    parts = cut(Source(name="x", turns=turns), MOST)
    assert letters("".join(part.text for part in parts)) == letters("".join(map(str, turns)))


def test_a_short_source_is_one_part() -> None:
    [part] = cut(Source(name="x", text="One.\n\nTwo."), MOST)
    assert (part.text, part.before) == ("One.\n\nTwo.", "")


def test_turns_and_paragraphs_that_fit_are_not_cut() -> None:
    paragraphs = ["first " * 40, "second " * 40, "third " * 5]
    parts = cut(Source(name="x", text="\n\n".join(paragraphs)), 100)
    assert [part.text.split()[0] for part in parts] == ["first", "second"]
    assert parts[1].text == f"{'second ' * 40}".strip() + "\n\n" + f"{'third ' * 5}".strip()


def test_a_long_paragraph_is_cut_after_sentences() -> None:
    parts = cut(Source(name="x", text="It rained all day long. " * 30), MOST)
    assert all(part.text.endswith("long.") for part in parts)


def test_a_part_tells_the_end_of_the_one_before_it() -> None:
    turns = tuple(Turn(speaker="A", text=f"word{n} " * 20) for n in range(4))
    parts = cut(Source(name="x", turns=turns), MOST)
    assert parts[0].before == ""
    assert parts[1].before
    assert parts[0].text.endswith(parts[1].before)


@pytest.mark.parametrize("text", ["x" * 5_000, "\u6f22" * 3_000])
def test_a_text_without_any_place_to_cut_is_cut_all_the_same(text: str) -> None:
    parts = cut(Source(name="x", text=text), 50)
    assert "".join(part.text for part in parts) == text
