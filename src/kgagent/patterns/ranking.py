"""Scores of paths, with explanations.

`hops` is the number of relationships of a path. The components are

- weight: the sum of `weight_property` over the relationships; 1 if the property is not a number.
- centrality: the mean over the nodes of ln(1 + degree), where the degree is the number of a node's
  relationships with nodes of the same user (degree centrality; L. C. Freeman, "Centrality in social
  networks", 1978).
- semantic: the mean cosine of the query with the embeddings of the nodes and relationships that
  have one.

PATH_LENGTH is 1 / hops; EDGE_WEIGHT, NODE_CENTRALITY and SEMANTIC_SCORE are the components. HYBRID
is the mean, weighted by `weights`, of 1 / hops, weight / (hops + weight), centrality / (1 +
centrality) and (1 + semantic) / 2, each 0 to 1; semantic is omitted without a query, or if no
element of the path has an embedding.

A path with a past relationship has 1 less.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from kgagent.formatting import counted
from kgagent.models.pattern_query import HYBRID_WEIGHTS, RankingStrategy, ScoreComponent
from kgagent.search.score import PAST_PATH_COST

SCORE_WITHOUT_EMBEDDING = -1.0
"""SEMANTIC_SCORE of a path without any embedding."""


@dataclass(frozen=True)
class PathMetrics:
    """What the score of a path is computed from; None for what the ranking does not need.

    Attributes:
        hops: number of relationships.
        nodes: number of nodes.
        weight: sum of the weights.
        centrality: mean over the nodes.
        semantic: mean cosine, -1 to 1; None also if no element has an embedding.
        is_past: whether a relationship is past.
    """

    hops: int
    nodes: int
    weight: float | None = None
    centrality: float | None = None
    semantic: float | None = None
    is_past: bool = False

    def to_dict(self) -> dict[str, JsonValue]:
        """The metrics that are known, rounded."""
        parts = {"weight": self.weight, "centrality": self.centrality, "semantic": self.semantic}
        return {
            "hops": self.hops,
            **{name: round(value, 4) for name, value in parts.items() if value is not None},
        }


@dataclass(frozen=True)
class PathRanking:
    """How the paths of one query are ranked.

    Attributes:
        strategy: the formula.
        weights: weights of the components, for HYBRID.
        weight_property: relationship property that is the weight.
    """

    strategy: RankingStrategy
    weights: Mapping[ScoreComponent, float] = field(default_factory=lambda: HYBRID_WEIGHTS)
    weight_property: str = "weight"

    def needs(self, component: ScoreComponent) -> bool:
        """Whether the score depends on a component."""
        if self.strategy is RankingStrategy.HYBRID:
            return self.weights.get(component, 0.0) > 0.0
        components: Mapping[RankingStrategy, ScoreComponent] = {
            RankingStrategy.EDGE_WEIGHT: "weight",
            RankingStrategy.NODE_CENTRALITY: "centrality",
            RankingStrategy.SEMANTIC_SCORE: "semantic",
        }
        return components.get(self.strategy) == component

    def score(self, metrics: PathMetrics) -> float:
        """The score of a path; greater is better."""
        return self._value(metrics) - PAST_PATH_COST * metrics.is_past

    def _value(self, metrics: PathMetrics) -> float:
        if self.strategy is RankingStrategy.EDGE_WEIGHT:
            return metrics.weight or 0.0
        if self.strategy is RankingStrategy.NODE_CENTRALITY:
            return metrics.centrality or 0.0
        if self.strategy is RankingStrategy.SEMANTIC_SCORE:
            return SCORE_WITHOUT_EMBEDDING if metrics.semantic is None else metrics.semantic
        if self.strategy is RankingStrategy.PATH_LENGTH:
            return 1.0 / metrics.hops
        return sum(value * share for value, share in self._shares(metrics).values())

    def explain(self, metrics: PathMetrics) -> str:
        """How the score was computed."""
        length = counted(metrics.hops, "relationship")
        if self.strategy is RankingStrategy.HYBRID:
            shares = self._shares(metrics).items()
            why = (
                " + ".join(f"{part} {value:.2f} x {share:.2f}" for part, (value, share) in shares)
                or "no component"
            )
        elif self.strategy is RankingStrategy.PATH_LENGTH:
            why = f"1 / {length}"
        elif self.strategy is RankingStrategy.EDGE_WEIGHT:
            why = f"sum of {self.weight_property} over {length}"
        elif self.strategy is RankingStrategy.NODE_CENTRALITY:
            why = f"mean of ln(1 + degree) over {metrics.nodes} nodes"
        elif metrics.semantic is None:
            why = "no node or relationship of the path has an embedding"
        else:
            why = "mean cosine of the query with the nodes and relationships"
        past = f" - {PAST_PATH_COST:g} as it is not current" if metrics.is_past else ""
        return f"{self.strategy} {self.score(metrics):.3f}: {why}{past}"

    def _shares(self, metrics: PathMetrics) -> dict[ScoreComponent, tuple[float, float]]:
        """For HYBRID, each known component, scaled to 0 to 1, with its share of the sum of
        weights.
        """
        hops, weight, centrality = metrics.hops, metrics.weight, metrics.centrality
        components: dict[ScoreComponent, float | None] = {
            "semantic": None if metrics.semantic is None else (1.0 + metrics.semantic) / 2.0,
            "length": 1.0 / hops,
            "weight": None if weight is None else max(weight, 0.0) / (hops + max(weight, 0.0)),
            "centrality": None if centrality is None else centrality / (1.0 + centrality),
        }
        known = {
            name: value
            for name, value in components.items()
            if value is not None and self.needs(name)
        }
        total = sum(self.weights[name] for name in known) or 1.0
        return {name: (value, self.weights[name] / total) for name, value in known.items()}
