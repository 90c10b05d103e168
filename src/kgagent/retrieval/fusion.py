"""Reciprocal rank fusion of several rankings."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

RRF_K = 60
"""Constant of Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion", SIGIR 2009."""

ItemT = TypeVar("ItemT")


def reciprocal_rank_fusion(
    rankings: Iterable[Sequence[tuple[ItemT, int]]], *, tie_break: Callable[[ItemT], Any], k: int = RRF_K
) -> list[tuple[ItemT, float]]:
    """Fuse rankings: score = Σ 1 / (k + rank).

    Args:
        rankings: in each, items with their rank, from 1; an item may stand in any number of rankings.
        tie_break: orders items of one score, so that the same search answers the same.
        k: how little the very first ranks count.

    Returns:
        Each item once with its score, best first.
    """
    parts: dict[ItemT, list[float]] = {}
    for ranking in rankings:
        for item, rank in ranking:
            parts.setdefault(item, []).append(1.0 / (k + rank))
    # A sum that depended on the order of the rankings would tell apart items that score the same.
    scores = {item: math.fsum(of_item) for item, of_item in parts.items()}
    return sorted(scores.items(), key=lambda scored: (-scored[1], tie_break(scored[0])))
