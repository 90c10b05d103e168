"""Creates and changes relationships so that each embedding is always that of its relationship's current text."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Generic

from kgagent.errors import AlreadyExistsError
from kgagent.graph.compare_and_set import StateT
from kgagent.graph.identifiers import Identifier
from kgagent.graph.record_writer import PlannedWrite, RecordWriter, WriteContext, WriteResult, without_nothing
from kgagent.graph.records import LEVEL_FIELDS, RelationshipRecord
from kgagent.graph.relationships import PairState, RelationshipIntent, RelationshipRepository, not_found
from kgagent.models import GraphRelationship

RelationshipWriteResult = WriteResult[GraphRelationship]
"""A relationship after a write, told from the end that the caller named first."""


class RelationshipRecordWriter(
    RecordWriter[RelationshipIntent, StateT, RelationshipRecord, GraphRelationship], Generic[StateT]
):
    """Writes relationships of one user, whatever it is that is read of them before."""

    vector_property = "relationship_embedding"
    create_statement = "create_relationships"

    def __init__(
        self,
        repository: RelationshipRepository,
        writing: WriteContext,
        *,
        user_id: str,
        names: Mapping[str, Identifier] | None = None,
    ) -> None:
        super().__init__(repository.store, names or repository.names, writing, user_id=user_id)
        self._repository = repository

    def identity(self, intent: RelationshipIntent) -> frozenset[str]:
        """The two nodes, in either order."""
        return frozenset((intent.from_entity_key, intent.to_entity_key))

    def text(self, record: RelationshipRecord, now: datetime) -> str:
        """The embedding text of a relationship."""
        return self._repository.text(record, now)

    def show(self, planned: PlannedWrite[RelationshipIntent, RelationshipRecord]) -> GraphRelationship:
        """The relationship from the end that the caller named first."""
        return planned.after.to_model(self._repository.ontology, asked_from=planned.intent.from_entity_key)

    def place(self, record: RelationshipRecord) -> Mapping[str, Any]:
        """Its type and its two ends."""
        return {
            "neo4j_type": record.neo4j_type,
            "from_element_id": record.from_element_id,
            "from_entity_key": record.from_entity_key,
            "to_element_id": record.to_element_id,
            "to_entity_key": record.to_entity_key,
        }

    def kept_properties(self, record: RelationshipRecord, now: datetime) -> Mapping[str, Any]:
        """Those of every record, the key that makes it one of its kind, and its direction under its present name."""
        return {
            **super().kept_properties(record, now),
            "relationship_key": self._repository.relationship_key(record),
            "is_reversed": record.properties.get("is_reversed"),
        }

    def needs_tidying(self, record: RelationshipRecord, now: datetime) -> bool:
        """Whether it holds fields that kgagent removes, or lacks those that it keeps, or has them wrong."""
        return record.has_old_properties or super().needs_tidying(record, now)


class RelationshipWriter(RelationshipRecordWriter[PairState]):
    """Creates and changes the relationships of one user."""

    update_statement = "update_relationships"

    async def read(self, intents: Sequence[RelationshipIntent]) -> Sequence[PairState]:
        """Read the two nodes of each intent and what is between them."""
        return await self._repository.read_pairs(self._user_id, intents)

    def plan(
        self, intent: RelationshipIntent, state: PairState
    ) -> PlannedWrite[RelationshipIntent, RelationshipRecord]:
        """Decide what to write.

        Raises:
            NotFoundError: what it is about does not exist for this user.
            AlreadyExistsError: what it would create is there.
            InputError: a value is not one that it may be.
        """
        stored, blank = self._repository.find(intent, state)
        if stored is None and not intent.create:
            raise not_found(intent, state)
        if stored is not None and intent.create and not intent.or_update:
            raise AlreadyExistsError(
                f"Relationship already exists between {state.first} and {state.second}. "
                "Use update_relationship tool to modify existing relationships instead of creating duplicates."
            )
        before = stored or blank
        values = self._levels_in_words(before) | self._values(intent, before.neo4j_type)
        changes = self.changes(before, values, intent.notes)
        after = replace(before, properties=without_nothing({**before.properties, **changes}))
        return PlannedWrite(intent, stored, after, changes)

    def _levels_in_words(self, record: RelationshipRecord) -> dict[str, Any]:
        """What an old graph holds as a word or as text, as the number that it is."""
        known = {field: record.known_level(self._repository.ontology, field) for field in LEVEL_FIELDS}
        return {
            field: level
            for field, level in known.items()
            if level is not None and isinstance(record.properties.get(field), str)
        }

    def _values(self, intent: RelationshipIntent, neo4j_type: str) -> dict[str, Any]:
        level = self._repository.ontology.level
        return {
            key: level(neo4j_type, key, value) if key in LEVEL_FIELDS else value for key, value in intent.values.items()
        }
