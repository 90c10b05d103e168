"""Deleting relationships so that they can be restored for a while, and restoring them.

The properties of a deleted relationship move to a node with a label of its own. No search, index or constraint reads
that label, so its two nodes can be connected again at once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from kgagent.errors import AlreadyExistsError, EntityGoneError, InputError, KgAgentError, NotFoundError
from kgagent.graph.deleted_records import DELETED_NAMES, format_minute
from kgagent.graph.identifiers import Identifier
from kgagent.graph.pair_state import PairState
from kgagent.graph.record_saver import RecordSaver
from kgagent.graph.records import RelationshipRecord
from kgagent.graph.relationships import (
    RelationshipIntent,
    RelationshipRepository,
    RelationshipWriteOptions,
    RelationshipWriteResult,
    not_found,
)
from kgagent.graph.statements import statement
from kgagent.graph.store import Row
from kgagent.graph.writes import PlannedWrite, WriteContext
from kgagent.models import GraphRelationship


@dataclass(frozen=True)
class PlannedDeletion:
    """A relationship to delete, as callers see it and as it is stored."""

    record: GraphRelationship
    stored: RelationshipRecord


@dataclass(frozen=True)
class DeletionResult:
    """A relationship that was deleted.

    Attributes:
        record: the relationship before its deletion.
        undo_until: until when it can be restored; None if it cannot.
    """

    record: GraphRelationship
    undo_until: datetime | None


class DeletionStrategy:
    """Deletes relationships of one user, each in one transaction; see `compare_and_set`."""

    def __init__(
        self, relationships: RelationshipRepository, context: WriteContext, *, user_id: str, window: timedelta
    ) -> None:
        self._relationships = relationships
        self._clock = context.clock
        self._user_id = user_id
        self._window = window

    def identity(self, intent: RelationshipIntent) -> frozenset[str]:
        """The two nodes, in either order."""
        return intent.pair

    async def read(self, intents: Sequence[RelationshipIntent]) -> Sequence[PairState]:
        """Read the two nodes of each intent and the relationships between them."""
        return await self._relationships.read_pairs(self._user_id, intents, for_update=True)

    def plan(self, intent: RelationshipIntent, state: PairState) -> PlannedDeletion:
        """Find the relationship to delete.

        Raises:
            NotFoundError: it does not exist for this user.
            InputError: the labels of the nodes allow no relationship type, or several and none was named.
        """
        stored, _ = self._relationships.find(intent, state)
        if stored is None:
            raise not_found(intent, state)
        return PlannedDeletion(self._relationships.to_model(stored, intent.from_entity_key), stored)

    async def save(self, plans: Mapping[int, PlannedDeletion]) -> Mapping[int, DeletionResult]:
        """Delete; a relationship that another writer deleted is missing from the result."""
        now = self._clock()
        until = now + self._window if self._window else None
        return {
            position: DeletionResult(plan.record, until)
            for position, plan in plans.items()
            if await self._delete(plan.stored, now, until)
        }

    async def _delete(self, record: RelationshipRecord, now: datetime, until: datetime | None) -> bool:
        try:
            [row] = await self._relationships.store.write(
                statement("delete_relationship", **_names(self._relationships)),
                {
                    "user_id": self._user_id,
                    "relationship": relationship_to_delete(record, self._relationships),
                    "deletion": None,
                    "now": now,
                    "undo_until": until,
                },
            )
        except EntityGoneError:
            return False
        return bool(row["deleted"])


def relationship_to_delete(record: RelationshipRecord, relationships: RelationshipRepository) -> dict[str, str]:
    """The parameter by which a statement finds a relationship that it deletes and keeps."""
    return {
        "element_id": record.element_id,
        "neo4j_type": record.neo4j_type,
        "from_entity_key": record.from_entity_key,
        "to_entity_key": record.to_entity_key,
        "relationship_key": relationships.relationship_key(record),
    }


@dataclass(frozen=True, kw_only=True)
class DeletedRelationship:
    """A deleted relationship that may be restored.

    Attributes:
        record: the relationship; its element id is that of the node that holds its properties.
        deleted_at: when it was deleted.
        undo_until: until when it can be restored.
    """

    record: RelationshipRecord
    deleted_at: datetime
    undo_until: datetime


@dataclass(frozen=True, kw_only=True)
class RestorableState:
    """Two nodes of a user, the relationship between them, and the one that was deleted last."""

    pair: PairState
    current: RelationshipRecord | None
    deleted: DeletedRelationship | None


class RestorationStrategy:
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
        self._names = _names(relationships)
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

    async def read(self, intents: Sequence[RelationshipIntent]) -> Sequence[RestorableState]:
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
        deleted = {row["key"]: row for row in rows if row["deleted_at"] and row["undo_until"]}
        return [
            RestorableState(
                pair=pair, current=current, deleted=_read_deleted(blank, deleted[key]) if key in deleted else None
            )
            for pair, (current, blank), key in zip(pairs, found, keys, strict=True)
        ]

    def plan(self, intent: RelationshipIntent, state: RestorableState) -> PlannedWrite[RelationshipRecord]:
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
        if deleted.undo_until <= self._clock():
            raise InputError(
                f"The relationship {between}, deleted on {format_minute(deleted.deleted_at)}, was restorable until "
                f"{format_minute(deleted.undo_until)}. Use create_relationship to create it again"
            )
        changes = {"relationship_key": None}
        return PlannedWrite(deleted.record, deleted.record, changes, asked_from=intent.from_entity_key)

    async def save(
        self, plans: Mapping[int, PlannedWrite[RelationshipRecord]]
    ) -> Mapping[int, RelationshipWriteResult | KgAgentError]:
        """Embed and restore; a plan that met a conflict is missing from the result."""
        return await self._saver.save(plans)


def _names(relationships: RelationshipRepository) -> dict[str, Identifier]:
    return {"types": relationships.names["types"], **DELETED_NAMES}


def _read_deleted(blank: RelationshipRecord, row: Row) -> DeletedRelationship:
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
    return DeletedRelationship(
        record=record.with_stored(row["properties"]),
        deleted_at=row["deleted_at"].to_native(),
        undo_until=row["undo_until"].to_native(),
    )
