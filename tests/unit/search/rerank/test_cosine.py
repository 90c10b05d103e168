import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgagent.search.rerank.cosine import cosine

vectors = st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=3)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ([1, 0, 0], [1, 0, 0], 1.0),
        ([1, 0, 0], [0, 1, 0], 0.0),
        ([1, 0, 0], [-1, 0, 0], -1.0),
        ([1, 1], [1, 0], 0.5**0.5),
        ([2, 0, 0], [10, 0, 0], 1.0),
    ],
)
def test_cosine_is_that_of_the_angle_whatever_the_lengths(
    one: list[float], other: list[float], expected: float
) -> None:
    assert cosine(one, other) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param([0, 0, 0], [1, 0, 0], id="zero vector"),
        pytest.param([1, 0, 0], [0, 0, 0], id="zero vector last"),
        pytest.param([1, 0], [1, 0, 0], id="different dimensions"),
        pytest.param([], [], id="no dimensions"),
        pytest.param([float("inf"), 1], [1, 1], id="not finite"),
    ],
)
def test_cosine_of_degenerate_vectors_is_0(one: list[float], other: list[float]) -> None:
    assert cosine(one, other) == 0.0


def test_very_long_and_very_short_vectors_neither_overflow_nor_vanish() -> None:
    assert cosine([1e200, 1e200], [1e-200, 0]) == pytest.approx(0.5**0.5)


@given(vectors, vectors)
def test_cosine_is_the_same_both_ways_and_within_its_range(
    one: list[float], other: list[float]
) -> None:
    assert cosine(one, other) == cosine(other, one)
    assert -1.0 <= cosine(one, other) <= 1.0
