import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgagent.errors import InputError
from kgagent.search.rerank import maximal_marginal_relevance
from kgagent.search.rerank.cosine import cosine

Item = tuple[int, float, Sequence[float] | None]
"""Number, relevance and vector."""

components = st.sampled_from([-1.0, 0.0, 0.5, 1.0])
vectors = st.one_of(st.none(), st.tuples(components, components, components))
relevances = st.sampled_from([-0.5, 0.0, 0.2, 0.2, 0.9])
items_of_any_kind = st.lists(st.tuples(relevances, vectors), max_size=8).map(
    lambda pairs: [(number, relevance, vector) for number, (relevance, vector) in enumerate(pairs)]
)
lambdas = st.sampled_from([0.0, 0.3, 0.5, 0.9, 1.0])


def choose(items: Sequence[Item], k: int, lambda_: float = 0.5) -> list[Item]:
    return maximal_marginal_relevance(
        items, relevance=lambda item: item[1], vector=lambda item: item[2], k=k, lambda_=lambda_
    )


def worth(item: Item, chosen: Sequence[Item], lambda_: float) -> float:
    nearest = max(cosine(item[2] or (), other[2] or ()) for other in chosen)
    return lambda_ * item[1] - (1 - lambda_) * nearest


def test_a_near_duplicate_of_the_best_ranks_below_a_different_item() -> None:
    best, copy, other = (0, 0.9, [1.0, 0.0]), (1, 0.89, [1.0, 0.01]), (2, 0.5, [0.0, 1.0])
    assert choose([best, copy, other], 2) == [best, other]
    assert choose([best, copy, other], 3) == [best, other, copy]


def test_identical_items_are_chosen_once_each_and_late() -> None:
    twin, other = (0, 0.9, [1.0, 0.0]), (1, 0.1, [0.0, 1.0])
    assert choose([twin, twin, other], 3) == [twin, other, twin]
    assert choose([twin, twin], 5) == [twin, twin]


def test_lambda_0_ranks_by_difference_after_the_first() -> None:
    first, near, opposite = (0, 0.9, [1.0, 0.0]), (1, 0.8, [0.9, 0.1]), (2, -0.9, [-1.0, 0.0])
    assert choose([near, first, opposite], 3, lambda_=0.0) == [first, opposite, near]


def test_of_items_that_weigh_the_same_the_first_is_chosen() -> None:
    items = [(number, 0.5, [1.0, 0.0]) for number in range(4)]
    assert choose(items, 4) == items


def test_items_with_vectors_of_another_length_are_similar_to_none() -> None:
    best, copy = (0, 0.9, [1.0, 0.0]), (1, 0.8, [1.0, 0.0])
    for vector in (None, [0.0, 0.0], [1.0, 0.0, 0.0]):
        strange = (2, 0.1, vector)
        assert choose([best, copy, strange], 3) == [best, strange, copy]


@pytest.mark.parametrize(
    ("k", "lambda_", "relevance", "message"),
    [
        (-1, 0.5, 0.1, "k must be 0 or more, got -1"),
        (1, math.nan, 0.1, "lambda_ must be 0 to 1, got nan"),
        (1, 0.5, math.nan, "relevance must be a finite number, got nan"),
    ],
)
def test_invalid_values_are_named(k: int, lambda_: float, relevance: float, message: str) -> None:
    with pytest.raises(InputError, match=message):
        choose([(0, relevance, [1.0])], k, lambda_)


@given(items_of_any_kind, lambdas)
def test_each_choice_is_the_best_remaining_by_the_formula(
    items: list[Item], lambda_: float
) -> None:
    chosen = choose(items, len(items), lambda_)
    for position in range(1, len(chosen)):
        rest = chosen[position:]
        best = max(worth(item, chosen[:position], lambda_) for item in rest)
        assert worth(chosen[position], chosen[:position], lambda_) == pytest.approx(best, abs=1e-9)


@given(items_of_any_kind, lambdas, st.integers(0, 10))
def test_the_most_relevant_comes_first_and_each_item_at_most_once(
    items: list[Item], lambda_: float, k: int
) -> None:
    chosen = choose(items, k, lambda_)
    assert len(chosen) == min(k, len(items))
    assert len({number for number, _, _ in chosen}) == len(chosen)
    assert chosen == choose(items, len(items), lambda_)[:k]
    if chosen:
        assert chosen[0][1] == max(relevance for _, relevance, _ in items)


@given(items_of_any_kind)
def test_lambda_1_is_the_order_of_relevance(items: list[Item]) -> None:
    assert choose(items, len(items), 1.0) == sorted(items, key=lambda item: -item[1])
