"""The score of a candidate: a weighted sum of features, each between 0 and 1.

    score = Σ weight · feature / Σ weight

No weight is negative, so a candidate that is at least as good as another in every feature never scores less. A
relationship is scored by the best path through it, a path being the relationship itself or the relationships that lead
from a match to it and beyond. `benchmarks/fit_weights.py` fits the weights.
"""

import math
from collections.abc import Iterable, Sequence
from operator import mul
from typing import NamedTuple

MAX_HOPS_SCORED = 3
"""Hops after which `nearness` is 0."""

NAMED_NODES = 2
"""Named nodes on a path that give the full feature: a question about more than two nodes is rare."""


class Features(NamedTuple):
    """What the score of a candidate is made of, each 0 to 1.

    Attributes:
        similarity: plain cosine with the query of its best text, its own or a note, or of that of the relationship that
            its path starts with.
        clarity: 1, less what the choices along its path cost; see `expand_hop.cypher`.
        nearness: 1 - hops / 3.
        named: nodes on its path that the query names; one that has many relationships counts less.
        level: whether the query has the ontology's word for its attitude or proximity.
        type_words: share of the query's words that name types which the types of its path account for; 0 if none names
            the type of the last one. Of a node, its full-text score relative to the best match, times the share of the
            query's words that it has.
        words: share of the query's words that its best note or description has, with the names and the type of its
            record; of what a path led to, that of the relationship that the path starts with. See `statements.py`.
    """

    similarity: float = 0.0
    clarity: float = 1.0
    nearness: float = 1.0
    named: float = 0.0
    level: float = 0.0
    type_words: float = 0.0
    words: float = 0.0


WEIGHTS = Features(
    similarity=0.8,
    clarity=1.2,
    nearness=0.2,
    named=0.8,
    level=0.25,
    type_words=0.25,
    words=0.15,
)
"""The weight of each feature."""


FEATURES: tuple[str, ...] = Features._fields


def score(features: Features, weights: Features = WEIGHTS) -> float:
    """The weighted mean of the features, 0 to 1."""
    return math.fsum(map(mul, weights, features)) / math.fsum(weights)


def share_of_weight(feature: str, weights: Features = WEIGHTS) -> float:
    """How much a feature that grows by 1 adds to the score."""
    return float(getattr(weights, feature)) / math.fsum(weights)


def similarity_feature(similarity: float | None) -> float:
    """A plain cosine as a feature: negative and unknown ones count 0."""
    return min(1.0, max(0.0, similarity or 0.0))


def clarity(doubts: Iterable[float]) -> float:
    """Clarity of a path from the doubt of each of its choices, in units of cosine."""
    return min(1.0, max(0.0, 1.0 - math.fsum(doubts)))


def nearness(hops: int) -> float:
    """Nearness of what is reached after some hops."""
    return max(0.0, 1.0 - hops / MAX_HOPS_SCORED)


def specificity(degree: int, relationships: int) -> float:
    """How much it says that the query names a node: 1 for a leaf, 0 for a node with all relationships.

    Args:
        degree: number of relationships of the node.
        relationships: number of relationships of the user.
    """
    most = max(relationships, degree, 2)
    return 1.0 - math.log(max(1, degree)) / math.log(most)


def named(values: Iterable[float]) -> float:
    """The feature for the named nodes of a path, from the value of each, 0 to 1."""
    return min(1.0, math.fsum(values) / NAMED_NODES)


def share(matched: int, total: int) -> float:
    """A share that is 0 if there is nothing to match."""
    return matched / total if total else 0.0


def relative(scores: Sequence[float]) -> list[float]:
    """Scores of full-text search relative to the best of them."""
    best = max(scores, default=0.0)
    return [one / best if best > 0.0 else 0.0 for one in scores]
