"""Fusion strategies of the documents, beside the default score: rrf, weighted, interleave,
graph_first, text_first.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any, TypeVar, get_args

from kgagent.errors import InputError
from kgagent.models.hybrid import FusedRetriever
from kgagent.search.candidates import Candidate, Rankings, first_of_each, first_retrievers

RRF_K = 60
"""Constant of Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion", SIGIR 2009."""

ItemT = TypeVar("ItemT")

FUSED: tuple[FusedRetriever, ...] = get_args(FusedRetriever)
"""The retrievers in the order that breaks ties."""

Weights = Mapping[FusedRetriever, float]
Scores = list[tuple[str, float]]
"""Keys of items with their scores, best first."""

GRAPH_FIRST: tuple[FusedRetriever, ...] = (
    "node_vector",
    "relationship_vector",
    "relationship_fulltext",
    "node_fulltext",
)
TEXT_FIRST: tuple[FusedRetriever, ...] = tuple(reversed(GRAPH_FIRST))

EVEN_WEIGHTS: Weights = {"node_vector": 0.5, "node_fulltext": 0.5}
DEFAULT_WEIGHT_OF: Mapping[FusedRetriever, FusedRetriever] = {
    "relationship_vector": "node_vector",
    "relationship_fulltext": "node_fulltext",
}
"""The retriever that gives its weight to one without a weight of its own."""


def fuse(
    rankings: Rankings,
    *,
    strategy: str,
    weights: Weights | None = None,
    k: int = RRF_K,
    limit: int | None = None,
) -> list[Candidate]:
    """Fuse rankings.

    Args:
        rankings: each best first; if an item is in one twice, the first counts.
        strategy: see `HybridSearchRequest.strategy`.
        weights: for `weighted`; they are divided by their sum.
        k: for `rrf`; 0 or less means 60.
        limit: maximum number of items; None keeps all.

    Returns:
        Each item once, best first, with what all its retrievers know of it; equal scores are
        ordered by retriever and then by key.

    Raises:
        InputError: the strategy is unknown, or the weights are invalid.
    """
    lists = {name: list(first_of_each(rankings.get(name, ())).values()) for name in FUSED}
    scores = by_strategy(strategy, lists, weights, k)
    finds: dict[str, list[tuple[FusedRetriever, Candidate]]] = {}
    for name in FUSED:
        for item in lists[name]:
            finds.setdefault(item.key, []).append((name, item))
    return [_merged(finds[key], score) for key, score in scores][:limit]


def _merged(finds: Sequence[tuple[FusedRetriever, Candidate]], score: float) -> Candidate:
    """One item from what its retrievers know of it; where two know the same, the first counts."""
    (_, first), *others = finds
    similarity, text_score, path = first.similarity, first.text_score, first.path
    for _, item in others:
        similarity = item.similarity if similarity is None else similarity
        text_score = item.text_score if text_score is None else text_score
        path = path or item.path
    return Candidate(
        first.key,
        score,
        first.record,
        similarity,
        text_score,
        path,
        tuple([name for name, _ in finds]),
    )


def by_strategy(name: str, lists: Rankings, weights: Weights | None, k: int) -> Scores:
    """Fuse rankings by one of these strategies.

    Raises:
        InputError: the strategy is unknown, or the weights are invalid.
    """
    if name == "rrf":
        return reciprocal(lists, k if k > 0 else RRF_K)
    if name not in STRATEGIES:
        raise InputError(
            f"strategy must be one of {', '.join(('calibrated', 'rrf', *STRATEGIES))}, got {name!r}"
        )
    return STRATEGIES[name](lists, weights)


def reciprocal_rank_fusion(
    rankings: Iterable[Sequence[tuple[ItemT, int]]],
    *,
    tie_break: Callable[[ItemT], Any],
    k: int = RRF_K,
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


def reciprocal(lists: Rankings, k: int) -> Scores:
    """Reciprocal rank fusion."""
    first = first_retrievers(lists)
    ranks = [
        [(item.key, rank) for rank, item in enumerate(items, start=1)] for items in lists.values()
    ]
    return reciprocal_rank_fusion(ranks, tie_break=lambda key: (first[key], key), k=k)


def weighted(lists: Rankings, weights: Weights | None = None) -> Scores:
    """Sum the scores of each item, each times the share of its retriever.

    Raises:
        InputError: the weights are invalid.
    """
    weights = EVEN_WEIGHTS if weights is None else weights
    total = sum(weights.values())
    if not total > 0.0 or min(weights.values()) < 0.0 or not set(weights) <= set(FUSED):
        raise InputError(
            f"weights must name {', '.join(FUSED)} with numbers from 0, not all 0; got "
            f"{dict(weights)}"
        )
    first = first_retrievers(lists)
    scores = dict.fromkeys(first, 0.0)
    for name, items in lists.items():
        share = _weight(name, weights) / total
        for item in items:
            scores[item.key] += share * item.score
    return sorted(scores.items(), key=lambda scored: (-scored[1], first[scored[0]], scored[0]))


def _weight(name: FusedRetriever, weights: Weights) -> float:
    if name in weights:
        return weights[name]
    return _weight(DEFAULT_WEIGHT_OF[name], weights) if name in DEFAULT_WEIGHT_OF else 0.0


def interleaved(lists: Rankings, _weights: Weights | None = None) -> Scores:
    """Take one item of each ranking in turn, with the score it has there."""
    rows = zip_longest(*(lists[name] for name in FUSED))
    return _scores([item for row in rows for item in row if item is not None])


def _concatenated(order: Sequence[FusedRetriever]) -> Callable[[Rankings, Weights | None], Scores]:
    return lambda lists, _weights: _scores([item for name in order for item in lists[name]])


def _scores(items: Sequence[Candidate]) -> Scores:
    return [(key, item.score) for key, item in first_of_each(items).items()]


STRATEGIES: Mapping[str, Callable[[Rankings, Weights | None], Scores]] = {
    "weighted": weighted,
    "interleave": interleaved,
    "graph_first": _concatenated(GRAPH_FIRST),
    "text_first": _concatenated(TEXT_FIRST),
}
