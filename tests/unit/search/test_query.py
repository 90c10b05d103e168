"""What a query says beside its meaning: names, and words of levels."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgagent.ontology import default_ontology
from kgagent.plain_names import folded_words
from kgagent.search.query import TypeWords, long_words, outermost_spans, read_words, spans_of

ONTOLOGY = default_ontology()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("who taught ADA lovelace?", "Ada Lovelace"),
        ("Where was Lukasz Wojcik born", "Łukasz Wójcik"),
        ("谁是张伟的导师", "张伟"),
    ],
)
def test_a_name_is_read_whatever_its_case_and_accents(text: str, name: str) -> None:
    assert spans_of([name], folded_words(text))


@pytest.mark.parametrize(
    ("text", "name"), [("the adamant painter", "Ada"), ("Ada", "Ada Lovelace"), ("Ada's s", "S"), ("anything?", "?!")]
)
def test_a_part_of_a_word_or_name_and_a_single_letter_are_no_name(text: str, name: str) -> None:
    assert not spans_of([name], folded_words(text))


def test_of_names_within_each_other_the_longer_one_is_meant() -> None:
    words = folded_words("did the king see King Lear")
    assert outermost_spans(spans_of(["King", "King Lear", "Lear"], words)) == {(2, 3), (4, 6)}


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 4)).map(lambda span: (span[0], sum(span)))))
def test_every_span_lies_within_an_outermost_one(spans: list[tuple[int, int]]) -> None:
    outermost = outermost_spans(spans)
    for first, end in spans:
        assert any(start <= first and end <= last for start, last in outermost)
    assert outermost <= set(spans)


def test_levels_are_read_by_the_words_of_the_ontology() -> None:
    levels = read_words("Who is hostile to me?", ONTOLOGY).levels
    assert {ONTOLOGY.level_words[level] for level in levels} == {"hostile"}
    assert ("has_relationship_with", "attitude", 1) in levels


def test_a_text_without_the_word_of_a_level_says_none() -> None:
    assert not read_words("Who likes me?", ONTOLOGY).levels


@pytest.mark.parametrize(
    ("word", "relationship_type", "is_named"),
    [("directors", "directed by", True), ("actor", "act", False), ("wrote", "written by", False)],
)
def test_a_word_names_a_type_that_starts_alike(word: str, relationship_type: str, is_named: bool) -> None:
    assert bool(TypeWords([word]).of(relationship_type)) is is_named


def test_of_a_text_without_end_the_first_words_are_read() -> None:
    assert len(long_words(" ".join(f"word{number}" for number in range(100_000)))) <= 200
