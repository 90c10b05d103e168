"""Restores deleted relationships, with an embedding that is that of their text now."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from kgagent.errors import AlreadyExistsError, InputError, NotFoundError
from kgagent.graph.record_writer import PlannedWrite, WriteContext
from kgagent.graph.records import RelationshipRecord
from kgagent.graph.relationship_deleter import deletion_names
from kgagent.graph.relationship_writer import RelationshipRecordWriter
from kgagent.graph.relationships import PairState, RelationshipIntent, RelationshipRepository
from kgagent.graph.statements import statement
from kgagent.graph.store import Row
from kgagent.models.note import as_utc


@dataclass(frozen=True, kw_only=True)
class DeletedRelationship:
    """What is kept of a deleted relationship.

    Attributes:
        record: as it was; its element id is that of the node that keeps it.
        undo_until: until when it can be restored.
    """

    record: RelationshipRecord
    deleted_at: datetime
    undo_until: datetime


@dataclass(frozen=True, kw_only=True)
class RestorableState:
    """Two nodes of a user, what joins them now, and what is kept of what joined them."""

    pair: PairState
    current: RelationshipRecord | None
    deleted: DeletedRelationship | None


class RelationshipRestorer(RelationshipRecordWriter[RestorableState]):
    """Restores relationships of one user."""

    update_statement = "restore_relationships"

    def __init__(self, repository: RelationshipRepository, writing: WriteContext, *, user_id: str) -> None:
        super().__init__(repository, writing, user_id=user_id, names=deletion_names(repository))

    async def read(self, intents: Sequence[RelationshipIntent]) -> Sequence[RestorableState]:
        """Read the two nodes of each intent, what is between them, and what was.

        Raises:
            NotFoundError: a node does not exist for this user.
            InputError: the labels of the nodes have no relationship type, or several and none was named.
        """
        pairs = await self._repository.read_pairs(self._user_id, intents)
        found = [self._repository.find(intent, pair) for intent, pair in zip(intents, pairs, strict=True)]
        keys = [self._repository.relationship_key(blank) for _, blank in found]
        rows = await self._store.read(
            statement("read_deleted_relationships", deleted=self._names["deleted"]),
            {"user_id": self._user_id, "keys": keys},
        )
        kept = {row["key"]: row for row in rows}
        return [
            RestorableState(pair=pair, current=current, deleted=_deleted(blank, kept[key]) if key in kept else None)
            for pair, (current, blank), key in zip(pairs, found, keys, strict=True)
        ]

    def plan(
        self, intent: RelationshipIntent, state: RestorableState
    ) -> PlannedWrite[RelationshipIntent, RelationshipRecord]:
        """Decide what to write.

        Raises:
            AlreadyExistsError: the nodes are joined.
            NotFoundError: nothing is kept of a relationship between them.
            InputError: the time in which it could be restored is over.
        """
        between = f"between {state.pair.first} and {state.pair.second}"
        deleted = state.deleted
        if state.current is not None:
            since = ", created since the other was deleted" if deleted else ""
            raise AlreadyExistsError(
                f"A relationship {between} is there{since}. Use update_relationship or add_note_to_relationship on it"
            )
        if deleted is None:
            raise NotFoundError(f"No deleted relationship {between} is kept. Use create_relationship to create one")
        if deleted.undo_until <= self._clock():
            raise InputError(
                f"The relationship {between}, deleted on {_shown(deleted.deleted_at)}, could be restored until "
                f"{_shown(deleted.undo_until)}. Use create_relationship to create it anew"
            )
        return PlannedWrite(intent, deleted.record, deleted.record, {"relationship_key": None})

    def stamp(self, record: RelationshipRecord, now: datetime) -> Mapping[str, Any]:  # noqa: ARG002
        """A new version; when it was changed last stays as it was."""
        return {"version": record.version + 1}


def _deleted(blank: RelationshipRecord, row: Row) -> DeletedRelationship:
    """Read a row; where it was stored the other way round, its ends are too."""
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
    record = replace(
        blank,
        element_id=row["element_id"],
        vector_length=row["vector_length"],
    ).with_stored(row["properties"])
    return DeletedRelationship(
        record=record, deleted_at=row["deleted_at"].to_native(), undo_until=row["undo_until"].to_native()
    )


def _shown(moment: datetime) -> str:
    return as_utc(moment).isoformat(timespec="minutes").replace("+00:00", "Z")
