"""Deleting nodes and relationships so that they can be restored for a while; see `restoration`.

The properties of a deleted record move to a node with a label of its own. No search, index or constraint reads that
label, so nodes can be connected again at once.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Generic

from kgagent.errors import ConstraintViolationError, EntityGoneError, InputError, NodeNotFoundError
from kgagent.formatting import beginning, counted
from kgagent.graph.deleted_records import DELETED_NAMES
from kgagent.graph.nodes import NodeRepository
from kgagent.graph.pair_state import PairState
from kgagent.graph.record_changes import version_of
from kgagent.graph.records import NodeRecord, RelationshipRecord
from kgagent.graph.reference_forms import message_key
from kgagent.graph.relationships import RelationshipIntent, RelationshipRepository, not_found
from kgagent.graph.statements import statement
from kgagent.graph.writes import ModelT, WriteContext
from kgagent.models import GraphNode, GraphRelationship

MAX_RELATIONSHIPS = 10_000
"""Maximum number of relationships that are deleted with a node, in one transaction."""

MAX_LISTED = 5
MAX_TRIPLET = 100


@dataclass(frozen=True)
class PlannedDeletion(Generic[ModelT]):
    """What one transaction deletes.

    Attributes:
        record: the node or relationship as callers see it.
        relationships: it, or all relationships of the node.
        node: the node; None if only a relationship is deleted.
    """

    record: ModelT
    relationships: tuple[RelationshipRecord, ...]
    node: NodeRecord | None = None


@dataclass(frozen=True)
class DeletionResult(Generic[ModelT]):
    """A record that was deleted.

    Attributes:
        record: the record before its deletion.
        relationships: number of relationships that were deleted.
        undo_until: until when they can be restored; None if they cannot.
    """

    record: ModelT
    relationships: int
    undo_until: datetime | None


class _Deletions(Generic[ModelT]):
    """What the deletions of nodes and of relationships share."""

    def __init__(
        self, relationships: RelationshipRepository, context: WriteContext, *, user_id: str, window: timedelta
    ) -> None:
        self._relationships = relationships
        self._clock = context.clock
        self._user_id = user_id
        self._window = window

    async def save(self, plans: Mapping[int, PlannedDeletion[ModelT]]) -> Mapping[int, DeletionResult[ModelT]]:
        """Delete; a plan that met a conflict is missing from the result."""
        now = self._clock()
        until = now + self._window if self._window else None
        return {
            position: DeletionResult(plan.record, len(plan.relationships), until)
            for position, plan in plans.items()
            if await self._delete(plan, now, until)
        }

    async def _delete(self, plan: PlannedDeletion[ModelT], now: datetime, until: datetime | None) -> bool:
        relationships = [
            {
                "element_id": record.element_id,
                "neo4j_type": record.neo4j_type,
                "from_entity_key": record.from_entity_key,
                "to_entity_key": record.to_entity_key,
                "relationship_key": self._relationships.relationship_key(record),
            }
            # Sorted, so that concurrent writes take locks in the same order.
            for record in sorted(plan.relationships, key=lambda record: record.element_id)
        ]
        parameters = {
            "user_id": self._user_id,
            "nodes": [] if plan.node is None else [version_of(plan.node)],
            "relationships": relationships,
            "deletion": None if plan.node is None else str(uuid.uuid4()),
            "now": now,
            "undo_until": until,
        }
        text = statement("delete_records", **self._relationships.names, **DELETED_NAMES)
        try:
            return bool(await self._relationships.store.write(text, parameters))
        except (ConstraintViolationError, EntityGoneError):
            return False


class RelationshipDeletionStrategy(_Deletions[GraphRelationship]):
    """Deletes relationships of one user, each in one transaction; see `compare_and_set`."""

    def identity(self, intent: RelationshipIntent) -> frozenset[str]:
        """The two nodes, in either order."""
        return intent.pair

    async def read(self, intents: Sequence[RelationshipIntent]) -> Sequence[PairState]:
        """Read the two nodes of each intent and the relationships between them."""
        return await self._relationships.read_pairs(self._user_id, intents, for_update=True)

    def plan(self, intent: RelationshipIntent, state: PairState) -> PlannedDeletion[GraphRelationship]:
        """Find the relationship to delete.

        Raises:
            NotFoundError: it does not exist for this user.
            InputError: the labels of the nodes allow no relationship type, or several and none was named.
        """
        stored, _ = self._relationships.find(intent, state)
        if stored is None:
            raise not_found(intent, state)
        return PlannedDeletion(self._relationships.to_model(stored, intent.from_entity_key), (stored,))


@dataclass(frozen=True, kw_only=True)
class NodeDeletionIntent:
    """A node to delete.

    Attributes:
        entity_key: its key.
        with_relationships: whether it is deleted although it has relationships, which are deleted too.
    """

    entity_key: str
    with_relationships: bool = False


@dataclass(frozen=True, kw_only=True)
class DeletableNode:
    """A node and its relationships as a deletion reads them.

    Attributes:
        record: the node; None if it does not exist for this user.
        relationships: its relationships, at most one more than can be deleted with it.
        unmanaged_types: types of its relationships that kgagent does not manage.
    """

    record: NodeRecord | None
    relationships: tuple[RelationshipRecord, ...] = ()
    unmanaged_types: tuple[str, ...] = ()


class NodeDeletionStrategy(_Deletions[GraphNode]):
    """Deletes nodes of one user with their relationships, each in one transaction; see `compare_and_set`."""

    def __init__(
        self,
        nodes: NodeRepository,
        relationships: RelationshipRepository,
        context: WriteContext,
        *,
        user_id: str,
        window: timedelta,
    ) -> None:
        super().__init__(relationships, context, user_id=user_id, window=window)
        self._nodes = nodes

    def identity(self, intent: NodeDeletionIntent) -> str:
        """The node's key."""
        return intent.entity_key

    async def read(self, intents: Sequence[NodeDeletionIntent]) -> Sequence[DeletableNode]:
        """Read the node of each intent, and all of its relationships."""
        records = await self._nodes.read(self._user_id, [intent.entity_key for intent in intents], for_update=True)
        return [await self._read(records.get(intent.entity_key)) for intent in intents]

    def plan(self, intent: NodeDeletionIntent, state: DeletableNode) -> PlannedDeletion[GraphNode]:
        """Check that the node may be deleted.

        Raises:
            NodeNotFoundError: it does not exist for this user.
            InputError: it is the owner, or has relationships that must not be deleted.
        """
        node = state.record
        if node is None:
            raise NodeNotFoundError(f"Node not found: {intent.entity_key}")
        shown = f"{node.label} {node.text('name')} ({message_key(node.entity_key)})"
        if node.properties.get("is_owner") is True:
            raise InputError(f"{shown} is the owner of this graph and cannot be deleted")
        if state.unmanaged_types:
            raise InputError(
                f"{shown} has relationships that kgagent does not manage ({', '.join(state.unmanaged_types)}); delete "
                "them with the program that created them"
            )
        if len(state.relationships) > MAX_RELATIONSHIPS:
            raise InputError(f"{shown} has more than {MAX_RELATIONSHIPS:,} relationships; delete some of them first")
        if state.relationships and not intent.with_relationships:
            raise InputError(_relationships_refused(shown, state.relationships))
        return PlannedDeletion(self._nodes.to_model(node), state.relationships, node)

    async def _read(self, record: NodeRecord | None) -> DeletableNode:
        if record is None:
            return DeletableNode(record=None)
        own, unmanaged = await self._relationships.read_of_node(
            self._user_id, record.entity_key, limit=MAX_RELATIONSHIPS + 1
        )
        return DeletableNode(record=record, relationships=own, unmanaged_types=unmanaged)


def _relationships_refused(shown: str, relationships: Sequence[RelationshipRecord]) -> str:
    listed = [repr(beginning(record.triplet, MAX_TRIPLET)) for record in relationships[:MAX_LISTED]]
    more = f" and {len(relationships) - MAX_LISTED:,} more" if len(relationships) > MAX_LISTED else ""
    return (
        f"{shown} has {counted(len(relationships), 'relationship')}, which would be deleted too: {', '.join(listed)}"
        f"{more}. Set delete_relationships to true if that is meant; merge_nodes removes a duplicate with the same "
        "label without loss"
    )
