"""Merges one node into another: read, decided, embedded apart, and written in one transaction, or not at all."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from kgagent.errors import ConstraintViolationError, EntityGoneError
from kgagent.graph.compare_and_set import CompareAndSet
from kgagent.graph.node_merge import (
    MAX_RECORDS,
    Changed,
    MergeIntent,
    MergePlan,
    MergeState,
    mentions,
    plan_merge,
    stored_form,
)
from kgagent.graph.nodes import NodeRepository, NodeWriter
from kgagent.graph.record_writer import WriteContext, without_nothing
from kgagent.graph.records import NodeRecord, RelationshipRecord
from kgagent.graph.relationship_writer import RelationshipWriter
from kgagent.graph.relationships import RelationshipIntent, RelationshipRepository
from kgagent.graph.statements import statement
from kgagent.graph.store import Row
from kgagent.graph.vectors import VectorChange, vector_changes
from kgagent.models import GraphNode


@dataclass(frozen=True)
class NodesMerged:
    """What a merge did.

    Attributes:
        node: the node that was kept.
        dropped_node: the other as it was.
        moved: relationships that it got.
        united: relationships of its own that took over what others said.
        dropped: relationships between the two nodes, which are gone.
        sources: other records whose notes named the dropped node as their source, and now name the kept one.
        embedded: embeddings that were made anew.
    """

    node: GraphNode
    dropped_node: GraphNode
    moved: int
    united: int
    dropped: int
    sources: int
    embedded: int


class NodeMerger(CompareAndSet[MergeIntent, MergeState, MergePlan, NodesMerged]):
    """Merges nodes of one user."""

    def __init__(
        self, nodes: NodeRepository, relationships: RelationshipRepository, writing: WriteContext, *, user_id: str
    ) -> None:
        super().__init__(attempts=writing.attempts)
        self._nodes = nodes
        self._relationships = relationships
        self._node_writer = NodeWriter(nodes, writing, user_id=user_id)
        self._relationship_writer = RelationshipWriter(relationships, writing, user_id=user_id)
        self._embedder = writing.embedder
        self._clock = writing.clock
        self._on_change = writing.on_change
        self._user_id = user_id

    def identity(self, intent: MergeIntent) -> str:  # noqa: ARG002
        """The user: merges of one call are carried out one after the other."""
        return self._user_id

    async def read(self, intents: Sequence[MergeIntent]) -> Sequence[MergeState]:
        """Read all that each merge touches."""
        return [await self._state(intent) for intent in intents]

    def plan(self, intent: MergeIntent, state: MergeState) -> MergePlan:
        """Decide what to write; errors are those of `plan_merge`."""
        return plan_merge(intent, state, self._nodes.ontology)

    async def save(self, planned: Mapping[int, MergePlan]) -> Mapping[int, NodesMerged]:
        """Embed what changed its text, and write; what lost a race is missing from the answer."""
        done = {}
        for position, plan in planned.items():
            merged = await self._merge(plan)
            if merged is not None:
                done[position] = merged
        return done

    async def _state(self, intent: MergeIntent) -> MergeState:
        found = await self._nodes.read(self._user_id, [intent.keep, intent.drop])
        keep, drop = found.get(intent.keep), found.get(intent.drop)
        if keep is None or drop is None or keep is drop:
            return MergeState(keep=keep, drop=drop, counterparts={}, element_ids={})
        rows = await self._rows(
            "read_relationships_of_node", key=intent.drop, types=list(self._relationships.ontology.relationships)
        )
        nodes = await self._rows("read_nodes_that_mention", text=stored_form(intent.drop))
        relationships = await self._rows("read_relationships_that_mention", text=stored_form(intent.drop))
        own = [RelationshipRecord.read(row["relationship"]) for row in rows if row["is_own"]]
        others = {key for record in own for key in (record.from_entity_key, record.to_entity_key)}
        others -= {intent.keep, intent.drop}
        asked = [RelationshipIntent(from_entity_key=intent.keep, to_entity_key=other) for other in sorted(others)]
        pairs = await self._relationships.read_pairs(self._user_id, asked) if asked else []
        counterparts: dict[tuple[str, str], RelationshipRecord] = {}
        for pair in pairs:
            for record in pair.relationships:
                if pair.second is not None:
                    counterparts.setdefault((record.neo4j_type, pair.second.entity_key), record)
        mentioning_nodes = [NodeRecord.read(row["node"], self._nodes.ontology) for row in nodes]
        mentioning = [RelationshipRecord.read(row["relationship"]) for row in relationships]
        return MergeState(
            keep=keep,
            drop=drop,
            relationships=tuple(own),
            counterparts=counterparts,
            element_ids={pair.second.entity_key: pair.second.element_id for pair in pairs if pair.second is not None},
            foreign=tuple(dict.fromkeys(row["neo4j_type"] for row in rows if not row["is_own"])),
            mentioning_nodes=tuple(record for record in mentioning_nodes if mentions(record, intent.drop)),
            mentioning_relationships=tuple(record for record in mentioning if mentions(record, intent.drop)),
            is_too_large=max(len(rows), len(nodes) + len(relationships)) > MAX_RECORDS,
        )

    async def _rows(self, name: str, **parameters: object) -> list[Row]:
        return await self._nodes.store.read(
            statement(name, **self._relationships.names),
            {"user_id": self._user_id, "limit": MAX_RECORDS + 1, **parameters},
        )

    async def _merge(self, plan: MergePlan) -> NodesMerged | None:
        now = self._clock()
        relationships = [*plan.moved, *plan.united, *plan.mentioning_relationships]
        [node_vector] = await vector_changes(
            self._embedder,
            [(self._node_writer.text(plan.node.after, now), plan.node.stored)],
            vector_property=self._node_writer.vector_property,
        )
        vectors = await vector_changes(
            self._embedder,
            [(self._relationship_writer.text(change.after, now), change.stored) for change in relationships],
            vector_property=self._relationship_writer.vector_property,
        )
        node_row = self._node_row(plan.node, node_vector, now)
        rows = [
            self._relationship_row(change, vector, now) for change, vector in zip(relationships, vectors, strict=True)
        ]
        parameters = {
            "user_id": self._user_id,
            "keep": _place(plan.node.stored),
            "drop": _place(plan.drop),
            "read_relationships": [
                {"element_id": record.element_id, "neo4j_type": record.neo4j_type, "version": record.version}
                for record in plan.read
            ],
            "read_nodes": [_place(change.stored) for change in plan.mentioning_nodes],
            "node": node_row,
            "moved": rows[: len(plan.moved)],
            "changed": rows[len(plan.moved) :],
            "changed_nodes": [self._node_row(change, VectorChange(), now) for change in plan.mentioning_nodes],
            "dropped": [record.element_id for record in plan.dropped],
        }
        try:
            written = await self._nodes.store.write(statement("merge_nodes", **self._relationships.names), parameters)
        except (ConstraintViolationError, EntityGoneError):
            return None
        if not written:
            return None
        self._tell(plan)
        return NodesMerged(
            node=_written(plan.node.after, node_row["properties"]).to_model(self._nodes.ontology),
            dropped_node=plan.drop.to_model(self._nodes.ontology),
            moved=len(plan.moved),
            united=len(plan.united),
            dropped=len(plan.between),
            sources=len(plan.mentioning_nodes) + len(plan.mentioning_relationships),
            embedded=sum(change.vector is not None for change in (node_vector, *vectors)),
        )

    def _tell(self, plan: MergePlan) -> None:
        """Tell of each record that was written, and nothing of what is gone."""
        if self._on_change is None:
            return
        ontology = self._nodes.ontology
        for node in (plan.node, *plan.mentioning_nodes):
            self._on_change(node.stored.to_model(ontology), node.after.to_model(ontology))
        for relationship in (*plan.moved, *plan.united, *plan.mentioning_relationships):
            self._on_change(relationship.stored.to_model(ontology), relationship.after.to_model(ontology))

    def _relationship_row(
        self, change: Changed[RelationshipRecord], vector: VectorChange, now: datetime
    ) -> dict[str, Any]:
        writer, after = self._relationship_writer, change.after
        return {
            "element_id": change.stored.element_id,
            "neo4j_type": after.neo4j_type,
            "from_element_id": after.from_element_id,
            "to_element_id": after.to_element_id,
            "vector": self._nodes.store.vector(vector.vector),
            "properties": {
                **change.changes,
                **vector.properties,
                **writer.kept_properties(after, now),
                **writer.stamp(change.stored, now),
            },
        }

    def _node_row(self, change: Changed[NodeRecord], vector: VectorChange, now: datetime) -> dict[str, Any]:
        writer = self._node_writer
        return {
            "element_id": change.stored.element_id,
            "vector": self._nodes.store.vector(vector.vector),
            "properties": {
                **change.changes,
                **vector.properties,
                **writer.kept_properties(change.after, now),
                **writer.stamp(change.stored, now),
            },
        }


def _written(record: NodeRecord, properties: Mapping[str, Any]) -> NodeRecord:
    return replace(record, properties=without_nothing({**record.properties, **properties}))


def _place(record: NodeRecord) -> dict[str, Any]:
    return {"element_id": record.element_id, "entity_key": record.entity_key, "version": record.version}
