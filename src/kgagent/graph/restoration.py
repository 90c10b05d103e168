"""Restoring what `deletion` deleted: a relationship, or a node with the relationships that were deleted with it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Generic

from kgagent.errors import AlreadyExistsError, ConstraintViolationError, EntityGoneError, InputError, NotFoundError
from kgagent.formatting import counted
from kgagent.graph.deleted_records import DELETED_NAMES, format_minute
from kgagent.graph.nodes import NodeRepository
from kgagent.graph.pair_state import End, PairState
from kgagent.graph.record_changes import ChangedRecord, embedded_rows
from kgagent.graph.record_saver import with_properties
from kgagent.graph.records import NodeRecord, RelationshipRecord
from kgagent.graph.reference_forms import ReferenceForms, message_key
from kgagent.graph.relationships import RelationshipIntent, RelationshipRepository
from kgagent.graph.statements import statement
from kgagent.graph.store import Row
from kgagent.graph.writes import ModelT, RecordT, WriteContext
from kgagent.models import GraphNode, GraphRelationship
from kgagent.suggestions import shorten_name

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
class PlannedRestoration(Generic[ModelT]):
    """What one transaction restores.

    Attributes:
        record: the node or relationship as callers see it once it is restored.
        relationships: it, or the relationships that were deleted with the node; an end without element id is the node.
        node: the node as it was deleted; None if only a relationship is restored.
        skipped: number of relationships of the node that stay deleted, as their other node no longer exists.
        existing: the node that has the key of the deleted one, so that it gets a new one.
    """

    record: ModelT
    relationships: tuple[RelationshipRecord, ...]
    node: NodeRecord | None = None
    skipped: int = 0
    existing: GraphNode | None = None


@dataclass(frozen=True, kw_only=True)
class RestorationResult(Generic[ModelT]):
    """A record that was restored.

    Attributes:
        record: the record.
        relationships: number of relationships that were restored.
        skipped: number of relationships whose other node no longer exists.
        embedded: number of new embeddings.
        existing: the node that has its key, so that it has got a new one.
    """

    record: ModelT
    relationships: int
    skipped: int
    embedded: int
    existing: GraphNode | None


class _Restorations(Generic[ModelT]):
    """What the restorations of nodes and of relationships share."""

    def __init__(
        self, nodes: NodeRepository, relationships: RelationshipRepository, context: WriteContext, *, user_id: str
    ) -> None:
        self._nodes = nodes
        self._relationships = relationships
        self._context = context
        self._user_id = user_id
        self._names = {**relationships.names, **DELETED_NAMES}

    async def save(self, plans: Mapping[int, PlannedRestoration[ModelT]]) -> Mapping[int, RestorationResult[ModelT]]:
        """Embed and restore; a plan that met a conflict is missing from the result."""
        results = {position: await self._restore(plan) for position, plan in plans.items()}
        return {position: result for position, result in results.items() if result is not None}

    async def _restore(self, plan: PlannedRestoration[ModelT]) -> RestorationResult[ModelT] | None:
        key = {"entity_key": plan.record.entity_key} if isinstance(plan.record, GraphNode) else {}
        nodes = [] if plan.node is None else [ChangedRecord(self._nodes, plan.node, plan.node, key)]
        records = [
            *nodes,
            *(ChangedRecord(self._relationships, record, record, {}) for record in plan.relationships),
        ]
        rows, embedded = await embedded_rows(records, self._context, user_id=self._user_id, keep_updated_at=True)
        keys = [{"relationship_key": record.properties.get("relationship_key")} for record in plan.relationships]
        parameters = {
            "user_id": self._user_id,
            # Embedding took time, in which the records may have expired.
            "now": self._context.clock(),
            "nodes": rows[: len(nodes)],
            "relationships": [{**row, **key} for row, key in zip(rows[len(nodes) :], keys, strict=True)],
        }
        try:
            restored = await self._nodes.store.write(statement("restore_records", **self._names), parameters)
        except (ConstraintViolationError, EntityGoneError):
            return None
        if not restored:
            return None
        if self._context.on_change is not None:
            for model in ([plan.record] if nodes else []) + [*map(self._relationships.to_model, plan.relationships)]:
                self._context.on_change(None, model)
        return RestorationResult(
            record=plan.record,
            relationships=len(plan.relationships),
            skipped=plan.skipped,
            embedded=embedded,
            existing=plan.existing,
        )


@dataclass(frozen=True, kw_only=True)
class RestorableRelationship:
    """Two nodes of a user, the relationship between them, and the one that was deleted last."""

    pair: PairState
    current: RelationshipRecord | None
    deleted: DeletedRecord[RelationshipRecord] | None


class RelationshipRestorationStrategy(_Restorations[GraphRelationship]):
    """Restores relationships of one user, with the embedding of their present text; see `compare_and_set`."""

    def __init__(
        self,
        nodes: NodeRepository,
        relationships: RelationshipRepository,
        context: WriteContext,
        *,
        user_id: str,
        skip: int = 0,
    ) -> None:
        """Prepare.

        Args:
            nodes: reads the nodes.
            relationships: reads the relationships.
            context: what every write needs.
            user_id: owner of the relationships.
            skip: number of later deletions between the same nodes to leave deleted.
        """
        super().__init__(nodes, relationships, context, user_id=user_id)
        self._skip = skip

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
        matches = [self._relationships.find(intent, pair) for intent, pair in zip(intents, pairs, strict=True)]
        keys = [self._relationships.relationship_key(blank) for _, blank in matches]
        rows = await self._relationships.store.read(
            statement("read_deleted_relationships", deleted=self._names["deleted"]),
            {"user_id": self._user_id, "keys": keys, "skip": self._skip},
        )
        by_key = {row["key"]: row for row in rows}
        states = []
        for pair, (current, blank), key in zip(pairs, matches, keys, strict=True):
            deleted = None
            if row := by_key.get(key):
                [first, second] = [end for end in (pair.first, pair.second) if end is not None]
                ends = (first, second) if row["from_entity_key"] == first.entity_key else (second, first)
                deleted = DeletedRecord.of(_relationship({**row, "neo4j_type": blank.neo4j_type}, *ends), row)
            states.append(RestorableRelationship(pair=pair, current=current, deleted=deleted))
        return states

    def plan(self, intent: RelationshipIntent, state: RestorableRelationship) -> PlannedRestoration[GraphRelationship]:
        """Decide what to restore.

        Raises:
            AlreadyExistsError: the nodes are connected.
            NotFoundError: there is no deleted relationship between them.
            InputError: it can no longer be restored.
        """
        between = f"between {state.pair.first} and {state.pair.second}"
        deleted = state.deleted
        if state.current is not None:
            since = ", created after the other was deleted" if deleted else ""
            instead = "; to get the other back, delete it and call restore_relationship with skip 1" if deleted else ""
            raise AlreadyExistsError(
                f"A relationship {between} exists{since}. Use update_relationship or add_note_to_relationship on it"
                f"{instead}"
            )
        if deleted is None:
            raise NotFoundError(f"There is no deleted relationship {between}. Use create_relationship to create one")
        advice = ". Use create_relationship to create it again"
        deleted.check(f"The relationship {between}", self._context.clock(), advice)
        model = self._relationships.to_model(deleted.record, intent.from_entity_key)
        return PlannedRestoration(record=model, relationships=(deleted.record,))


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
class RestorableNodes:
    """What an intent may restore.

    Attributes:
        nodes: the deleted nodes that the reference may mean.
        existing: the node with the same key that exists now, if there is only one deleted node.
        relationships: the relationships that were deleted with that node, between nodes that will exist.
        missing: the other ends of the other relationships, each with whether it can be restored too.
    """

    nodes: tuple[DeletedRecord[NodeRecord], ...]
    existing: NodeRecord | None = None
    relationships: tuple[RelationshipRecord, ...] = ()
    missing: tuple[tuple[End, bool], ...] = ()


class NodeRestorationStrategy(_Restorations[GraphNode]):
    """Restores nodes of one user, with the embeddings of their present texts; see `compare_and_set`."""

    def identity(self, intent: NodeRestorationIntent) -> str:  # noqa: ARG002
        """The user: restorations of one call are applied one after the other."""
        return self._user_id

    async def read(self, intents: Sequence[NodeRestorationIntent]) -> Sequence[RestorableNodes]:
        """Read the deleted nodes that each intent may mean; of a single one, also its relationships."""
        return [await self._read(intent) for intent in intents]

    def plan(self, intent: NodeRestorationIntent, state: RestorableNodes) -> PlannedRestoration[GraphNode]:
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
        [deleted] = state.nodes
        deleted.check(_shown(deleted.record), self._context.clock())
        if state.missing and not intent.skip_missing:
            raise InputError(_others_missing(_shown(deleted.record), state.missing))
        node, existing = deleted.record, None
        if state.existing is not None:
            node = with_properties(node, {"entity_key": intent.new_key})
            existing = self._nodes.to_model(state.existing)
        return PlannedRestoration(
            record=self._nodes.to_model(node),
            relationships=state.relationships,
            node=deleted.record,
            skipped=len(state.missing),
            existing=existing,
        )

    async def _read(self, intent: NodeRestorationIntent) -> RestorableNodes:
        forms = ReferenceForms.of(intent.reference)
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
        readable = (row for row in rows if self._nodes.ontology.labels.keys() & set(row["labels"] or ()))
        for row in readable:
            if node := DeletedRecord.of(NodeRecord.read(row, self._nodes.ontology), row):
                latest.setdefault(node.record.entity_key, node)
        now = self._context.clock()
        restorable = [node for node in latest.values() if node.undo_until > now]
        nodes = (latest[forms.keys[0]],) if forms.keys[0] in latest else tuple(restorable or latest.values())
        if len(nodes) != 1:
            return RestorableNodes(nodes=nodes)
        [node] = nodes
        key = node.record.entity_key
        existing = (await self._nodes.read(self._user_id, [key])).get(key)
        restored = End(
            element_id="",
            entity_key=intent.new_key if existing else key,
            label=node.record.label,
            name=node.record.text("name"),
        )
        rows = await self._nodes.store.read(
            statement("read_deleted_with_node", **self._names),
            {"user_id": self._user_id, "now": now, "deletion": node.deletion, "entity_key": key},
        )
        relationships: list[RelationshipRecord] = []
        missing: list[tuple[End, bool]] = []
        # What another transaction purged while it was read has no type.
        for row in filter(lambda row: row["neo4j_type"], rows):
            other = End(**row["other"])
            if other.element_id:
                ends = (restored, other) if row["from_entity_key"] == key else (other, restored)
                relationships.append(_relationship(row, *ends))
            else:
                missing.append((replace(other, name=shorten_name(other.name)), row["other_is_deleted"]))
        return RestorableNodes(
            nodes=nodes, existing=existing, relationships=tuple(relationships), missing=tuple(missing)
        )


def _relationship(row: Row, start: End, end: End) -> RelationshipRecord:
    """A deleted relationship from one node to another."""
    ends = {
        "from_entity_key": start.entity_key,
        "from_name": start.name,
        "to_entity_key": end.entity_key,
        "to_name": end.name,
    }
    record = RelationshipRecord.read({**row, **ends})
    return replace(record, from_element_id=start.element_id, to_element_id=end.element_id)


def _shown(node: NodeRecord) -> str:
    return f"{node.label} {shorten_name(node.text('name'))} ({message_key(node.entity_key)})"


def _others_missing(shown: str, missing: Sequence[tuple[End, bool]]) -> str:
    deleted = _listed(str(end) for end, is_deleted in missing if is_deleted)
    gone = _listed(str(end) for end, is_deleted in missing if not is_deleted)
    reasons = [f"deleted: {deleted}"] if deleted else []
    reasons += [f"merged or gone: {gone}"] if gone else []
    restore = "Restore the deleted nodes first, or set" if deleted else "Set"
    return (
        f"{shown} cannot be restored with {counted(len(missing), 'relationship')} whose other node does not exist any "
        f"more ({'; '.join(reasons)}). {restore} skip_missing to true to restore the node without them"
    )


def _listed(names: Iterable[str]) -> str:
    distinct = list(dict.fromkeys(names))
    more = [f"{len(distinct) - MAX_LISTED:,} more"] if len(distinct) > MAX_LISTED else []
    return ", ".join([*distinct[:MAX_LISTED], *more])
