import pytest

from kgagent.retrieval.similar_nodes import are_similar_names, may_be_same


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Harvest fair (June)", "Village harvest fair 2023"),
        ("Anna", "Anna Smith"),
        ("Dr. Anna Smith", "anna smith"),
        ("Jon Smith", "John Smith"),
        ("Will Ladislav", "Will Ladislaw"),
    ],
)
def test_names_of_the_same_thing_are_similar(one: str, other: str) -> None:
    assert are_similar_names(one, other)
    assert are_similar_names(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Anna Smith", "Anna Jones"),
        ("Chapter 1", "Chapter 2"),
        ("Harvest fair 2022", "Village harvest fair 2023"),
        ("Book fair", "Harvest fair"),
        ("Al", "Bo"),
        ("", "Bo"),
        ("?!", "?!"),
    ],
)
def test_other_names_are_not(one: str, other: str) -> None:
    assert not are_similar_names(one, other)
    assert not are_similar_names(other, one)


@pytest.mark.parametrize(("one", "other"), [("Kantorei Kassel", "Kassel"), ("Parkklinik Leipzig", "Leipzig")])
def test_a_word_that_specifies_a_thing_is_no_similar_name_unless_of_a_person(one: str, other: str) -> None:
    for names in ((one, other), (other, one)):
        assert not are_similar_names(*names, of_people=False)
        assert not may_be_same(*names, of_people=False)
        assert are_similar_names(*names)


@pytest.mark.parametrize(
    ("one", "other"),
    [("Nordwind", "Nordwind Energie"), ("the bakery", "The Bakery (Husum)"), ("Rehazentrum", "rehazentrum")],
)
def test_a_name_that_begins_another_is_similar(one: str, other: str) -> None:
    for names in ((one, other), (other, one)):
        assert are_similar_names(*names, of_people=False)
        assert may_be_same(*names, of_people=False)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Dr. R. Voss", "Renate Voss"),
        ("Rajiv", "Rajeev"),
        ("Katrin", "Katrin Hofmann"),
        ("Zoe Muller", "Zoë Müller"),
    ],
)
def test_nodes_with_similar_embeddings_and_names_may_be_the_same(one: str, other: str) -> None:
    assert may_be_same(one, other)
    assert may_be_same(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Hamburg", "Kassel"),
        ("Ørsted", "Nordwind Energie"),
        ("Katrin", "Brigitte Hofmann"),
        ("Katrin Hofmann", "Brigitte Hofmann"),
        ("Marc Feldmann", "Marc Oyelaran"),
        ("", "Bo"),
    ],
)
def test_nodes_with_similar_embeddings_and_other_names_are_not(one: str, other: str) -> None:
    assert not may_be_same(one, other)
    assert not may_be_same(other, one)
