import pytest

from kgagent.errors import InputError
from kgagent.ontology import Ontology, default_ontology
from tests.support import facts

WORDS = ["a", "b", "c", "d", "e"]


def ontology_of(**relationships: tuple[str, str]) -> Ontology:
    labels = {label for pair in relationships.values() for label in pair}
    return Ontology.model_validate(
        {
            "labels": {label: {} for label in sorted(labels)},
            "relationships": {
                name: {"from": pair[0], "to": pair[1], "attitude": WORDS, "proximity": WORDS}
                for name, pair in relationships.items()
            },
            "note_lifetimes_in_days": {"forever": None},
            "default_note_lifetime": "forever",
        }
    )


@pytest.mark.parametrize(("pair", "neo4j_type"), (facts.PAIRS | facts.SOURCE_PAIRS).items())
def test_each_pair_of_labels_has_its_type(pair: tuple[str, str], neo4j_type: str) -> None:
    assert default_ontology().type_between(*pair) == (neo4j_type, False)


@pytest.mark.parametrize(
    ("pair", "neo4j_type"),
    [
        (pair, name)
        for pair, name in (facts.PAIRS | facts.SOURCE_PAIRS).items()
        if pair[0] != pair[1]
    ],
)
def test_the_reverse_pair_has_the_same_type_reversed(
    pair: tuple[str, str], neo4j_type: str
) -> None:
    assert default_ontology().type_between(pair[1], pair[0]) == (neo4j_type, True)


def test_an_unknown_pair_names_the_pairs_that_exist() -> None:
    with pytest.raises(InputError) as refused:
        default_ontology().type_between("Source", "Source")
    assert str(refused.value).startswith(
        "No relationship type connects Source and Source. Available pairs: "
    )
    for first, second in facts.PAIRS | facts.SOURCE_PAIRS:
        assert f"{first}-{second}" in str(refused.value)


def test_a_type_that_connects_other_labels_is_rejected() -> None:
    with pytest.raises(InputError, match="No relationship type connects Person and Person"):
        default_ontology().type_between("Person", "Person", "engages_with")


def test_an_unknown_type_is_refused() -> None:
    with pytest.raises(
        InputError,
        match=r"^Unsupported relationship type: KNOWS\. Known types: has_relationship_with",
    ):
        default_ontology().type_between("Person", "Person", "KNOWS")


def test_one_of_several_possible_types_must_be_chosen() -> None:
    ontology = ontology_of(likes=("A", "B"), owns=("A", "B"))
    with pytest.raises(
        InputError, match=r"Several types connect B and A: likes, owns\. Choose one with neo4j_type"
    ):
        ontology.type_between("B", "A")
    assert ontology.type_between("B", "A", "owns") == ("owns", True)


def test_types_in_both_directions_between_two_labels_are_distinguished() -> None:
    ontology = ontology_of(teaches=("A", "B"), asks=("B", "A"))
    assert ontology.type_between("A", "B", "asks") == ("asks", True)
    assert ontology.type_between("A", "B", "teaches") == ("teaches", False)


def test_the_free_type_decides_among_several_types_if_it_reads_like_one() -> None:
    ontology = ontology_of(ACTED_IN=("Person", "Movie"), DIRECTED=("Person", "Movie"))
    for word in ("acted in", "Acted In", "actedIn", "ACTED_IN"):
        assert ontology.type_between("Movie", "Person", relationship_type=word) == (
            "ACTED_IN",
            True,
        )
    with pytest.raises(InputError, match="Several types connect Person and Movie"):
        ontology.type_between("Person", "Movie", relationship_type="actor in")
    assert (
        ontology.type_between("Person", "Movie", "DIRECTED", relationship_type="acted in")[0]
        == "DIRECTED"
    )


def test_the_only_existing_relationship_decides_among_several_types() -> None:
    ontology = ontology_of(likes=("A", "B"), owns=("A", "B"), eats=("A", "B"))
    assert ontology.type_between("A", "B", existing=["owns"]) == ("owns", False)
    with pytest.raises(InputError, match="Several types"):
        ontology.type_between("A", "B", existing=["owns", "eats"])


def test_a_type_connects_several_pairs_of_labels() -> None:
    ontology = Ontology.model_validate(
        {
            "labels": {"Person": {}, "Movie": {}, "Show": {}},
            "relationships": {
                "ACTED_IN": {
                    "connects": [
                        {"from": "Person", "to": "Movie"},
                        {"from": "Person", "to": "Show"},
                    ]
                },
                "LIKES": {"from": "Person", "to": "Person"},
            },
        }
    )
    assert ontology.type_between("Show", "Person") == ("ACTED_IN", True)
    assert ontology.type_between("Person", "Movie") == ("ACTED_IN", False)
    assert ontology.ambiguous_types == ()
    with pytest.raises(
        InputError, match=r"pairs: Person-Movie, Person-Show \(ACTED_IN\), Person-Person \(LIKES"
    ):
        ontology.type_between("Movie", "Show")


def test_levels_of_a_type_without_words_are_numbers() -> None:
    ontology = Ontology.model_validate(
        {"labels": {"A": {}}, "relationships": {"LIKES": {"from": "A", "to": "A"}}},
    )
    assert ontology.level("LIKES", "attitude", "4") == 4
    assert ontology.word("LIKES", "attitude", 4) == ""
    with pytest.raises(InputError, match=r"Give attitude as 1 to 5"):
        ontology.level("LIKES", "attitude", "close")
    with pytest.raises(InputError, match=r"Attitude/proximity must be 1-5, got attitude 6$"):
        ontology.level("LIKES", "attitude", 6)
    assert ontology.note_lifetimes_in_days == {"forever": None}
