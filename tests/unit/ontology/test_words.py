import pytest

from kgagent.errors import InputError
from kgagent.ontology import default_ontology
from tests.support import facts

CASES = [
    (neo4j_type, field, level, word)
    for neo4j_type, fields in facts.WORDS.items()
    for field, words in fields.items()
    for level, word in enumerate(words, start=1)
]


def test_each_kind_has_the_words_of_the_documents() -> None:
    kinds = default_ontology().relationships
    assert {
        name: {"attitude": list(kind.attitude), "proximity": list(kind.proximity)}
        for name, kind in kinds.items()
    } == facts.WORDS | facts.SOURCE_WORDS
    assert list(kinds) == [*facts.WORDS, *facts.SOURCE_WORDS]


@pytest.mark.parametrize(("neo4j_type", "field", "level", "word"), CASES)
def test_a_word_is_found_again_in_any_letter_case(
    neo4j_type: str, field: str, level: int, word: str
) -> None:
    ontology = default_ontology()
    for spelling in (word, word.upper(), word.title(), f"  {word}\n"):
        assert ontology.level(neo4j_type, field, spelling) == level
    assert ontology.word(neo4j_type, field, level) == word


@pytest.mark.parametrize("value", [1, 2, 3, 4, 5, "1", " 5 ", "+3"])
def test_numbers_1_to_5_are_levels(value: int | str) -> None:
    assert default_ontology().level("involves", "attitude", value) == int(value)


@pytest.mark.parametrize("value", [0, 6, -1, 10**30, "0", "6", "-3", "9" * 100])
def test_a_number_out_of_range_is_refused(value: int | str) -> None:
    with pytest.raises(InputError, match=r"^Attitude/proximity must be 1-5, got proximity "):
        default_ontology().level("involves", "proximity", value)


@pytest.mark.parametrize(
    "value", ["very_positive", "", "--5", "+-3", "4.5", "½", "five", "close\0"]
)
def test_any_other_text_is_an_invalid_word(value: str) -> None:
    with pytest.raises(InputError) as refused:
        default_ontology().level("has_relationship_with", "attitude", value)
    assert str(refused.value) == (
        f'Invalid word "{value}" for relationship type "has_relationship_with". '
        "Words of attitude, from 1 to 5: hostile, unfriendly, neutral, friendly, close"
    )


def test_a_word_of_another_kind_or_field_is_invalid() -> None:
    ontology = default_ontology()
    with pytest.raises(InputError, match='Invalid word "passionate"'):
        ontology.level("has_relationship_with", "attitude", "passionate")
    with pytest.raises(InputError, match='Invalid word "expert"'):
        ontology.level("engages_with", "attitude", "expert")


def test_without_a_level_there_is_no_word() -> None:
    ontology = default_ontology()
    assert ontology.level("involves", "attitude", None) is None
    assert ontology.word("involves", "attitude", None) == ""


@pytest.mark.parametrize("level", [0, 6, -1])
def test_an_old_level_out_of_range_has_no_word(level: int) -> None:
    assert default_ontology().word("involves", "attitude", level) == ""
