"""Reads the nodes and relationships of the paths that are returned, and makes them models."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from kgagent.concurrency import task_group
from kgagent.graph.property_names import INTERNAL_PROPERTIES
from kgagent.graph.records import as_text, plain, visible
from kgagent.graph.statements import statement
from kgagent.graph.store import Row
from kgagent.models.matched_path import MatchedNode, MatchedPath, MatchedRelationship
from kgagent.models.pattern import StepDirection
from kgagent.ontology import Ontology
from kgagent.patterns.path_scores import PathMatch, ScoredPath
from kgagent.patterns.ranking import PathRanking
from kgagent.patterns.reads import UserReads

_NODE_FIELDS = frozenset({"entity_key", "name"})


@dataclass(frozen=True)
class ResultPath:
    """A path of the result, with the element ids of its nodes and relationships."""

    path: MatchedPath
    ids: PathMatch


class PathReader:
    """Makes models of the nodes, relationships and paths of a result."""

    def __init__(self, ontology: Ontology) -> None:
        self._hidden = INTERNAL_PROPERTIES | ontology.hidden_properties

    def node(self, row: Mapping[str, Any]) -> MatchedNode:
        """Read the map that `_path_node.cypher` returns."""
        key = str(row["id"] if row["entity_key"] is None else plain(row["entity_key"]))
        return MatchedNode(
            entity_key=key,
            labels=tuple(row["labels"]),
            name=as_text(row["name"]) or key,
            properties=visible(dict(row["properties"]), self._hidden | _NODE_FIELDS),
        )

    async def paths(
        self, reads: UserReads, scored: Sequence[ScoredPath], ranking: PathRanking
    ) -> tuple[ResultPath, ...]:
        """Read paths; a path of which a part was deleted meanwhile is omitted.

        Raises:
            StatementTimeoutError: time ran out.
            StoreError: the database failed otherwise.
        """
        async with task_group() as group:
            of_nodes = group.create_task(self._rows(reads, "node", {one for item in scored for one in item.path.nodes}))
            of_relationships = group.create_task(
                self._rows(reads, "relationship", {one for item in scored for one in item.path.relationships})
            )
        nodes = {key: self.node(row) for key, row in of_nodes.result().items()}
        starts = {key: row["start"] for key, row in of_relationships.result().items()}
        relationships = {
            key: self._relationship(row, nodes)
            for key, row in of_relationships.result().items()
            if row["start"] in nodes and row["end"] in nodes
        }
        return tuple(
            ResultPath(self._path(item, ranking, nodes, relationships, starts), item.path)
            for item in scored
            if nodes.keys() >= set(item.path.nodes) and relationships.keys() >= set(item.path.relationships)
        )

    async def _rows(self, reads: UserReads, kind: str, ids: set[str]) -> dict[str, Row]:
        if not ids:
            return {}
        rows = await reads.read(statement(f"read_matched_{kind}s"), {"ids": sorted(ids)})
        return {row[kind]["id"]: row[kind] for row in rows}

    def _path(
        self,
        scored: ScoredPath,
        ranking: PathRanking,
        nodes: Mapping[str, MatchedNode],
        relationships: Mapping[str, MatchedRelationship],
        starts: Mapping[str, str],
    ) -> MatchedPath:
        """Make a path from its nodes and relationships; `starts` has the start node of each relationship."""
        plan, path = scored.plan, scored.path
        purpose = next((segment.description for segment in reversed(plan.segments) if segment.description), "")
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
            properties=scored.metrics.to_dict(),
            score=scored.score,
            explanation=". ".join(filter(None, (ranking.explain(scored.metrics), purpose))),
        )

    def _relationship(self, row: Row, nodes: Mapping[str, MatchedNode]) -> MatchedRelationship:
        """Read the map that `_path_relationship.cypher` returns."""
        return MatchedRelationship(
            neo4j_type=row["neo4j_type"],
            from_entity_key=nodes[row["start"]].entity_key,
            to_entity_key=nodes[row["end"]].entity_key,
            direction=StepDirection.OUTGOING,
            properties=visible(dict(row["properties"]), self._hidden),
        )
