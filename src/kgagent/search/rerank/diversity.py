"""Diversity: results that are relevant and differ from one another (MMR)."""

import math
from collections.abc import Callable, Sequence

from kgagent.errors import InputError
from kgagent.search.rerank.cosine import dot, unit
from kgagent.search.rerank.reranked import ItemT


def maximal_marginal_relevance(
    items: Sequence[ItemT],
    *,
    relevance: Callable[[ItemT], float],
    vector: Callable[[ItemT], Sequence[float] | None],
    k: int,
    lambda_: float = 0.5,
) -> list[ItemT]:
    """Choose items one by one, each by λ · relevance - (1 - λ) · its greatest cosine with a chosen
    one.

    The first is the most relevant. Ties go to the more relevant item, then to the first.
    Formula: Carbonell and Goldstein, "The Use of MMR, Diversity-Based Reranking", SIGIR 1998.
    Takes time of order items · k · dimensions.

    Args:
        items: what to choose from; an item that occurs twice may be chosen twice.
        relevance: relevance of an item on the scale of a cosine, so not a fusion score.
        vector: vector of an item, shape (dimensions,); one that is None or has another length is
            similar to none.
        k: maximum number of items.
        lambda_: 0 to 1; 1 sorts by relevance, 0 by difference alone after the first item.

    Raises:
        InputError: k is below 0, lambda_ not 0 to 1, or a relevance no finite number.
    """
    if k < 0:
        raise InputError(f"k must be 0 or more, got {k}")
    if not 0.0 <= lambda_ <= 1.0:
        raise InputError(f"lambda_ must be 0 to 1, got {lambda_}")
    relevances = [relevance(item) for item in items]
    for value in relevances:
        if not math.isfinite(value):
            raise InputError(f"relevance must be a finite number, got {value}")
    units = [_unit(vector(item)) for item in items]
    # Nothing is chosen yet.
    nearest = [-math.inf] * len(items)
    left = sorted(range(len(items)), key=lambda position: -relevances[position])
    chosen = left[: min(k, 1)]
    while len(chosen) < min(k, len(items)):
        last = chosen[-1]
        left.remove(last)
        for position in left:
            nearest[position] = max(nearest[position], _cosine(units[position], units[last]))
        # `left` is in order of relevance, and `max` takes the first of several.
        chosen.append(
            max(
                left,
                key=lambda position: (
                    lambda_ * relevances[position] - (1.0 - lambda_) * nearest[position]
                ),
            )
        )
    return [items[position] for position in chosen]


def _unit(vector: Sequence[float] | None) -> Sequence[float]:
    return () if vector is None else unit(vector)


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    return dot(one, other) if len(one) == len(other) else 0.0
