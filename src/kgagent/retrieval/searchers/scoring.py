"""How hits of a vector search and of a walk through the graph become one ranking."""

from collections.abc import Mapping
from dataclasses import dataclass

from kgagent.models import HitSource


@dataclass(frozen=True)
class ScoredKey:
    """A node by its key, with its score and what found it; see `SearchHit`."""

    entity_key: str
    score: float
    source: HitSource
    depth: int


def graph_score(depth: int) -> float:
    """What a node counts that is so many hops away: 1 / (1 + depth)."""
    return 1.0 / (1 + depth)


def merged(
    similarities: Mapping[str, float], depths: Mapping[str, int], *, label_order: Mapping[str, int]
) -> list[ScoredKey]:
    """Add up what both searches say of each node.

    Args:
        similarities: plain cosine of each vector hit, by key.
        depths: hops to each node that the graph leads to, by key.
        label_order: place of each node's label in the ontology, by key.

    Returns:
        Each node once, best first; of one score by label order, then by key. The depth of a vector hit is 0.
    """
    scored = [_scored(key, similarities.get(key), depths.get(key)) for key in similarities.keys() | depths.keys()]
    return sorted(scored, key=lambda hit: (-hit.score, label_order[hit.entity_key], hit.entity_key))


def _scored(key: str, similarity: float | None, depth: int | None) -> ScoredKey:
    if similarity is None:
        reached = depth or 0
        return ScoredKey(key, graph_score(reached), "graph", reached)
    if depth is None:
        return ScoredKey(key, similarity, "vector", 0)
    return ScoredKey(key, similarity + graph_score(depth), "hybrid", 0)
