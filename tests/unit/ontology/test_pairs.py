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
    [(pair, name) for pair, name in (facts.PAIRS | facts.SOURCE_PAIRS).items() if pair[0] != pair[1]],
)
def test_the_reverse_pair_has_the_same_type_reversed(pair: tuple[str, str], neo4j_type: str) -> None:
    assert default_ontology().type_between(pair[1], pair[0]) == (neo4j_type, True)


def test_an_unknown_pair_names_the_pairs_that_exist() -> None:
    with pytest.raises(InputError) as refused:
        default_ontology().type_between("Source", "Source")
    assert str(refused.value).startswith("No relationship type connects Source and Source. Available pairs: ")
    for first, second in facts.PAIRS | facts.SOURCE_PAIRS:
        assert f"{first}-{second}" in str(refused.value)


def test_a_type_that_connects_other_labels_is_rejected() -> None:
    with pytest.raises(InputError, match="No relationship type connects Person and Person"):
        default_ontology().type_between("Person", "Person", "engages_with")


def test_an_unknown_type_is_refused() -> None:
    with pytest.raises(InputError, match=r"^Unsupported relationship type: KNOWS\. Known types: has_relationship_with"):
        default_ontology().type_between("Person", "Person", "KNOWS")


def test_one_of_several_possible_types_must_be_chosen() -> None:
    ontology = ontology_of(likes=("A", "B"), owns=("A", "B"))
    with pytest.raises(InputError, match=r"Several types connect B and A: likes, owns\. Choose one with neo4j_type"):
        ontology.type_between("B", "A")
    assert ontology.type_between("B", "A", "owns") == ("owns", True)


def test_types_in_both_directions_between_two_labels_are_distinguished() -> None:
    ontology = ontology_of(teaches=("A", "B"), asks=("B", "A"))
    assert ontology.type_between("A", "B", "asks") == ("asks", True)
    assert ontology.type_between("A", "B", "teaches") == ("teaches", False)
