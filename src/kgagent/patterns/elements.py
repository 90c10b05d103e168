"""What paths are made of: how much each node and relationship counts, and what it says."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from kgagent.concurrency import task_group
from kgagent.embedding.base import Embedder
from kgagent.graph.statements import statement
from kgagent.graph.store import Row, Store
from kgagent.patterns.ranking import PathMetrics, PathRanking


@dataclass(frozen=True)
class PathMatch:
    """A path as a pattern matched it, by the database's ids.

    Attributes:
        nodes: from the start to the end.
        relationships: between them.
        lengths: relationships that each step followed.
        at: the node of which only the best path counts; None where all do.
    """

    nodes: tuple[str, ...]
    relationships: tuple[str, ...]
    lengths: tuple[int, ...]
    at: str | None


@dataclass(frozen=True)
class ElementScores:
    """What nodes and relationships count, by id; empty where a ranking looks at the length only."""

    nodes: Mapping[str, Row] = field(default_factory=dict)
    relationships: Mapping[str, Row] = field(default_factory=dict)

    def figures(self, path: PathMatch, ranking: PathRanking) -> PathMetrics:
        """Those of one path."""
        nodes = [self.nodes[one] for one in path.nodes if one in self.nodes]
        relationships = [self.relationships[one] for one in path.relationships if one in self.relationships]
        cosines = [row["similarity"] for row in (*nodes, *relationships) if row["similarity"] is not None]
        return PathMetrics(
            hops=len(path.relationships),
            nodes=len(path.nodes),
            weight=sum(row["weight"] for row in relationships) if ranking.counts("weight") else None,
            centrality=fmean(row["centrality"] for row in nodes) if nodes and ranking.counts("centrality") else None,
            semantic=fmean(cosines) if cosines and ranking.counts("semantic") else None,
        )


@dataclass(frozen=True)
class PathElements:
    """Reads nodes and relationships of one user by the database's ids; each once, however many paths hold it."""

    store: Store
    embedder: Embedder
    user_id: str
    timeout: float

    async def counts(
        self, paths: Collection[PathMatch], ranking: PathRanking, vector: Sequence[float] | None
    ) -> ElementScores:
        """What the elements of paths count.

        Args:
            paths: the paths.
            ranking: says what has to be worked out.
            vector: embedding of the query, shape (dimensions,); None leaves out the meaning.

        Raises:
            StoreError: the database failed.
        """
        semantic = ranking.counts("semantic") and vector is not None
        common = {
            "vector": self.store.vector(vector) if semantic else None,
            "dimensions": self.embedder.dimensions,
            "model": self.embedder.model,
            "weight_property": ranking.weight_property,
        }
        nodes = {one for path in paths for one in path.nodes} if semantic or ranking.counts("centrality") else set()
        relationships = (
            {one for path in paths for one in path.relationships} if semantic or ranking.counts("weight") else set()
        )
        rows = await self._both("weigh_path_nodes", nodes, "weigh_path_relationships", relationships, common)
        return ElementScores(*({row["id"]: row for row in part} for part in rows))

    async def read(self, paths: Collection[PathMatch]) -> tuple[dict[str, Row], dict[str, Row]]:
        """What nodes and relationships say, by id.

        Raises:
            StoreError: the database failed.
        """
        nodes, relationships = await self._both(
            "read_matched_nodes",
            {one for path in paths for one in path.nodes},
            "read_matched_relationships",
            {one for path in paths for one in path.relationships},
            {},
        )
        return (
            {row["node"]["id"]: row["node"] for row in nodes},
            {row["relationship"]["id"]: row["relationship"] for row in relationships},
        )

    async def _both(
        self, of_nodes: str, nodes: set[str], of_relationships: str, relationships: set[str], common: Mapping[str, Any]
    ) -> tuple[list[Row], list[Row]]:
        """Run a statement on nodes and one on relationships, side by side."""
        async with task_group() as group:
            tasks = [
                group.create_task(self._rows(name, ids, common))
                for name, ids in ((of_nodes, nodes), (of_relationships, relationships))
            ]
        first, second = (task.result() for task in tasks)
        return first, second

    async def _rows(self, name: str, ids: set[str], common: Mapping[str, Any]) -> list[Row]:
        if not ids:
            return []
        parameters = {**common, "user_id": self.user_id, "ids": sorted(ids)}
        return await self.store.read(statement(name), parameters, timeout=self.timeout)
