"""Stage 2, fuse: one ranking from several, by reciprocal rank fusion unless another strategy is chosen."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from kgagent.errors import InputError
from kgagent.models.hybrid import FusedRetriever, FusionStrategy
from kgagent.retrieval.candidates import RETRIEVERS, Candidate, Rankings, first_of_each, first_retrievers
from kgagent.retrieval.fusion_strategies import STRATEGIES

RRF_K = 60
"""Constant of Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion", SIGIR 2009."""

ItemT = TypeVar("ItemT")


def fuse(
    rankings: Rankings,
    *,
    strategy: FusionStrategy = "rrf",
    limit: int | None = None,
    weights: Mapping[FusedRetriever, float] | None = None,
    k: int = RRF_K,
) -> list[Candidate]:
    """Fuse rankings.

    Args:
        rankings: each best first; if an item is in one twice, the first counts.
        strategy: `rrf` sums 1 / (k + rank); `weighted` sums weighted scores; `interleave` takes one item of each
            ranking in turn; `graph_first` and `text_first` put that ranking of nodes first, then relationships, then
            the other.
        limit: maximum number of items; None keeps all.
        weights: for `weighted`; they are divided by their sum.
        k: for `rrf`; 0 or less means 60.

    Returns:
        Each item once, best first, with what all its retrievers know of it; equal scores are ordered by retriever and
        then by key.

    Raises:
        InputError: the strategy is unknown, or the weights are invalid.
    """
    lists = {name: list(first_of_each(rankings.get(name, ())).values()) for name in RETRIEVERS}
    if strategy == "rrf":
        scores = _reciprocal(lists, k if k > 0 else RRF_K)
    elif strategy in STRATEGIES:
        scores = STRATEGIES[strategy](lists, weights)
    else:
        raise InputError(f"strategy must be one of {', '.join(('rrf', *STRATEGIES))}, got {strategy!r}")
    finds: dict[str, list[tuple[FusedRetriever, Candidate]]] = {}
    for name in RETRIEVERS:
        for item in lists[name]:
            finds.setdefault(item.key, []).append((name, item))
    return [_merged(finds[key], score) for key, score in scores[:limit]]


def reciprocal_rank_fusion(
    rankings: Iterable[Sequence[tuple[ItemT, int]]], *, tie_break: Callable[[ItemT], Any], k: int = RRF_K
) -> list[tuple[ItemT, float]]:
    """Fuse rankings by rank alone: score = Σ 1 / (k + rank).

    Args:
        rankings: items with their ranks, from 1; an item may be in any number of rankings.
        tie_break: orders items of equal score, so that repeated searches return the same order.
        k: dampens the weight of the first ranks.

    Returns:
        Each item once with its score, best first.
    """
    parts: dict[ItemT, list[float]] = {}
    for ranking in rankings:
        for item, rank in ranking:
            parts.setdefault(item, []).append(1.0 / (k + rank))
    # fsum does not depend on the order of the rankings, so equal items get equal scores.
    scores = {item: math.fsum(of_item) for item, of_item in parts.items()}
    return sorted(scores.items(), key=lambda scored: (-scored[1], tie_break(scored[0])))


def _reciprocal(lists: Rankings, k: int) -> list[tuple[str, float]]:
    first = first_retrievers(lists)
    ranks = [[(item.key, rank) for rank, item in enumerate(items, start=1)] for items in lists.values()]
    return reciprocal_rank_fusion(ranks, tie_break=lambda key: (first[key], key), k=k)


def _merged(finds: Sequence[tuple[FusedRetriever, Candidate]], score: float) -> Candidate:
    """One item from what its retrievers know of it; where two know the same, the first counts."""
    items = [item for _, item in finds]
    return Candidate(
        items[0].key,
        score,
        record=items[0].record,
        similarity=next((item.similarity for item in items if item.similarity is not None), None),
        text_score=next((item.text_score for item in items if item.text_score is not None), None),
        path=next((item.path for item in items if item.path), ()),
        found_by=tuple(name for name, _ in finds),
    )
