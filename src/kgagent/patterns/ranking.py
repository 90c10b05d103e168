"""How paths are ranked, and why one scored as it did.

`hops` is the number of relationships of a path. The parts are

- weight: the sum of `weight_property` over the relationships; one without a number there counts 1.
- centrality: the mean over the nodes of ln(1 + degree), the degree being the count of a node's relationships with
  nodes of the same user (degree centrality; L. C. Freeman, "Centrality in social networks", 1978).
- semantic: the mean cosine of the query with the embeddings of nodes and relationships, as far as they have any.

PATH_LENGTH is 1 / hops, and the others of that name are the parts. HYBRID is the mean, weighted by `weights`, of
1 / hops, weight / (hops + weight), centrality / (1 + centrality) and (1 + semantic) / 2, each 0 to 1; without a query,
or where nothing on a path has an embedding, the last is left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from kgagent.models.pattern_query import HYBRID_WEIGHTS, RankingStrategy, ScoreComponent

WITHOUT_MEANING = -1.0
"""SEMANTIC_SCORE of a path on which nothing has an embedding."""


@dataclass(frozen=True)
class PathMetrics:
    """What is worked out of one path; None where the ranking does not ask for it.

    Attributes:
        hops: its relationships.
        nodes: its nodes.
        weight: sum of the weights.
        centrality: mean over the nodes.
        semantic: mean cosine, -1 to 1; None too where nothing has an embedding.
    """

    hops: int
    nodes: int
    weight: float | None = None
    centrality: float | None = None
    semantic: float | None = None

    def told(self) -> dict[str, JsonValue]:
        """For a caller to read."""
        parts = {"weight": self.weight, "centrality": self.centrality, "semantic": self.semantic}
        return {"hops": self.hops, **{name: round(value, 4) for name, value in parts.items() if value is not None}}


@dataclass(frozen=True)
class PathRanking:
    """How the paths of one query are ranked.

    Attributes:
        strategy: which formula.
        weights: for HYBRID.
        weight_property: the number on a relationship that is its weight.
    """

    strategy: RankingStrategy
    weights: Mapping[ScoreComponent, float] = field(default_factory=lambda: HYBRID_WEIGHTS)
    weight_property: str = "weight"

    def counts(self, part: ScoreComponent) -> bool:
        """Whether a part has to be worked out."""
        if self.strategy is RankingStrategy.HYBRID:
            return self.weights.get(part, 0.0) > 0.0
        named: Mapping[RankingStrategy, ScoreComponent] = {
            RankingStrategy.EDGE_WEIGHT: "weight",
            RankingStrategy.NODE_CENTRALITY: "centrality",
            RankingStrategy.SEMANTIC_SCORE: "semantic",
        }
        return named.get(self.strategy) == part

    def score(self, figures: PathMetrics) -> float:
        """What a path is ranked by; greater is better."""
        if self.strategy is RankingStrategy.EDGE_WEIGHT:
            return figures.weight or 0.0
        if self.strategy is RankingStrategy.NODE_CENTRALITY:
            return figures.centrality or 0.0
        if self.strategy is RankingStrategy.SEMANTIC_SCORE:
            return WITHOUT_MEANING if figures.semantic is None else figures.semantic
        if self.strategy is RankingStrategy.PATH_LENGTH:
            return 1.0 / figures.hops
        return sum(value * share for value, share in self._shares(figures).values())

    def explain(self, figures: PathMetrics) -> str:
        """Say why a path scored so."""
        length = f"{figures.hops} relationship{'' if figures.hops == 1 else 's'}"
        if self.strategy is RankingStrategy.HYBRID:
            shares = self._shares(figures).items()
            why = " + ".join(f"{part} {value:.2f} x {share:.2f}" for part, (value, share) in shares) or "nothing counts"
        elif self.strategy is RankingStrategy.PATH_LENGTH:
            why = f"1 / {length}"
        elif self.strategy is RankingStrategy.EDGE_WEIGHT:
            why = f"sum of {self.weight_property} over {length}"
        elif self.strategy is RankingStrategy.NODE_CENTRALITY:
            why = f"mean of ln(1 + degree) over {figures.nodes} nodes"
        elif figures.semantic is None:
            why = "nothing on the path has an embedding"
        else:
            why = "mean cosine of the query with what the path is made of"
        return f"{self.strategy} {self.score(figures):.3f}: {why}"

    def _shares(self, figures: PathMetrics) -> dict[ScoreComponent, tuple[float, float]]:
        """For HYBRID, each part from 0 to 1 with its share of the weights, those left out not counted."""
        hops, weight, centrality = figures.hops, figures.weight, figures.centrality
        parts: dict[ScoreComponent, float | None] = {
            "semantic": None if figures.semantic is None else (1.0 + figures.semantic) / 2.0,
            "length": 1.0 / hops,
            "weight": None if weight is None else max(weight, 0.0) / (hops + max(weight, 0.0)),
            "centrality": None if centrality is None else centrality / (1.0 + centrality),
        }
        counted = {part: value for part, value in parts.items() if value is not None and self.counts(part)}
        whole = sum(self.weights[part] for part in counted) or 1.0
        return {part: (value, self.weights[part] / whole) for part, value in counted.items()}
