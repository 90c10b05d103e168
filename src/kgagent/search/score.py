"""The score of a candidate: one weighted sum of its features.

    score = Σ weight · feature

Three features are costs: their weights are negative. A candidate that is at least as good
as another in every feature, and at most as dear, therefore never scores less.
`kgagent.search.features` computes the features; `benchmarks/fit_weights.py` fits the weights.
"""

import math
from collections.abc import Mapping
from operator import mul
from typing import NamedTuple


class Features(NamedTuple):
    """What a score is made of, each 0 to 1.

    Attributes:
        similarity: plain cosine of the statement with the query; negative ones count 0. Of a path,
            that of the statement that it starts with.
        words: what the query's words in the statement and in the names and the type of its record
            weigh, relative to twice the retrieved statement with most of it; a word weighs what its
            best match in full-text search scores, and less in a text that is longer than a note. A
            path has the words of all its relationships.
        named: how specific the nodes are that the query names, at the record or on the path.
        types: how well the types and levels of the relationships match the words of the query, at a
            named node. Only the best statement of a record has it.
        doubt: cost of the choices along a path, see `expand_hop.cypher`; 0 for what was retrieved.
        hops: hops of the path after its first relationship, as a share of 5; 0 for what was
            retrieved.
        past: 1 if the statement, its relationship or one of the path does not hold on the day of
            the question, having ended or not begun, or if only such relationships join it to a node
            that the query names; a former value is as similar to a question as the present one.
            Where `between` is asked for, 1 if the statement began before it.
    """

    similarity: float = 0.0
    words: float = 0.0
    named: float = 0.0
    types: float = 0.0
    doubt: float = 0.0
    hops: float = 0.0
    past: float = 0.0


WEIGHTS = Features(
    similarity=1.0, words=0.4, named=0.1, types=0.6, doubt=-1.5, hops=-0.4, past=-0.15
)
"""The weight of each feature."""

NO_FEATURES = Features()

PAST_PATH_COST = 1.0
"""What a relationship that is not current costs a path between given nodes or of a pattern: no less
than scores of 0 to 1 differ, so that present paths come first.
"""


def score(features: Features, weights: Features = WEIGHTS) -> float:
    """The weighted sum of the features."""
    return math.fsum(map(mul, weights, features))


def highest_score(weights: Features = WEIGHTS) -> float:
    """The score of a candidate that has every feature in full, at no cost."""
    return math.fsum(weight for weight in weights if weight > 0.0)


def contributions(features: Features, weights: Features = WEIGHTS) -> Mapping[str, float]:
    """What each feature that is not 0 adds to the score; together they are the score."""
    return {
        name: weight * value
        for name, weight, value in zip(Features._fields, weights, features, strict=True)
        if weight * value
    }
