import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgagent.names import name_score


@pytest.mark.parametrize(
    ("wanted", "name", "score"),
    [
        ("John", "john", 1.0),
        ("John", "John Smith", 0.82),
        ("John Smith", "John", 0.82),
        ("Smith Jones", "John Smith", 0.5),
        ("abc", "xyz", 0.0),
        ("Smith John", "John Smith", 0.6),
        ("", "x", 0.0),
        ("x", "  ", 0.0),
        ("STRASSE", "Straße", 1.0),
    ],
)
def test_the_cases_of_the_documents(wanted: str, name: str, score: float) -> None:
    assert name_score(wanted, name) == pytest.approx(score)


@given(st.text(), st.text())
def test_a_score_is_0_to_1_and_the_same_both_ways(one: str, other: str) -> None:
    assert 0.0 <= name_score(one, other) <= 1.0
    assert name_score(one, other) == name_score(other, one)


@given(st.text().filter(lambda text: bool(text.strip())))
def test_a_name_matches_itself_fully(name: str) -> None:
    assert name_score(name, name) == 1.0
