import pytest

from kgagent.retrieval.similar_nodes import are_similar_names


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
