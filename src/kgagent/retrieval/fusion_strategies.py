"""Fusion strategies besides reciprocal rank fusion: calibrated, weighted, interleave, graph_first and text_first."""

from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest

from kgagent.errors import InputError
from kgagent.models.hybrid import FusedRetriever
from kgagent.retrieval.candidates import RETRIEVERS, Candidate, Rankings, first_of_each, first_retrievers

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

KINDS: tuple[tuple[FusedRetriever, FusedRetriever], ...] = (
    ("node_vector", "node_fulltext"),
    ("relationship_vector", "relationship_fulltext"),
)
"""The vector search and the full-text search of each kind of item."""

TEXT_SHARE = 0.05
"""Weight of a text score, relative to the best match, beside a cosine."""

EVEN_WEIGHTS: Weights = {"node_vector": 0.5, "node_fulltext": 0.5}
DEFAULT_WEIGHT_OF: Mapping[FusedRetriever, FusedRetriever] = {
    "relationship_vector": "node_vector",
    "relationship_fulltext": "node_fulltext",
}
"""The retriever that gives its weight to one without a weight of its own."""


def weighted(lists: Rankings, weights: Weights | None = None) -> Scores:
    """Sum the scores of each item, each times the share of its retriever.

    Raises:
        InputError: the weights are invalid.
    """
    weights = EVEN_WEIGHTS if weights is None else weights
    total = sum(weights.values())
    if not total > 0.0 or min(weights.values()) < 0.0 or not set(weights) <= set(RETRIEVERS):
        raise InputError(
            f"weights must name {', '.join(RETRIEVERS)} with numbers from 0, not all 0; got {dict(weights)}"
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


def calibrated(lists: Rankings, _weights: Weights | None = None) -> Scores:
    """Sort by cosine plus a small share of the text score; an item without a cosine has the least of its kind."""
    first = first_retrievers(lists)
    scores = dict.fromkeys(first, 0.0)
    for semantic, text in KINDS:
        found = {item.key: item.score for item in lists[semantic]}
        least = min(found.values(), default=0.0)
        shares = {item.key: item.score for item in lists[text]}
        for key in found.keys() | shares.keys():
            scores[key] = found.get(key, least) + TEXT_SHARE * shares.get(key, 0.0)
    return sorted(scores.items(), key=lambda scored: (-scored[1], first[scored[0]], scored[0]))


def interleaved(lists: Rankings, _weights: Weights | None = None) -> Scores:
    """Take one item of each ranking in turn, with the score it has there."""
    rows = zip_longest(*(lists[name] for name in RETRIEVERS))
    return _scores([item for row in rows for item in row if item is not None])


def _concatenated(order: Sequence[FusedRetriever]) -> Callable[[Rankings, Weights | None], Scores]:
    return lambda lists, _weights: _scores([item for name in order for item in lists[name]])


def _scores(items: Sequence[Candidate]) -> Scores:
    return [(key, item.score) for key, item in first_of_each(items).items()]


STRATEGIES: Mapping[str, Callable[[Rankings, Weights | None], Scores]] = {
    "calibrated": calibrated,
    "weighted": weighted,
    "interleave": interleaved,
    "graph_first": _concatenated(GRAPH_FIRST),
    "text_first": _concatenated(TEXT_FIRST),
}
