"""Deletes relationships so that they can be restored for a while."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from kgagent.errors import EntityGoneError
from kgagent.graph.compare_and_set import CompareAndSet
from kgagent.graph.identifiers import Identifier
from kgagent.graph.record_writer import WriteContext
from kgagent.graph.records import RelationshipRecord
from kgagent.graph.relationships import PairState, RelationshipIntent, RelationshipRepository, not_found
from kgagent.graph.schema_parts import DELETED_RELATIONSHIP
from kgagent.graph.statements import statement
from kgagent.models import GraphRelationship

PURGED_AT_ONCE = 1_000
"""Deleted relationships whose time is over that one more deletion purges, at the most."""


@dataclass(frozen=True)
class RelationshipDeletion:
    """A relationship that is to be deleted, as its caller sees it and as it is stored."""

    record: GraphRelationship
    stored: RelationshipRecord


@dataclass(frozen=True)
class RelationshipDeleted:
    """A relationship that was deleted.

    Attributes:
        shown: as it was.
        undo_until: until when it can be restored; None where nothing was kept.
    """

    record: GraphRelationship
    undo_until: datetime | None


class RelationshipDeleter(CompareAndSet[RelationshipIntent, PairState, RelationshipDeletion, RelationshipDeleted]):
    """Deletes relationships of one user, each in one transaction.

    What a relationship held moves to a node with a label of its own, so that no search, index or constraint knows of it
    and its two nodes can be joined anew at once.
    """

    def __init__(
        self, repository: RelationshipRepository, writing: WriteContext, *, user_id: str, window: timedelta
    ) -> None:
        super().__init__(attempts=writing.attempts)
        self._repository = repository
        self._clock = writing.clock
        self._user_id = user_id
        self._window = window
        self._names = deletion_names(repository)

    def identity(self, intent: RelationshipIntent) -> frozenset[str]:
        """The two nodes, in either order."""
        return frozenset((intent.from_entity_key, intent.to_entity_key))

    async def read(self, intents: Sequence[RelationshipIntent]) -> Sequence[PairState]:
        """Read the two nodes of each intent and what is between them."""
        return await self._repository.read_pairs(self._user_id, intents)

    def plan(self, intent: RelationshipIntent, state: PairState) -> RelationshipDeletion:
        """Find what to delete.

        Raises:
            NotFoundError: it does not exist for this user.
            InputError: the labels of the nodes have no relationship type, or several and none was named.
        """
        stored, _ = self._repository.find(intent, state)
        if stored is None:
            raise not_found(intent, state)
        shown = stored.to_model(self._repository.ontology, asked_from=intent.from_entity_key)
        return RelationshipDeletion(shown, stored)

    async def save(self, planned: Mapping[int, RelationshipDeletion]) -> Mapping[int, RelationshipDeleted]:
        """Delete; what was gone already is missing from the answer."""
        now = self._clock()
        until = now + self._window if self._window else None
        done = {}
        for position, deletion in planned.items():
            if await self._delete(deletion.stored, now, until):
                done[position] = RelationshipDeleted(deletion.record, until)
        return done

    async def _delete(self, record: RelationshipRecord, now: datetime, until: datetime | None) -> bool:
        try:
            [row] = await self._repository.store.write(
                statement("delete_relationship", **self._names),
                {
                    "user_id": self._user_id,
                    "element_id": record.element_id,
                    "neo4j_type": record.neo4j_type,
                    "from_entity_key": record.from_entity_key,
                    "to_entity_key": record.to_entity_key,
                    "relationship_key": self._repository.relationship_key(record),
                    "now": now,
                    "undo_until": until,
                    "purge_limit": PURGED_AT_ONCE,
                },
            )
        except EntityGoneError:
            return False
        return bool(row["deleted"])


def deletion_names(repository: RelationshipRepository) -> dict[str, Identifier]:
    """The names that statements about deleted relationships need."""
    return {"types": repository.names["types"], "deleted": Identifier(DELETED_RELATIONSHIP)}
