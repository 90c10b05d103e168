"""Fusion strategies of the documents, beside the default score: rrf, weighted, interleave,
graph_first, text_first.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import get_args

from kgagent.errors import InputError
from kgagent.models.hybrid import FusedRetriever, Retriever
from kgagent.search.candidates import Candidate, first_of_each, merged, retrievers_of

RRF_K = 60
"""Constant of Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion", SIGIR 2009."""

FUSED: tuple[FusedRetriever, ...] = get_args(FusedRetriever)
"""The retrievers in the order that breaks ties."""

Rankings = Mapping[Retriever, Sequence[Candidate]]
"""Candidates of each retriever, best first."""

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
    rankings: Rankings, *, strategy: str, weights: Weights | None = None, k: int = RRF_K
) -> list[Candidate]:
    """Fuse rankings.

    Args:
        rankings: each best first; if an item is in one twice, the first counts.
        strategy: see `HybridSearchRequest.strategy`.
        weights: for `weighted`; they are divided by their sum.
        k: for `rrf`; 0 or less means 60.

    Returns:
        Each item once, best first, with what all its retrievers know of it; equal scores are
        ordered by retriever and then by key.

    Raises:
        InputError: the strategy is unknown, or the weights are invalid.
    """
    lists: dict[Retriever, Sequence[Candidate]] = {
        name: list(first_of_each(rankings.get(name, ())).values()) for name in FUSED
    }
    if strategy == "rrf":
        scores = reciprocal(lists, k if k > 0 else RRF_K)
    elif strategy in STRATEGIES:
        scores = STRATEGIES[strategy](lists, weights)
    else:
        known = ", ".join(("calibrated", "rrf", *STRATEGIES))
        raise InputError(f"strategy must be one of {known}, got {strategy!r}")
    every = merged(item for name in FUSED for item in lists[name])
    found_by = retrievers_of(lists)
    return [replace(every[key], score=score, found_by=found_by[key]) for key, score in scores]


def reciprocal(lists: Rankings, k: int) -> Scores:
    """Reciprocal rank fusion: score = Σ 1 / (k + rank)."""
    parts: dict[str, list[float]] = {}
    for items in lists.values():
        for rank, item in enumerate(items, start=1):
            parts.setdefault(item.key, []).append(1.0 / (k + rank))
    # fsum does not depend on the order of the rankings, so equal items get equal scores.
    return _sorted({key: math.fsum(own) for key, own in parts.items()}, lists)


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
    scores: dict[str, float] = {}
    for name in FUSED:
        share = _weight(name, weights) / total
        for item in lists[name]:
            scores[item.key] = scores.get(item.key, 0.0) + share * item.score
    return _sorted(scores, lists)


def _sorted(scores: Mapping[str, float], lists: Rankings) -> Scores:
    """Best first; equal scores by retriever and then by key."""
    first = {key: FUSED.index(names[0]) for key, names in retrievers_of(lists).items()}
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
