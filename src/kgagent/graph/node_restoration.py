"""Restoring a node that `node_deletion` deleted, with the relationships that were deleted with it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from kgagent.errors import (
    ConstraintViolationError,
    EntityGoneError,
    InputError,
    NotFoundError,
)
from kgagent.formatting import counted
from kgagent.graph.deleted_records import DELETED_NAMES, format_minute
from kgagent.graph.nodes import NodeRepository
from kgagent.graph.record_changes import row_of, vectors_after
from kgagent.graph.records import NodeRecord, RelationshipRecord
from kgagent.graph.reference_forms import ReferenceForms, message_key
from kgagent.graph.relationships import RelationshipRepository
from kgagent.graph.statements import statement
from kgagent.graph.store import Row
from kgagent.graph.writes import RecordKind, RecordT, VectorChange, WriteContext
from kgagent.models import GraphNode
from kgagent.suggestions import shorten_name
from kgagent.turns import in_turns

MAX_LISTED = 5
MAX_FOUND = 100
"""Deletions that are examined for one reference."""


@dataclass(frozen=True, kw_only=True)
class NodeRestorationIntent:
    """A node to restore.

    Attributes:
        reference: its key, the first characters of it, or its name.
        skip_missing: whether relationships are skipped whose other node no longer exists.
        new_key: key that it gets if a node with its own key exists.
    """

    reference: str
    new_key: str
    skip_missing: bool = False


@dataclass(frozen=True, kw_only=True)
class DeletedNode:
    """A deleted node that may be restored.

    Attributes:
        record: the node; its element id is that of the node that holds its properties.
        deletion: what the relationships that were deleted with it share.
        deleted_at: when it was deleted.
        undo_until: until when it can be restored.
    """

    record: NodeRecord
    deletion: str
    deleted_at: datetime
    undo_until: datetime

    def __str__(self) -> str:
        """The node for a message."""
        return f"{self.record.label} {shorten_name(self.record.text('name'))} ({message_key(self.record.entity_key)})"


@dataclass(frozen=True, kw_only=True)
class DeletedPart:
    """A relationship that was deleted with a node.

    Attributes:
        record: the relationship; its element id is that of the node that holds its properties.
        other_element_id: the node at its other end; None if it no longer exists.
        other_entity_key: key of that node.
        other_name: name of that node as far as it is known.
        other_is_deleted: whether that node was deleted and can be restored.
    """

    record: RelationshipRecord
    other_element_id: str | None
    other_entity_key: str
    other_name: str
    other_is_deleted: bool


@dataclass(frozen=True, kw_only=True)
class RestorableNodes:
    """What an intent may restore.

    Attributes:
        nodes: the deleted nodes that the reference may mean.
        existing: the node with the same key that exists now, if there is only one deleted node.
        parts: the relationships that were deleted with that node.
    """

    nodes: tuple[DeletedNode, ...]
    existing: NodeRecord | None = None
    parts: tuple[DeletedPart, ...] = ()


@dataclass(frozen=True)
class PlannedRestoration:
    """A node to restore with relationships."""

    node: DeletedNode
    parts: tuple[DeletedPart, ...]
    skipped: int
    existing: NodeRecord | None = None
    new_key: str | None = None

    @property
    def restored_node(self) -> NodeRecord:
        """The node with the key that it gets."""
        record = self.node.record
        if self.new_key is None:
            return record
        return replace(record, properties={**record.properties, "entity_key": self.new_key})

    def restored_relationship(self, part: DeletedPart) -> RelationshipRecord:
        """A relationship that was deleted with the node, with the key that the node gets."""
        record = part.record
        if self.new_key is None:
            return record
        if self.starts(part):
            return replace(record, from_entity_key=self.new_key)
        return replace(record, to_entity_key=self.new_key)

    def starts(self, part: DeletedPart) -> bool:
        """Whether a relationship starts at the node."""
        return part.record.from_entity_key == self.node.record.entity_key


@dataclass(frozen=True)
class NodeRestorationResult:
    """A node that was restored.

    Attributes:
        record: the node.
        relationships: number of relationships that were restored with it.
        skipped: number of relationships whose other node no longer exists.
        embedded: number of new embeddings.
        existing: the node that has its key, so that it has got a new one.
    """

    record: GraphNode
    relationships: int
    skipped: int
    embedded: int
    existing: GraphNode | None = None


class NodeRestorationStrategy:
    """Restores nodes of one user, with the embeddings of their present texts; see `compare_and_set`."""

    def __init__(
        self, nodes: NodeRepository, relationships: RelationshipRepository, context: WriteContext, *, user_id: str
    ) -> None:
        self._nodes = nodes
        self._relationships = relationships
        self._context = context
        self._user_id = user_id
        self._names = {**relationships.names, **DELETED_NAMES}

    def identity(self, intent: NodeRestorationIntent) -> str:  # noqa: ARG002
        """The user: restorations of one call are applied one after the other."""
        return self._user_id

    async def read(self, intents: Sequence[NodeRestorationIntent]) -> Sequence[RestorableNodes]:
        """Read the deleted nodes that each intent may mean; of a single one, also its relationships."""
        return [await self._read(intent.reference) for intent in intents]

    def plan(self, intent: NodeRestorationIntent, state: RestorableNodes) -> PlannedRestoration:
        """Decide what to restore.

        Raises:
            NotFoundError: the user has no such deleted node.
            InputError: the reference is ambiguous, the node can no longer be restored, or other nodes are missing.
        """
        wanted = shorten_name(intent.reference)
        if not state.nodes:
            raise NotFoundError(f"There is no deleted node {wanted!r} that can be restored")
        if len(state.nodes) > 1:
            listed = "; ".join(
                f"{node}, deleted on {format_minute(node.deleted_at)}" for node in state.nodes[:MAX_LISTED]
            )
            raise InputError(
                f"{wanted!r} could refer to {len(state.nodes)} deleted nodes; give the key of one: {listed}"
            )
        [node] = state.nodes
        if node.undo_until <= self._context.clock():
            raise InputError(
                f"{node}, deleted on {format_minute(node.deleted_at)}, was restorable until "
                f"{format_minute(node.undo_until)}"
            )
        present = tuple(part for part in state.parts if part.other_element_id is not None)
        missing = [part for part in state.parts if part.other_element_id is None]
        if missing and not intent.skip_missing:
            raise InputError(_others_missing(node, missing))
        new_key = None if state.existing is None else intent.new_key
        return PlannedRestoration(node, present, len(missing), state.existing, new_key)

    async def save(self, plans: Mapping[int, PlannedRestoration]) -> Mapping[int, NodeRestorationResult]:
        """Embed and restore; a plan that met a conflict is missing from the result."""
        results = {position: await self._save(plan) for position, plan in plans.items()}
        return {position: result for position, result in results.items() if result is not None}

    async def _read(self, reference: str) -> RestorableNodes:
        forms = ReferenceForms.of(reference)
        if forms is None:
            return RestorableNodes(nodes=())
        rows = await self._nodes.store.read(
            statement("find_deleted_nodes", **self._names),
            {
                "user_id": self._user_id,
                "key": forms.keys[0],
                "prefix": next(iter(forms.prefixes), None),
                "plain": forms.plain,
                "limit": MAX_FOUND,
            },
        )
        found: dict[str, DeletedNode] = {}
        for row in rows:
            node = self._node(row)
            if node is not None:
                found.setdefault(node.record.entity_key, node)
        now = self._context.clock()
        restorable = [node for node in found.values() if node.undo_until > now]
        nodes = (found[forms.keys[0]],) if forms.keys[0] in found else tuple(restorable or found.values())
        if len(nodes) != 1:
            return RestorableNodes(nodes=nodes)
        [node] = nodes
        key = node.record.entity_key
        existing = await self._nodes.read(self._user_id, [key])
        parts = await self._nodes.store.read(
            statement("read_deleted_with_node", **self._names),
            {"user_id": self._user_id, "now": now, "deletion": node.deletion, "entity_key": key},
        )
        return RestorableNodes(
            nodes=nodes,
            existing=existing.get(key),
            parts=tuple(_part(row, node.record) for row in parts if row["neo4j_type"]),
        )

    def _node(self, row: Row) -> DeletedNode | None:
        """Read what is kept of a node; None if the ontology has none of its labels, or it was purged meanwhile."""
        if not self._nodes.ontology.labels.keys() & set(row["labels"] or ()):
            return None
        if row["deleted_at"] is None or row["undo_until"] is None:
            return None
        return DeletedNode(
            record=NodeRecord.read(row, self._nodes.ontology),
            deletion=row["deletion"],
            deleted_at=row["deleted_at"].to_native(),
            undo_until=row["undo_until"].to_native(),
        )

    async def _save(self, plan: PlannedRestoration) -> NodeRestorationResult | None:
        now = self._context.clock()
        node, records = plan.restored_node, [plan.restored_relationship(part) for part in plan.parts]
        embedder = self._context.embedder
        [node_vector] = await vectors_after(self._nodes, embedder, [(node, node)], now)
        vectors = await vectors_after(self._relationships, embedder, [(one, one) for one in records], now)

        def row(restored: tuple[DeletedPart, RelationshipRecord, VectorChange]) -> dict[str, Any]:
            part, record, vector = restored
            return {
                **self._row(self._relationships, record, vector, now),
                "neo4j_type": record.neo4j_type,
                "starts": plan.starts(part),
                "other_element_id": part.other_element_id,
                "other_entity_key": part.other_entity_key,
            }

        parameters = {
            "user_id": self._user_id,
            # Embedding took time, in which the node may have expired.
            "now": self._context.clock(),
            "deletion": plan.node.deletion,
            "node": {
                **self._row(self._nodes, node, node_vector, now),
                "entity_key": plan.node.record.entity_key,
                "new_key": node.entity_key,
            },
            "relationships": await in_turns(row, zip(plan.parts, records, vectors, strict=True)),
        }
        try:
            restored = await self._nodes.store.write(statement("restore_node", **self._names), parameters)
        except (ConstraintViolationError, EntityGoneError):
            return None
        if not restored:
            return None
        if self._context.on_change is not None:
            self._context.on_change(None, self._nodes.to_model(node))
            for record in records:
                self._context.on_change(None, self._relationships.to_model(record))
        return NodeRestorationResult(
            record=self._nodes.to_model(node),
            relationships=len(records),
            skipped=plan.skipped,
            embedded=sum(change.vector is not None for change in (node_vector, *vectors)),
            existing=None if plan.existing is None else self._nodes.to_model(plan.existing),
        )

    def _row(
        self, kind: RecordKind[RecordT, Any], record: RecordT, vector: VectorChange, now: datetime
    ) -> dict[str, Any]:
        return row_of(kind, record, {}, vector, user_id=self._user_id, now=now, updated_at=None)


def _part(row: Row, node: NodeRecord) -> DeletedPart:
    other, name = row["other"], node.text("name")
    starts = row["from_entity_key"] == node.entity_key
    other_name = other["name"] or ""
    blank = RelationshipRecord(
        element_id=row["element_id"],
        vector_length=row["vector_length"],
        properties={},
        neo4j_type=row["neo4j_type"],
        from_entity_key=row["from_entity_key"],
        to_entity_key=row["to_entity_key"],
        from_name=name if starts else other_name,
        to_name=other_name if starts else name,
    )
    return DeletedPart(
        record=blank.with_stored(row["properties"]),
        other_element_id=other["element_id"],
        other_entity_key=other["entity_key"],
        other_name=other_name,
        other_is_deleted=other["is_deleted"],
    )


def _others_missing(node: DeletedNode, missing: Sequence[DeletedPart]) -> str:
    deleted = [part for part in missing if part.other_is_deleted]
    names = _listed(f"{shorten_name(part.other_name)} ({message_key(part.other_entity_key)})" for part in deleted)
    gone = _listed(message_key(part.other_entity_key) for part in missing if not part.other_is_deleted)
    reasons = [f"deleted: {names}"] if names else []
    reasons += [f"merged or gone: {gone}"] if gone else []
    restore = "Restore the deleted nodes first, or set" if names else "Set"
    return (
        f"{node} cannot be restored with {counted(len(missing), 'relationship')} whose other node does not exist any "
        f"more ({'; '.join(reasons)}). {restore} skip_missing to true to restore the node without them"
    )


def _listed(names: Iterable[str]) -> str:
    found = list(dict.fromkeys(names))
    more = [f"{len(found) - MAX_LISTED:,} more"] if len(found) > MAX_LISTED else []
    return ", ".join([*found[:MAX_LISTED], *more])
