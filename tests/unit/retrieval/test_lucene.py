import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgagent.retrieval.lucene import MOST_WORDS, any_word, must_be, words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("warm mentors", ["warm", "mentors"]),
        ("Mentor mentor MENTOR", ["Mentor"]),
        ('"(mentor" AND [x TO *]~2', ["mentor", "x", "2"]),
        ("mentor:friend/foe", ["mentor", "friend", "foe"]),
        ("don't", ["don't", "don", "t"]),
        ("who is the mentor", ["mentor"]),
        ("who is the", ["who", "is", "the"]),
        ("a🎉b", ["🎉", "b"]),
        ("我的导师", ["我的", "的导", "导师"]),
        ("师", ["师"]),
        ("работа über", ["работа", "über"]),
        ("?!* (", []),
        ("", []),
    ],
)
def test_a_text_gives_its_words(text: str, found: list[str]) -> None:
    assert sorted(words(text)) == sorted(found)


def test_of_too_many_words_the_longest_are_kept() -> None:
    text = " ".join(f"w{number}" for number in range(3_000)) + " mentorship"
    assert len(words(text)) == MOST_WORDS
    assert "mentorship" in words(text)


def test_a_text_without_words_has_no_query() -> None:
    assert any_word(" ?! ", {"name": 1.0}) is None


def test_words_are_looked_for_in_each_field() -> None:
    assert any_word("warm mentor", {"name": 2.0, "notes": 1.0}) == 'name:("warm" "mentor")^2 notes:("warm" "mentor")^1'


def test_a_value_is_a_phrase_whatever_it_holds() -> None:
    assert must_be("user_id", ['a" OR x:"\\']) == r'+user_id:("a\" OR x:\"\\")^0'


@given(st.text())
def test_no_text_leaves_its_quotes(text: str) -> None:
    query = any_word(text, {"name": 1.0})
    if query is not None:
        inside = query.removeprefix("name:(").removesuffix(")^1")
        phrases = inside.split(" ")
        assert all(phrase[0] == phrase[-1] == '"' and '"' not in phrase[1:-1] for phrase in phrases)
