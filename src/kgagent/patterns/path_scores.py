"""Scores the paths that matched: reads what their nodes and relationships contribute, each once."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from kgagent.concurrency import task_group
from kgagent.embedding.base import Embedder
from kgagent.graph.statements import statement
from kgagent.patterns.plans import QueryPlan
from kgagent.patterns.ranking import PathMetrics, PathRanking
from kgagent.patterns.reads import UserReads

Contribution = tuple[float, float | None]
"""Centrality of a node, or weight of a relationship, and the cosine with the query (None without an
embedding).
"""

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
        is_past: whether a relationship is past.
    """

    nodes: tuple[str, ...]
    relationships: tuple[str, ...]
    lengths: tuple[int, ...]
    at: str | None
    is_past: bool = False

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


async def path_metrics(
    reads: UserReads,
    embedder: Embedder,
    ranking: PathRanking,
    vector: Sequence[float] | None,
    paths: Collection[PathMatch],
) -> dict[PathMatch, PathMetrics]:
    """Compute what the scores of paths are computed from.

    Args:
        reads: reads of the user's graph.
        embedder: says which stored embeddings can be compared with the query.
        ranking: which components are needed.
        vector: embedding of the query, shape (dimensions,); None without a query.
        paths: the paths.

    Raises:
        StatementTimeoutError: time ran out.
        StoreError: the database failed otherwise.
    """
    is_semantic = vector is not None and ranking.needs("semantic")
    parameters: Mapping[str, Any] = {
        "vector": reads.store.vector(vector) if is_semantic else None,
        "dimensions": embedder.dimensions,
        "model": embedder.model,
        "weight_property": ranking.weight_property,
    }

    async def contributions(
        name: str, ids: set[str], *, is_needed: bool
    ) -> dict[str, Contribution]:
        if not ids or not is_needed:
            return {}
        ordered = sorted(ids)
        [row] = await reads.read(statement(name), {**parameters, "ids": ordered})
        return {
            ordered[position]: (value, similarity) for position, value, similarity in row["scores"]
        }

    has_centrality, has_weight = ranking.needs("centrality"), ranking.needs("weight")
    node_ids = {key for path in paths for key in path.nodes}
    relationship_ids = {key for path in paths for key in path.relationships}
    async with task_group() as group:
        of_nodes = group.create_task(
            contributions("score_path_nodes", node_ids, is_needed=is_semantic or has_centrality)
        )
        of_relationships = group.create_task(
            contributions(
                "score_path_relationships", relationship_ids, is_needed=is_semantic or has_weight
            )
        )
    by_node, by_relationship = of_nodes.result(), of_relationships.result()

    def metrics(path: PathMatch) -> PathMetrics:
        nodes = [by_node[key] for key in path.nodes if key in by_node]
        relationships = [
            by_relationship[key] for key in path.relationships if key in by_relationship
        ]
        cosines = [cosine for _, cosine in (*nodes, *relationships) if cosine is not None]
        return PathMetrics(
            hops=len(path.relationships),
            nodes=len(path.nodes),
            weight=sum(weight for weight, _ in relationships) if has_weight else None,
            centrality=fmean(centrality for centrality, _ in nodes)
            if nodes and has_centrality
            else None,
            semantic=fmean(cosines) if cosines else None,
            is_past=path.is_past,
        )

    return {path: metrics(path) for path in paths}
