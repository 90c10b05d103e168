"""Scores the paths that matched: reads what their nodes and relationships contribute, each once."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from kgagent.concurrency import task_group
from kgagent.embedding.base import Embedder
from kgagent.errors import StatementTimeoutError
from kgagent.graph.statements import statement
from kgagent.patterns.plans import QueryPlan
from kgagent.patterns.ranking import PathMetrics, PathRanking
from kgagent.patterns.reads import UserReads

BATCH = 1_000
"""Paths that are scored together; the time limit is checked between batches."""

Contribution = tuple[float, float | None]
"""Centrality of a node, or weight of a relationship, and the cosine with the query (None without an embedding)."""

Hop = tuple[str, str]
"""Ids of a relationship of a path, and of the node before it."""


@dataclass(frozen=True)
class PathMatch:
    """A path that a plan matched, by the element ids of the database.

    Attributes:
        nodes: ids of the nodes, from start to end.
        relationships: ids of the relationships between them.
        lengths: number of relationships that each step followed.
        at: id of the node for which only the best path is kept; None if all paths are kept.
    """

    nodes: tuple[str, ...]
    relationships: tuple[str, ...]
    lengths: tuple[int, ...]
    at: str | None

    @property
    def hops(self) -> tuple[Hop, ...]:
        """Its relationships, each with the node before it."""
        return tuple(zip(self.relationships, self.nodes, strict=False))


@dataclass(frozen=True)
class ScoredPath:
    """A path with its score.

    Attributes:
        plan: plan that matched it.
        path: the path.
        metrics: what the score is computed from.
        score: what paths are ranked by.
    """

    plan: QueryPlan
    path: PathMatch
    metrics: PathMetrics
    score: float

    @property
    def sort_key(self) -> tuple[bool, float, int, tuple[str, ...], tuple[str, ...]]:
        """Sorts the best path first; of equal scores, the shorter one."""
        return not self.metrics.is_scored, -self.score, self.metrics.hops, self.path.nodes, self.path.relationships

    @property
    def identity(self) -> tuple[object, ...]:
        """Equal for paths of which only the best is kept."""
        return (self.plan.pattern_id, self.path) if self.path.at is None else (self.path.at,)


@dataclass(frozen=True)
class PathScorer:
    """Computes the metrics of paths.

    Attributes:
        reads: reads of the user's graph; when it runs out of time, the remaining paths are not scored.
        embedder: says which stored embeddings can be compared with the query.
        ranking: which components are needed.
        vector: embedding of the query, shape (dimensions,); None without a query.
    """

    reads: UserReads
    embedder: Embedder
    ranking: PathRanking
    vector: Sequence[float] | None
    _nodes: dict[str, Contribution] = field(default_factory=dict)
    _relationships: dict[str, Contribution] = field(default_factory=dict)

    async def metrics(self, paths: Collection[PathMatch]) -> dict[PathMatch, PathMetrics]:
        """Compute the metrics of all paths, shortest paths first.

        Raises:
            StoreError: the database failed, other than by reaching the time limit.
        """
        ordered = sorted(dict.fromkeys(paths), key=lambda path: len(path.relationships))
        metrics: dict[PathMatch, PathMetrics] = {}
        for first in range(0, len(ordered), BATCH):
            batch = ordered[first : first + BATCH]
            try:
                await self._read(batch)
            except StatementTimeoutError:
                break
            metrics |= {path: self._of(path) for path in batch}
        for path in ordered[len(metrics) :]:
            metrics[path] = PathMetrics(len(path.relationships), len(path.nodes), is_scored=False)
        return metrics

    @property
    def _is_semantic(self) -> bool:
        return self.vector is not None and self.ranking.needs("semantic")

    async def _read(self, paths: Collection[PathMatch]) -> None:
        """Read the contributions of the elements of paths that are not known yet."""
        nodes: set[str] = set()
        relationships: set[str] = set()
        if self._is_semantic or self.ranking.needs("centrality"):
            nodes = {key for path in paths for key in path.nodes} - self._nodes.keys()
        if self._is_semantic or self.ranking.needs("weight"):
            relationships = {key for path in paths for key in path.relationships} - self._relationships.keys()
        if not nodes and not relationships:
            return
        async with task_group() as group:
            of_nodes = group.create_task(self._contributions("score_path_nodes", sorted(nodes)))
            of_relationships = group.create_task(self._contributions("score_path_relationships", sorted(relationships)))
        self._nodes.update(of_nodes.result())
        self._relationships.update(of_relationships.result())

    async def _contributions(self, name: str, ids: Sequence[str]) -> dict[str, Contribution]:
        if not ids:
            return {}
        parameters: Mapping[str, Any] = {
            "ids": ids,
            "vector": self.reads.store.vector(self.vector) if self._is_semantic else None,
            "dimensions": self.embedder.dimensions,
            "model": self.embedder.model,
            "weight_property": self.ranking.weight_property,
        }
        [row] = await self.reads.read(statement(name), parameters)
        return {ids[position]: (value, similarity) for position, value, similarity in row["scores"]}

    def _of(self, path: PathMatch) -> PathMetrics:
        nodes = [self._nodes[key] for key in path.nodes if key in self._nodes]
        relationships = [self._relationships[key] for key in path.relationships if key in self._relationships]
        cosines = [cosine for _, cosine in (*nodes, *relationships) if cosine is not None]
        has_weight, has_centrality = self.ranking.needs("weight"), self.ranking.needs("centrality")
        return PathMetrics(
            hops=len(path.relationships),
            nodes=len(path.nodes),
            weight=sum(weight for weight, _ in relationships) if has_weight else None,
            centrality=fmean(centrality for centrality, _ in nodes) if nodes and has_centrality else None,
            semantic=fmean(cosines) if cosines and self.ranking.needs("semantic") else None,
        )
