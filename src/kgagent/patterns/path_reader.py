"""What paths are made of: how much each node and relationship counts, and what it says."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from statistics import fmean
from typing import Any

from kgagent.concurrency import task_group
from kgagent.embedding.base import Embedder
from kgagent.graph.records import INTERNAL_PROPERTIES, as_text, plain, visible
from kgagent.graph.statements import statement
from kgagent.graph.store import Row, Store
from kgagent.models.matched_path import MatchedNode, MatchedPath, MatchedRelationship
from kgagent.models.pattern import StepDirection
from kgagent.ontology import Ontology
from kgagent.patterns.plans import QueryPlan
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


_NODE_FIELDS = frozenset({"entity_key", "name"})


@dataclass(frozen=True)
class ScoredPath:
    """A path that was scored.

    Attributes:
        plan: what matched it.
        path: what it is made of.
        figures: what its score is worked out of.
        score: what it is ranked by.
        group: among the paths of one group with the same `at`, only the best counts.
    """

    plan: QueryPlan
    path: PathMatch
    figures: PathMetrics
    score: float
    group: int

    @property
    def order(self) -> tuple[float, int, tuple[str, ...], tuple[str, ...]]:
        """Sorts the best first; the shorter of two that score the same."""
        return -self.score, self.figures.hops, self.path.nodes, self.path.relationships

    @property
    def identity(self) -> tuple[object, ...]:
        """The same for paths of which only the best counts."""
        if self.path.at is not None:
            return self.group, self.path.at
        return self.plan.pattern_id, self.path


class PathReader:
    """Makes what is shown from rows of the database."""

    def __init__(self, ontology: Ontology) -> None:
        self._hidden = INTERNAL_PROPERTIES | ontology.hidden_properties

    def node(self, row: Mapping[str, Any]) -> MatchedNode:
        """Read the map that `_path_node.cypher` makes."""
        key = str(row["id"] if row["entity_key"] is None else plain(row["entity_key"]))
        return MatchedNode(
            entity_key=key,
            labels=tuple(row["labels"]),
            name=as_text(row["name"]) or key,
            properties=visible(dict(row["properties"]), self._hidden | _NODE_FIELDS),
        )

    def path(
        self,
        ranked: ScoredPath,
        ranking: PathRanking,
        nodes: Mapping[str, MatchedNode],
        relationships: Mapping[str, MatchedRelationship],
        starts: Mapping[str, str],
    ) -> MatchedPath:
        """What is shown of a path, its nodes and relationships being known, and which node each of these starts at."""
        plan, path = ranked.plan, ranked.path
        about = next((segment.description for segment in reversed(plan.segments) if segment.description), "")
        return MatchedPath(
            pattern_id=plan.pattern_id,
            nodes=tuple(nodes[one] for one in path.nodes),
            relationships=tuple(
                relationships[one]
                if before == starts[one]
                else relationships[one].model_copy(update={"direction": StepDirection.INCOMING})
                for one, before in zip(path.relationships, path.nodes, strict=False)
            ),
            steps=tuple(accumulate(path.lengths)),
            properties=ranked.figures.told(),
            score=ranked.score,
            explanation=". ".join(filter(None, (ranking.explain(ranked.figures), about))),
        )

    def relationship(self, row: Row, nodes: Mapping[str, MatchedNode]) -> MatchedRelationship:
        """Read the map that `_path_relationship.cypher` makes."""
        return MatchedRelationship(
            neo4j_type=row["neo4j_type"],
            from_entity_key=nodes[row["start"]].entity_key,
            to_entity_key=nodes[row["end"]].entity_key,
            direction=StepDirection.OUTGOING,
            properties=visible(dict(row["properties"]), self._hidden),
        )
