"""Splitting a text into parts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgagent.text_parts import split_text

TEXTS = st.text(
    st.characters(categories=("L", "N", "P", "Z"), include_characters="\n\r\t#:.!? "),
    max_size=900,
)


def texts(text: str, size: int) -> list[str]:
    return [part.text for part in split_text(text, size)]


@given(TEXTS, st.integers(1, 300))
def test_parts_are_slices_that_contain_all_but_white_space(text: str, size: int) -> None:
    parts = split_text(text, size)
    assert "".join("".join(part.text for part in parts).split()) == "".join(text.split())
    end = 0
    for part in parts:
        assert end <= part.start
        end = part.start + len(part.text)
        assert text[part.start : end] == part.text
        assert 0 < len(part.text) <= size
        assert part.text == part.text.strip()


def test_a_short_text_is_one_part_and_a_blank_one_none() -> None:
    [part] = split_text("  One.\n\nTwo.\n", 60)
    assert (part.start, part.text) == (2, "One.\n\nTwo.")
    assert split_text(" \n ", 60) == ()


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("# A\n\nOne. Two.\n\nThree.\n\n## B\n\nFour. Five. Six. Seven.", ["# A", "## B"]),
        (
            "Iris (2026-01-01T18:00): It rained. It did.\n\nRuth: Not here.\n\nThe sun came out.",
            ["Iris", "Ruth"],
        ),
        ("One is short.\nIt has two lines.\n\nTwo is a paragraph.\n\nSo.", ["One", "Two"]),
    ],
)
def test_headings_turns_and_paragraphs_begin_parts(text: str, starts: list[str]) -> None:
    found = texts(text, 52)
    assert [part[: len(start)] for part, start in zip(found, starts, strict=True)] == starts


@pytest.mark.parametrize(
    "sentence",
    [
        "It rained, as J. R. Smith said of Dr. Who, all day\nlong. ",
        "“It rained all day!” ",
        "Is it up? ",
        "一日中雨が降りました。",
    ],
)
def test_sentences_are_not_split(sentence: str) -> None:
    parts = texts(sentence * 30, 140)
    assert len(parts) > 1
    assert all(len(part + sentence[-1:]) % len(sentence) <= 1 for part in parts)
    assert all(part.startswith(sentence[:5]) for part in parts)
    assert all(part.endswith(sentence.strip()[-5:]) for part in parts)


@pytest.mark.parametrize("text", ["x" * 300_000, "漢" * 300_000])
def test_text_without_split_points_is_cut(text: str) -> None:
    assert {len(part) for part in texts(text, 8_000)} == {8_000, 4_000}
