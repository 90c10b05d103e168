"""Restoring what `deletion` deleted: a relationship, or a node with the relationships that were deleted with it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Generic

from kgagent.errors import (
    AlreadyExistsError,
    ConstraintViolationError,
    EntityGoneError,
    InputError,
    KgAgentError,
    NotFoundError,
)
from kgagent.formatting import counted
from kgagent.graph.deleted_records import DELETED_NAMES, format_minute
from kgagent.graph.nodes import NodeRepository
from kgagent.graph.pair_state import PairState
from kgagent.graph.record_changes import row_of, vectors_after
from kgagent.graph.record_saver import RecordSaver
from kgagent.graph.records import NodeRecord, RelationshipRecord
from kgagent.graph.reference_forms import ReferenceForms, message_key
from kgagent.graph.relationships import (
    RelationshipIntent,
    RelationshipRepository,
    RelationshipWriteOptions,
    RelationshipWriteResult,
)
from kgagent.graph.statements import statement
from kgagent.graph.store import Row
from kgagent.graph.writes import PlannedWrite, RecordT, VectorChange, WriteContext
from kgagent.models import GraphNode
from kgagent.suggestions import shorten_name
from kgagent.turns import in_turns

MAX_LISTED = 5
MAX_DELETIONS = 100
"""Deletions that are examined for one reference."""


@dataclass(frozen=True, kw_only=True)
class DeletedRecord(Generic[RecordT]):
    """A deleted record that may be restored.

    Attributes:
        record: the record; its element id is that of the node that holds its properties.
        deletion: what a node and the relationships that were deleted with it share.
        deleted_at: when it was deleted.
        undo_until: until when it can be restored.
    """

    record: RecordT
    deletion: str | None
    deleted_at: datetime
    undo_until: datetime

    @classmethod
    def of(cls, record: RecordT, row: Row) -> "DeletedRecord[RecordT] | None":
        """A record with the times of a row; None if it was purged while it was read."""
        deleted_at, undo_until = row["deleted_at"], row["undo_until"]
        if deleted_at is None or undo_until is None:
            return None
        return cls(
            record=record,
            deletion=row.get("deletion"),
            deleted_at=deleted_at.to_native(),
            undo_until=undo_until.to_native(),
        )

    def check(self, shown: str, now: datetime, advice: str = "") -> None:
        """Check that it can still be restored.

        Raises:
            InputError: it cannot.
        """
        if self.undo_until <= now:
            raise InputError(
                f"{shown}, deleted on {format_minute(self.deleted_at)}, was restorable until "
                f"{format_minute(self.undo_until)}{advice}"
            )


@dataclass(frozen=True, kw_only=True)
class RestorableRelationship:
    """Two nodes of a user, the relationship between them, and the one that was deleted last."""

    pair: PairState
    current: RelationshipRecord | None
    deleted: DeletedRecord[RelationshipRecord] | None


class RelationshipRestorationStrategy:
    """Restores relationships of one user, with the embedding of their present text; see `compare_and_set`."""

    def __init__(
        self, relationships: RelationshipRepository, context: WriteContext, *, user_id: str, skip: int = 0
    ) -> None:
        """Prepare.

        Args:
            relationships: reads the relationships.
            context: what every write needs.
            user_id: owner of the relationships.
            skip: number of later deletions between the same nodes to leave deleted.
        """
        self._relationships = relationships
        self._clock = context.clock
        self._user_id = user_id
        self._skip = skip
        self._names = {"types": relationships.names["types"], **DELETED_NAMES}
        self._saver = RecordSaver(
            kind=relationships,
            context=context,
            user_id=user_id,
            write=statement("restore_relationships", **self._names),
            options=RelationshipWriteOptions(keep_updated_at=True),
        )

    def identity(self, intent: RelationshipIntent) -> frozenset[str]:
        """The two nodes, in either order."""
        return intent.pair

    async def read(self, intents: Sequence[RelationshipIntent]) -> Sequence[RestorableRelationship]:
        """Read the two nodes of each intent, the relationships between them, and the deleted one.

        Raises:
            NotFoundError: a node does not exist for this user.
            InputError: the labels of the nodes allow no relationship type, or several and none was named.
        """
        pairs = await self._relationships.read_pairs(self._user_id, intents)
        found = [self._relationships.find(intent, pair) for intent, pair in zip(intents, pairs, strict=True)]
        keys = [self._relationships.relationship_key(blank) for _, blank in found]
        rows = await self._relationships.store.read(
            statement("read_deleted_relationships", deleted=self._names["deleted"]),
            {"user_id": self._user_id, "keys": keys, "skip": self._skip},
        )
        deleted = {row["key"]: row for row in rows}
        return [
            RestorableRelationship(
                pair=pair, current=current, deleted=_read_relationship(blank, deleted[key]) if key in deleted else None
            )
            for pair, (current, blank), key in zip(pairs, found, keys, strict=True)
        ]

    def plan(self, intent: RelationshipIntent, state: RestorableRelationship) -> PlannedWrite[RelationshipRecord]:
        """Decide what to write.

        Raises:
            AlreadyExistsError: the nodes are connected.
            NotFoundError: there is no deleted relationship between them.
            InputError: it can no longer be restored.
        """
        between = f"between {state.pair.first} and {state.pair.second}"
        deleted = state.deleted
        if state.current is not None:
            since = ", created after the other was deleted" if deleted else ""
            raise AlreadyExistsError(
                f"A relationship {between} exists{since}. Use update_relationship or add_note_to_relationship on it"
            )
        if deleted is None:
            raise NotFoundError(f"There is no deleted relationship {between}. Use create_relationship to create one")
        deleted.check(f"The relationship {between}", self._clock(), ". Use create_relationship to create it again")
        changes = {"relationship_key": None}
        return PlannedWrite(deleted.record, deleted.record, changes, asked_from=intent.from_entity_key)

    async def save(
        self, plans: Mapping[int, PlannedWrite[RelationshipRecord]]
    ) -> Mapping[int, RelationshipWriteResult | KgAgentError]:
        """Embed and restore; a plan that met a conflict is missing from the result."""
        return await self._saver.save(plans)


def _read_relationship(blank: RelationshipRecord, row: Row) -> DeletedRecord[RelationshipRecord] | None:
    """Read a row; if the relationship was stored in the other direction, it is restored in that direction."""
    if row["from_entity_key"] != blank.from_entity_key:
        blank = replace(
            blank,
            from_element_id=blank.to_element_id,
            from_entity_key=blank.to_entity_key,
            from_name=blank.to_name,
            to_element_id=blank.from_element_id,
            to_entity_key=blank.from_entity_key,
            to_name=blank.from_name,
        )
    record = replace(blank, element_id=row["element_id"], vector_length=row["vector_length"])
    return DeletedRecord.of(record.with_stored(row["properties"]), row)


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
class DeletedPart:
    """A relationship that was deleted with a node.

    Attributes:
        record: the relationship; its element id is that of the node that holds its properties.
        starts: whether it starts at the deleted node.
        other_element_id: the node at its other end; None if it no longer exists.
        other_entity_key: key of that node.
        other_name: name of that node as far as it is known.
        other_is_deleted: whether that node was deleted and can be restored.
    """

    record: RelationshipRecord
    starts: bool
    other_element_id: str | None
    other_entity_key: str
    other_name: str
    other_is_deleted: bool

    def with_key(self, key: str) -> "DeletedPart":
        """The relationship with another key of the deleted node."""
        from_key, to_key = (key, self.other_entity_key) if self.starts else (self.other_entity_key, key)
        return replace(self, record=replace(self.record, from_entity_key=from_key, to_entity_key=to_key))


@dataclass(frozen=True, kw_only=True)
class RestorableNodes:
    """What an intent may restore.

    Attributes:
        nodes: the deleted nodes that the reference may mean.
        existing: the node with the same key that exists now, if there is only one deleted node.
        parts: the relationships that were deleted with that node.
    """

    nodes: tuple[DeletedRecord[NodeRecord], ...]
    existing: NodeRecord | None = None
    parts: tuple[DeletedPart, ...] = ()


@dataclass(frozen=True)
class PlannedRestoration:
    """A node to restore with relationships.

    Attributes:
        deleted: the node as it was deleted.
        record: the node with the key that it gets.
        parts: the relationships, with that key.
        skipped: number of relationships whose other node no longer exists.
        existing: the node that has its key, so that it gets a new one.
    """

    deleted: DeletedRecord[NodeRecord]
    record: NodeRecord
    parts: tuple[DeletedPart, ...]
    skipped: int
    existing: NodeRecord | None


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
                f"{_shown(node.record)}, deleted on {format_minute(node.deleted_at)}"
                for node in state.nodes[:MAX_LISTED]
            )
            raise InputError(
                f"{wanted!r} could refer to {len(state.nodes)} deleted nodes; give the key of one: {listed}"
            )
        [node] = state.nodes
        node.check(_shown(node.record), self._context.clock())
        present = tuple(part for part in state.parts if part.other_element_id is not None)
        missing = [part for part in state.parts if part.other_element_id is None]
        if missing and not intent.skip_missing:
            raise InputError(_others_missing(_shown(node.record), missing))
        record = node.record
        if state.existing is not None:
            record = replace(record, properties={**record.properties, "entity_key": intent.new_key})
            present = tuple(part.with_key(intent.new_key) for part in present)
        return PlannedRestoration(node, record, present, len(missing), state.existing)

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
                "limit": MAX_DELETIONS,
            },
        )
        latest: dict[str, DeletedRecord[NodeRecord]] = {}
        # The ontology may have none of the labels of a node.
        known = (row for row in rows if self._nodes.ontology.labels.keys() & set(row["labels"] or ()))
        for row in known:
            if node := DeletedRecord.of(NodeRecord.read(row, self._nodes.ontology), row):
                latest.setdefault(node.record.entity_key, node)
        now = self._context.clock()
        restorable = [node for node in latest.values() if node.undo_until > now]
        nodes = (latest[forms.keys[0]],) if forms.keys[0] in latest else tuple(restorable or latest.values())
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
            parts=tuple(_read_part(row, node.record) for row in parts if row["neo4j_type"]),
        )

    async def _save(self, plan: PlannedRestoration) -> NodeRestorationResult | None:
        now, embedder = self._context.clock(), self._context.embedder
        records = [part.record for part in plan.parts]
        [node_vector] = await vectors_after(self._nodes, embedder, [(plan.record, plan.record)], now)
        vectors = await vectors_after(self._relationships, embedder, [(record, record) for record in records], now)

        def row(item: tuple[DeletedPart, VectorChange]) -> dict[str, Any]:
            part, vector = item
            return {
                **row_of(self._relationships, part.record, {}, vector, user_id=self._user_id, now=now, updated_at=None),
                "neo4j_type": part.record.neo4j_type,
                "starts": part.starts,
                "other_element_id": part.other_element_id,
                "other_entity_key": part.other_entity_key,
            }

        parameters = {
            "user_id": self._user_id,
            # Embedding took time, in which the node may have expired.
            "now": self._context.clock(),
            "deletion": plan.deleted.deletion,
            "node": {
                **row_of(self._nodes, plan.record, {}, node_vector, user_id=self._user_id, now=now, updated_at=None),
                "entity_key": plan.deleted.record.entity_key,
                "new_key": plan.record.entity_key,
            },
            "relationships": await in_turns(row, zip(plan.parts, vectors, strict=True)),
        }
        try:
            restored = await self._nodes.store.write(statement("restore_node", **self._names), parameters)
        except (ConstraintViolationError, EntityGoneError):
            return None
        if not restored:
            return None
        model = self._nodes.to_model(plan.record)
        if self._context.on_change is not None:
            self._context.on_change(None, model)
            for record in records:
                self._context.on_change(None, self._relationships.to_model(record))
        return NodeRestorationResult(
            record=model,
            relationships=len(records),
            skipped=plan.skipped,
            embedded=sum(change.vector is not None for change in (node_vector, *vectors)),
            existing=None if plan.existing is None else self._nodes.to_model(plan.existing),
        )


def _read_part(row: Row, node: NodeRecord) -> DeletedPart:
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
        starts=starts,
        other_element_id=other["element_id"],
        other_entity_key=other["entity_key"],
        other_name=other_name,
        other_is_deleted=other["is_deleted"],
    )


def _shown(node: NodeRecord) -> str:
    return f"{node.label} {shorten_name(node.text('name'))} ({message_key(node.entity_key)})"


def _others_missing(shown: str, missing: Sequence[DeletedPart]) -> str:
    deleted = [part for part in missing if part.other_is_deleted]
    names = _listed(f"{shorten_name(part.other_name)} ({message_key(part.other_entity_key)})" for part in deleted)
    gone = _listed(message_key(part.other_entity_key) for part in missing if not part.other_is_deleted)
    reasons = [f"deleted: {names}"] if names else []
    reasons += [f"merged or gone: {gone}"] if gone else []
    restore = "Restore the deleted nodes first, or set" if names else "Set"
    return (
        f"{shown} cannot be restored with {counted(len(missing), 'relationship')} whose other node does not exist any "
        f"more ({'; '.join(reasons)}). {restore} skip_missing to true to restore the node without them"
    )


def _listed(names: Iterable[str]) -> str:
    distinct = list(dict.fromkeys(names))
    more = [f"{len(distinct) - MAX_LISTED:,} more"] if len(distinct) > MAX_LISTED else []
    return ", ".join([*distinct[:MAX_LISTED], *more])
