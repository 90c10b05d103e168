"""The two passes of a migration: over the nodes and over the relationships."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, ClassVar, Generic, TypeVar

from kgagent.errors import KgAgentError
from kgagent.graph.compare_and_set import compare_and_set
from kgagent.graph.conditions import node_defect, relationship_defect
from kgagent.graph.inspection import (
    InspectedNode,
    InspectedRelationship,
    count_nodes,
    count_relationships,
    inspect_nodes,
    inspect_relationships,
    node_ids,
    relationship_ids,
)
from kgagent.graph.nodes import NodeIntent, NodeRepository, NodeStrategy
from kgagent.graph.record_saver import is_current
from kgagent.graph.records import RelationshipRecord
from kgagent.graph.relationships import RelationshipIntent, RelationshipRepository, RelationshipStrategy
from kgagent.graph.writes import WriteContext, WriteResult
from kgagent.migration.report import Kind, Skipped
from kgagent.migration.writers import (
    NodeMigration,
    RelationshipMigration,
    levels,
    node_options,
    relationship_options,
)

InspectedT = TypeVar("InspectedT")
IntentT = TypeVar("IntentT")

Results = Sequence[WriteResult[Any] | KgAgentError]


@dataclass(frozen=True, kw_only=True)
class Task(Generic[IntentT]):
    """A record to migrate.

    Attributes:
        what: the record, for a person who searches for it.
        user_id: owner of the record.
        intent: what to write.
        text: the text to embed; None if the stored embedding is current.
    """

    what: str
    user_id: str
    intent: IntentT
    text: str | None


class Pass(ABC, Generic[InspectedT, IntentT]):
    """Migrates the records of one kind: all, or those with the given ids."""

    kind: ClassVar[Kind]

    def __init__(
        self,
        write_context: WriteContext,
        *,
        user_id: str | None,
        dry_run: bool,
        element_ids: Sequence[str] | None = None,
    ) -> None:
        self.write_context = write_context
        self.user_id = user_id
        self.dry_run = dry_run
        self.element_ids = element_ids

    @abstractmethod
    async def count(self) -> int:
        """Count the records.

        Raises:
            StoreError: the database failed.
        """

    @abstractmethod
    def ids(self) -> AbstractAsyncContextManager[AsyncIterator[str]]:
        """Iterate over the ids of the records.

        Raises:
            StoreError: the database failed.
        """

    @abstractmethod
    def inspect(self) -> AbstractAsyncContextManager[AsyncIterator[InspectedT]]:
        """Iterate over the records.

        Raises:
            StoreError: the database failed.
        """

    @abstractmethod
    def judge(self, inspected: InspectedT) -> Task[IntentT] | Skipped | None:
        """Decide what a record needs; None if it is in the current form."""

    @abstractmethod
    async def write(self, user_id: str, intents: Sequence[IntentT], write_context: WriteContext) -> Results:
        """Migrate records of one user; each succeeds or fails on its own."""


class NodePass(Pass[InspectedNode, NodeIntent]):
    """Migrates the nodes."""

    kind = "nodes"

    def __init__(
        self,
        nodes: NodeRepository,
        write_context: WriteContext,
        *,
        user_id: str | None,
        dry_run: bool,
        element_ids: Sequence[str] | None = None,
    ) -> None:
        super().__init__(write_context, user_id=user_id, dry_run=dry_run, element_ids=element_ids)
        self._nodes = nodes

    async def count(self) -> int:
        """Count the nodes."""
        return await count_nodes(self._nodes, self.user_id)

    def ids(self) -> AbstractAsyncContextManager[AsyncIterator[str]]:
        """Iterate over the ids of the nodes."""
        return node_ids(self._nodes, self.user_id)

    def inspect(self) -> AbstractAsyncContextManager[AsyncIterator[InspectedNode]]:
        """Iterate over the nodes."""
        return inspect_nodes(self._nodes, self.user_id, element_ids=self.element_ids)

    def judge(self, inspected: InspectedNode) -> Task[NodeIntent] | Skipped | None:
        """A node needs the embedding of its current text, and its current notes in the full-text index."""
        record = inspected.record
        if defect := node_defect(inspected):
            return Skipped(str(inspected), str(defect))
        now = self.write_context.clock()
        text = self._nodes.text(record, now)
        current = is_current(record, text, self.write_context.embedder)
        if current and record.properties.get("notes_text") == record.notes_text(now):
            return None
        return Task(
            what=str(inspected),
            user_id=inspected.user_id,
            intent=NodeMigration(entity_key=record.entity_key, element_id=record.element_id),
            text=None if current else text or None,
        )

    async def write(self, user_id: str, intents: Sequence[NodeIntent], write_context: WriteContext) -> Results:
        """Migrate nodes of one user."""
        options = node_options(dry_run=self.dry_run)
        strategy = NodeStrategy(self._nodes, write_context, user_id=user_id, options=options)
        return await compare_and_set(strategy, intents, attempts=write_context.attempts)


class RelationshipPass(Pass[InspectedRelationship, RelationshipIntent]):
    """Migrates the relationships."""

    kind = "relationships"

    def __init__(
        self,
        relationships: RelationshipRepository,
        write_context: WriteContext,
        *,
        user_id: str | None,
        dry_run: bool,
        element_ids: Sequence[str] | None = None,
    ) -> None:
        super().__init__(write_context, user_id=user_id, dry_run=dry_run, element_ids=element_ids)
        self._relationships = relationships

    async def count(self) -> int:
        """Count the relationships."""
        return await count_relationships(self._relationships, self.user_id)

    def ids(self) -> AbstractAsyncContextManager[AsyncIterator[str]]:
        """Iterate over the ids of the relationships."""
        return relationship_ids(self._relationships, self.user_id)

    def inspect(self) -> AbstractAsyncContextManager[AsyncIterator[InspectedRelationship]]:
        """Iterate over the relationships."""
        return inspect_relationships(self._relationships, self.user_id, element_ids=self.element_ids)

    def judge(self, inspected: InspectedRelationship) -> Task[RelationshipIntent] | Skipped | None:
        """A relationship needs the embedding of its current text, current bookkeeping and no old properties."""
        if defect := relationship_defect(inspected, self._relationships.ontology):
            return Skipped(str(inspected), str(defect))
        record = inspected.record
        now = self.write_context.clock()
        wanted = self._wanted(inspected, now)
        after = replace(record, properties={**record.properties, **wanted})
        text = self._relationships.text(after, now)
        current = is_current(record, text, self.write_context.embedder)
        is_present_form = not record.has_old_properties and all(
            record.properties.get(key) == wanted[key] for key in wanted
        )
        if current and is_present_form:
            return None
        return Task(
            what=str(inspected),
            user_id=inspected.start.user_id,
            intent=_intent(record),
            text=None if current else text or None,
        )

    async def write(self, user_id: str, intents: Sequence[RelationshipIntent], write_context: WriteContext) -> Results:
        """Migrate relationships of one user."""
        options = relationship_options(self._relationships.ontology, dry_run=self.dry_run)
        strategy = RelationshipStrategy(self._relationships, write_context, user_id=user_id, options=options)
        return await compare_and_set(strategy, intents, attempts=write_context.attempts)

    def _wanted(self, inspected: InspectedRelationship, now: datetime) -> dict[str, Any]:
        """The properties of a relationship in the current form, besides its texts."""
        record = inspected.record
        return {
            **levels(self._relationships.ontology, record),
            "notes_text": record.notes_text(now),
            "user_id": inspected.start.user_id,
            "relationship_key": self._relationships.relationship_key(record),
        }


def _intent(record: RelationshipRecord) -> RelationshipMigration:
    return RelationshipMigration(
        from_entity_key=record.from_entity_key,
        to_entity_key=record.to_entity_key,
        neo4j_type=record.neo4j_type,
        element_id=record.element_id,
    )
