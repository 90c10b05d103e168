"""Reads the nodes, relationships and nearby texts of the paths that are returned, and makes them
models.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

from kgagent.concurrency import task_group
from kgagent.embedding.base import Embedder
from kgagent.graph.history import HISTORY_FIELDS
from kgagent.graph.identifiers import Identifier
from kgagent.graph.property_names import INTERNAL_PROPERTIES, RECORD_OWNER
from kgagent.graph.records import (
    NodeRecord,
    RelationshipRecord,
    as_text,
    plain,
    visible,
)
from kgagent.graph.statements import statement
from kgagent.graph.store import Row
from kgagent.models.matched_path import Chunk, MatchedNode, MatchedPath, MatchedRelationship
from kgagent.ontology import Ontology
from kgagent.patterns.path_scores import Hop, ScoredPath
from kgagent.patterns.predicates import Then
from kgagent.patterns.ranking import PathRanking
from kgagent.patterns.reads import UserReads
from kgagent.search.scope import EVERY, RelationshipFilter

TEXT_PROPERTIES = ("text", "content", "description")
"""Properties that may hold the text of a chunk; the first that exists is used."""

MAX_NEIGHBORS = 200
"""Neighbors of one node that are examined for chunks."""

MAX_CHUNK_SOURCES = 1_000
"""Nodes whose chunks are searched, those of the best paths first."""


_NO_ENDS = dict.fromkeys(("from_entity_key", "to_entity_key", "from_name", "to_name"), "")


@dataclass(frozen=True)
class ReadPaths:
    """Paths that were read.

    Attributes:
        paths: the paths, best first.
        nodes: their nodes by element id, in the order of the paths.
        relationships: their relationships by element id, in the order of the paths.
    """

    paths: tuple[MatchedPath, ...] = ()
    nodes: Mapping[str, MatchedNode] = field(default_factory=dict)
    relationships: Mapping[str, MatchedRelationship] = field(default_factory=dict)


class PathReader:
    """Makes models of the nodes, relationships and paths of a result."""

    def __init__(self, ontology: Ontology, kept: RelationshipFilter = EVERY) -> None:
        self._ontology = ontology
        self._kept = kept
        self._hidden = INTERNAL_PROPERTIES | ontology.hidden_properties

    def node(self, row: Mapping[str, Any]) -> MatchedNode:
        """Read the map that `_path_node.cypher` returns.

        The properties of a node without a label of the ontology have no meaning for kgagent, except
        its key and name.
        """
        key = str(row["id"] if row["entity_key"] is None else plain(row["entity_key"]))
        labels, stored = tuple(row["labels"]), dict(row["properties"])
        fields: dict[str, Any] = {"label": labels[0] if labels else ""}
        if self._ontology.labels.keys() & set(labels):
            record = self._node(row)
            fields = dict((self._kept.on_day(record) or record).to_model(self._ontology))
        else:
            fields["properties"] = visible(stored, self._hidden | {"entity_key", "name"})
        name, owner = fields.get("name") or as_text(row["name"]), stored.get(RECORD_OWNER)
        fields |= {"entity_key": key, "name": name or key, "owner": owner}
        return MatchedNode(**fields, labels=labels if len(labels) > 1 else ())

    def _node(self, row: Mapping[str, Any]) -> NodeRecord:
        stored = {"labels": row["labels"], "properties": dict(row["properties"])}
        return NodeRecord.read({"element_id": row["id"], **stored}, self._ontology)

    async def then(self, reads: UserReads) -> Then:
        """What has a history, as it was at the time asked for; nothing if none is.

        Raises:
            StatementTimeoutError: time ran out.
            StoreError: the database failed otherwise.
        """
        if self._kept.as_of is None:
            return {}
        labels, types = self._ontology.labels, self._ontology.relationships
        places = {"labels": Identifier.any_of(labels), "types": Identifier.any_of(types)}
        rows = await reads.read(statement("read_changed", **places))

        def values(row: Row) -> dict[str, Any]:
            record = self._kept.on_day(
                _relationship_record(row["relationship"])
                if row["node"] is None
                else self._node(row["node"])
            )
            stored = {} if record is None else record.properties
            return {
                "is_kept": record is not None,
                **{name: stored.get(name) for name in HISTORY_FIELDS},
            }

        return await asyncio.to_thread(
            lambda: {(row["node"] or row["relationship"])["id"]: values(row) for row in rows}
        )

    async def paths(
        self, reads: UserReads, scored: Sequence[ScoredPath], ranking: PathRanking
    ) -> ReadPaths:
        """Read paths; one of which a part was deleted meanwhile, or did not hold at the time asked
        for, is omitted.

        Raises:
            StatementTimeoutError: time ran out.
            StoreError: the database failed otherwise.
        """
        async with task_group() as group:
            of_nodes = group.create_task(
                self._rows(reads, "node", {key for item in scored for key in item.path.nodes})
            )
            of_relationships = group.create_task(
                self._rows(
                    reads,
                    "relationship",
                    {key for item in scored for key in item.path.relationships},
                )
            )
        nodes = {key: self.node(row) for key, row in of_nodes.result().items()}
        rows = of_relationships.result()
        relationships = {
            hop: relationship
            for hop in {hop for item in scored for hop in item.path.hops}
            if hop[0] in rows
            and nodes.keys() >= {rows[hop[0]]["start"], rows[hop[0]]["end"]}
            and (relationship := self._relationship(rows[hop[0]], hop[1], nodes)) is not None
        }
        complete = [
            item
            for item in scored
            if nodes.keys() >= set(item.path.nodes) and relationships.keys() >= set(item.path.hops)
        ]
        return ReadPaths(
            tuple(self._path(item, ranking, nodes, relationships) for item in complete),
            {key: nodes[key] for item in complete for key in item.path.nodes},
            {hop[0]: relationships[hop] for item in complete for hop in item.path.hops},
        )

    async def chunks(
        self,
        reads: UserReads,
        embedder: Embedder,
        vector: Sequence[float],
        nodes: Mapping[str, MatchedNode],
        limit: int,
    ) -> tuple[Chunk, ...]:
        """Find the nodes with text among some nodes and their neighbors, most similar first.

        Args:
            reads: reads of the user's graph.
            embedder: says which stored embeddings can be compared.
            vector: query vector, shape (dimensions,).
            nodes: nodes of the paths, by element id.
            limit: maximum number of chunks.

        Raises:
            StatementTimeoutError: time ran out.
            StoreError: the database failed otherwise.
        """
        parameters = {
            "ids": list(nodes)[:MAX_CHUNK_SOURCES],
            "vector": reads.store.vector(vector),
            "dimensions": embedder.dimensions,
            "model": embedder.model,
            "text_properties": list(TEXT_PROPERTIES),
            "neighbors": MAX_NEIGHBORS,
            "limit": limit,
        }
        return tuple(
            Chunk(
                node=self.node(row["node"]),
                text=row["text"],
                linked_to=tuple(nodes[key].entity_key for key in row["linked_to"]),
                similarity=row["similarity"],
            )
            for row in await reads.read(statement("find_chunks"), parameters)
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
        relationships: Mapping[Hop, MatchedRelationship],
    ) -> MatchedPath:
        plan, path = scored.plan, scored.path
        purpose = next(
            (segment.description for segment in reversed(plan.segments) if segment.description), ""
        )
        return MatchedPath(
            pattern_id=plan.pattern_id,
            nodes=tuple(nodes[key] for key in path.nodes),
            relationships=tuple(relationships[hop] for hop in path.hops),
            steps=tuple(accumulate(path.lengths)),
            properties=scored.metrics.to_dict(),
            score=scored.score,
            explanation=". ".join(filter(None, (ranking.explain(scored.metrics), purpose))),
        )

    def _relationship(
        self, row: Row, before: str, nodes: Mapping[str, MatchedNode]
    ) -> MatchedRelationship | None:
        """Read the map that `_path_relationship.cypher` returns, as a path follows it from a node;
        see `node`. None if it did not hold at the time asked for.
        """
        is_reversed = before != row["start"]
        source, target = (
            nodes[row[end]] for end in (("end", "start") if is_reversed else ("start", "end"))
        )
        stored = dict(row["properties"])
        ends: dict[str, Any] = {
            "from_entity_key": source.entity_key,
            "to_entity_key": target.entity_key,
            "from_name": source.name,
            "to_name": target.name,
        }
        fields: dict[str, Any] = {"neo4j_type": row["neo4j_type"]}
        if row["neo4j_type"] in self._ontology.relationships:
            record = self._kept.on_day(_relationship_record(row, ends))
            if record is None:
                return None
            fields = dict(record.to_model(self._ontology))
            is_reversed ^= record.properties.get("is_reversed") is True
        else:
            word = as_text(stored.get("relationship_type"))
            hidden = self._hidden | ({"relationship_type"} if word else set())
            fields |= {"relationship_type": word, "properties": visible(stored, hidden)}
        fields["owner"] = stored.get(RECORD_OWNER)
        return MatchedRelationship(**{**fields, **ends, "ends_reversed": is_reversed})


def _relationship_record(row: Row, ends: Mapping[str, str] = _NO_ENDS) -> RelationshipRecord:
    stored = {"element_id": row["id"], "properties": dict(row["properties"])}
    return RelationshipRecord.read({**ends, "neo4j_type": row["neo4j_type"], **stored})
