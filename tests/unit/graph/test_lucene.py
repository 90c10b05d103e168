import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgagent.graph.lucene import MAX_WORDS, any_word, forms, must_be, words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("warm mentors", ["warm", "mentors"]),
        ('"(mentor" AND [x TO *]~2', ["mentor", "AND", "x", "TO", "2"]),
        ("don't", ["don't", "don", "t"]),
        ("我的导师", ["我的", "的导", "导师"]),
        ("?!* (", []),
        ("4,000 pounds, paid", ["4,000", "4", "000", "pounds", "paid"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("x👨\u200d👩\u200d👧 👍🏽🇩🇪", ["x", "👨\u200d👩\u200d👧", "👍🏽", "🇩🇪"]),
    ],
)
def test_a_text_is_split_into_words(text: str, found: list[str]) -> None:
    assert sorted(words(text)) == sorted(found)


def test_among_too_many_words_the_longest_are_kept() -> None:
    text = " ".join(f"w{number}" for number in range(3_000)) + " mentorship"
    assert len(words(text)) == MAX_WORDS
    assert "mentorship" in words(text)


def test_a_text_without_words_has_no_query() -> None:
    assert any_word(" ?! ", {"name": 1.0}) is None


def test_words_are_searched_in_each_field() -> None:
    assert (
        any_word("12 pm", {"name": 2.0, "notes": 1.0}) == 'name:("12" "pm")^2 notes:("12" "pm")^1'
    )


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("mentor", "mentors"),
        ("families", "family"),
        ("family", "families"),
        ("boss", "bosses"),
    ],
)
def test_a_word_is_also_searched_in_its_other_form(word: str, other: str) -> None:
    assert forms(word) == [word, other]


@pytest.mark.parametrize(
    ("word", "others"),
    [
        ("café", ["cafe\u0301", "cafe"]),
        ("Łukasz", ["lukasz"]),
        ("Þór", ["Þo\u0301r", "thor"]),
        ("李娜", []),
        ("don't", ["don\u2019t"]),
    ],
)
def test_a_word_is_also_searched_in_other_forms_of_its_letters(
    word: str, others: list[str]
) -> None:
    assert forms(word) == [word, *others]


@pytest.mark.parametrize("word", ["it", "4,000", "我的", "🎉"])
def test_a_word_without_another_form_is_searched_unchanged(word: str) -> None:
    assert forms(word) == [word]


def test_any_value_becomes_a_phrase() -> None:
    assert must_be("user_id", ['a" OR x:"\\']) == r'+user_id:("a\" OR x:\"\\")^0'


@given(st.text())
def test_no_text_can_leave_the_quotes(text: str) -> None:
    query = any_word(text, {"name": 1.0})
    if query is not None:
        inside = query.removeprefix("name:(").removesuffix(")^1")
        assert re.fullmatch(r'"[^"]+"( "[^"]+")*', inside)
