"""Ways to make one ranking of several."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TypeVar, get_args

from kgagent.errors import InputError
from kgagent.models.hybrid import FusedRetriever, FusionStrategy, RetrieverName
from kgagent.retrieval.fusion import RRF_K, reciprocal_rank_fusion

RANKINGS: tuple[FusedRetriever, ...] = get_args(FusedRetriever)
"""The rankings in the order that breaks ties, and that decides where an item is from that stands in several."""

GRAPH_FIRST: tuple[FusedRetriever, ...] = (
    "node_vector",
    "relationship_vector",
    "relationship_fulltext",
    "node_fulltext",
)
TEXT_FIRST: tuple[FusedRetriever, ...] = (
    "node_fulltext",
    "relationship_fulltext",
    "relationship_vector",
    "node_vector",
)

EVEN_WEIGHTS: Mapping[FusedRetriever, float] = {"node_vector": 0.5, "node_fulltext": 0.5}
STANDS_FOR: Mapping[FusedRetriever, FusedRetriever] = {
    "relationship_vector": "node_vector",
    "relationship_fulltext": "node_fulltext",
}
"""Whose weight a ranking has that was given none."""


@dataclass(frozen=True)
class Ranked:
    """An item of one ranking.

    Attributes:
        key: what it is; the same in every ranking that it stands in.
        score: how well that ranking thinks of it; plain cosine, or a text score.
    """

    key: str
    score: float


@dataclass(frozen=True)
class Fused:
    """An item of the one ranking.

    Attributes:
        key: what it is.
        source: the first of the rankings that it stands in, or that it came in with a relationship.
        score: as the strategy counts it.
    """

    key: str
    source: RetrieverName
    score: float


Rankings = Mapping[FusedRetriever, Sequence[Ranked]]
ItemT = TypeVar("ItemT", Ranked, Fused)


def fuse(
    rankings: Rankings,
    *,
    strategy: FusionStrategy = "rrf",
    limit: int | None = None,
    weights: Mapping[FusedRetriever, float] | None = None,
    k: int = RRF_K,
) -> list[Fused]:
    """Make one ranking of several.

    Args:
        rankings: each best first; of an item that stands twice in one, the first counts.
        strategy: `rrf` sums 1 / (k + rank); `weighted` sums weighted scores; `interleave` takes one of each in turn;
            `graph_first` and `text_first` take that ranking, then relationships, then the other.
        limit: items at the most; None keeps all.
        weights: for `weighted`; they are divided by their sum.
        k: for `rrf`; 0 or less is 60.

    Returns:
        Each item once, best first; items of one score by the order of the rankings and then by key.

    Raises:
        InputError: the strategy is unknown, or the weights do not serve.
    """
    lists = {ranking: _each_once(rankings.get(ranking, ())) for ranking in RANKINGS}
    strategies: dict[str, Callable[[], list[Fused]]] = {
        "rrf": lambda: _reciprocal(lists, k if k > 0 else RRF_K),
        "weighted": lambda: _weighted(lists, EVEN_WEIGHTS if weights is None else weights),
        "interleave": lambda: _in_turn(lists),
        "graph_first": lambda: _one_after_another(lists, GRAPH_FIRST),
        "text_first": lambda: _one_after_another(lists, TEXT_FIRST),
    }
    if strategy not in strategies:
        raise InputError(f"strategy must be one of {', '.join(strategies)}, got {strategy!r}")
    return strategies[strategy]()[:limit]


def _reciprocal(lists: Rankings, k: int) -> list[Fused]:
    sources = _sources(lists)
    ranks = [[(item.key, rank) for rank, item in enumerate(items, start=1)] for items in lists.values()]
    fused = reciprocal_rank_fusion(ranks, tie_break=lambda key: (RANKINGS.index(sources[key]), key), k=k)
    return [Fused(key, sources[key], score) for key, score in fused]


def _weighted(lists: Rankings, weights: Mapping[FusedRetriever, float]) -> list[Fused]:
    total = sum(weights.values())
    if not total > 0.0 or min(weights.values()) < 0.0 or not set(weights) <= set(RANKINGS):
        raise InputError(f"weights must name {', '.join(RANKINGS)} with numbers from 0, not all 0; got {dict(weights)}")
    sources = _sources(lists)
    scores = dict.fromkeys(sources, 0.0)
    for ranking, items in lists.items():
        share = _weight(ranking, weights) / total
        for item in items:
            scores[item.key] += share * item.score
    fused = [Fused(key, source, scores[key]) for key, source in sources.items()]
    return sorted(fused, key=lambda item: (-item.score, RANKINGS.index(sources[item.key]), item.key))


def _weight(ranking: FusedRetriever, weights: Mapping[FusedRetriever, float]) -> float:
    if ranking in weights:
        return weights[ranking]
    return _weight(STANDS_FOR[ranking], weights) if ranking in STANDS_FOR else 0.0


def _in_turn(lists: Rankings) -> list[Fused]:
    columns = ([Fused(item.key, ranking, item.score) for item in lists[ranking]] for ranking in RANKINGS)
    return _each_once(item for row in zip_longest(*columns) for item in row if item is not None)


def _one_after_another(lists: Rankings, order: Sequence[FusedRetriever]) -> list[Fused]:
    return _each_once(Fused(item.key, ranking, item.score) for ranking in order for item in lists[ranking])


def _sources(lists: Rankings) -> dict[str, FusedRetriever]:
    sources: dict[str, FusedRetriever] = {}
    for ranking in RANKINGS:
        for item in lists[ranking]:
            sources.setdefault(item.key, ranking)
    return sources


def _each_once(items: Iterable[ItemT]) -> list[ItemT]:
    first: dict[str, ItemT] = {}
    for item in items:
        first.setdefault(item.key, item)
    return list(first.values())
