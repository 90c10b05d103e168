"""Which names a text holds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kgagent.retrieval.anchors import consists_of_names
from kgagent.retrieval.mentions import capitalized_phrases, mentioned_names, without_names


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("who taught ada lovelace?", "Ada Lovelace"),
        ("Where was Iva Mihanovic born", "Iva Mihanović"),
        ("Who wrote home, James (film)?", "Home James (Film)"),
        ("in der STRASSE", "Straße"),
        ("张伟的导师是谁", "张伟"),
        ("what happened in 1984?", "1984"),
    ],
)
def test_a_name_is_found_whatever_its_case_accents_and_punctuation(text: str, name: str) -> None:
    assert mentioned_names(text, [name]) == {name}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("the adamant painter", "Ada"),
        ("Lovelace, Ada", "Ada Lovelace"),
        ("Ada's s", "S"),
        ("Ada", "Ada Lovelace"),
        ("anything?", "?!"),
        ("anything", ""),
        ("", "Ada"),
    ],
)
def test_part_of_a_word_or_name_is_not_a_mention(text: str, name: str) -> None:
    assert mentioned_names(text, [name]) == set()


def test_a_name_inside_a_longer_one_is_not_mentioned() -> None:
    assert mentioned_names("who wrote King Lear", ["King", "King Lear", "Lear"]) == {"King Lear"}


def test_a_name_that_also_occurs_alone_is_mentioned() -> None:
    assert mentioned_names("did the king see King Lear", ["King", "King Lear"]) == {"King", "King Lear"}


def test_names_that_fold_to_the_same_words_are_all_found() -> None:
    assert mentioned_names("call ann", ["Ann", "ANN", "Bob"]) == {"Ann", "ANN"}


@pytest.mark.parametrize(
    ("query", "rest"),
    [
        ("Who directed My Left Foot?", "Who directed"),
        ("Who is Magnus De La Gardie's grandmother?", "Who is grandmother"),
        ("was Molokai: The Story of Damien or Brahma released first?", "was or released first"),
        ("whom did I meet on Monday?", "whom did I meet on Monday?"),
        ("Ada Lovelace", "Ada Lovelace"),
        ("WHO IS ADA", "WHO IS ADA"),
        ("Ann and Bob quarrel", "Ann and quarrel"),
        ("my mentors", "my mentors"),
        ("", ""),
    ],
)
def test_a_query_without_its_names_is_what_it_asks(query: str, rest: str) -> None:
    assert without_names(query) == rest


@pytest.mark.parametrize(
    ("query", "phrases"),
    [
        ("what languages are the movies of Nat Wachsberger in", ["Nat Wachsberger"]),
        ("who is the Duke of York from?", ["Duke of York"]),
        ("ADA", []),
        ("Ann and Bob Berg quarrel", ["Ann", "Bob Berg"]),
        ("Anne-Marie and \u00c9mile quarrel", ["Anne-Marie", "\u00c9mile"]),
        ("I and Bob quarrel", ["Bob"]),
        ("Ann's and Bob's mothers", ["Ann", "Bob"]),
        ("Who and what is Bob?", ["Bob"]),
    ],
)
def test_a_phrase_ends_with_a_name(query: str, phrases: list[str]) -> None:
    assert capitalized_phrases(query) == phrases


@pytest.mark.parametrize(
    ("phrase", "names", "expected"),
    [
        ("Rocky Graziano", ["Rocky"], False),
        ("Rocky Graziano", ["rocky", "GRAZIANO"], True),
        ("Rocky of Graziano", ["Rocky", "Graziano"], True),
        ("Rocky", ["Rocky Graziano"], False),
    ],
)
def test_a_phrase_is_known_if_names_contain_all_its_words(phrase: str, names: list[str], expected: bool) -> None:
    assert consists_of_names(phrase, names) is expected


@given(st.text(st.characters(max_codepoint=127), max_size=40), st.text(st.characters(max_codepoint=127), max_size=8))
def test_a_name_in_plain_letters_is_found_among_others(text: str, name: str) -> None:
    assert mentioned_names(text, [name]) == mentioned_names(f"{text} \N{GREEK SMALL LETTER OMEGA}", [name])
