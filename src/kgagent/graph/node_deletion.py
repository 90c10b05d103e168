"""Deleting a node with its relationships, so that `node_restoration` can restore all of them for a while."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from kgagent.errors import ConstraintViolationError, EntityGoneError, InputError, NodeNotFoundError
from kgagent.formatting import beginning, counted
from kgagent.graph.deleted_records import DELETED_NAMES
from kgagent.graph.deleted_relationships import relationship_to_delete
from kgagent.graph.nodes import NodeRepository
from kgagent.graph.record_changes import version_of
from kgagent.graph.records import NodeRecord, RelationshipRecord
from kgagent.graph.reference_forms import message_key
from kgagent.graph.relationships import RelationshipRepository
from kgagent.graph.statements import statement
from kgagent.graph.writes import WriteContext
from kgagent.models import GraphNode

MAX_RELATIONSHIPS = 10_000
"""Maximum number of relationships that are deleted with a node, in one transaction."""

MAX_LISTED = 5
MAX_TRIPLET = 100


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


@dataclass(frozen=True)
class PlannedNodeDeletion:
    """A node to delete, and all relationships that it has."""

    node: NodeRecord
    relationships: tuple[RelationshipRecord, ...]


@dataclass(frozen=True)
class NodeDeletionResult:
    """A node that was deleted.

    Attributes:
        record: the node before its deletion.
        relationships: number of relationships that were deleted with it.
        undo_until: until when it can be restored; None if it cannot.
    """

    record: GraphNode
    relationships: int
    undo_until: datetime | None


class NodeDeletionStrategy:
    """Deletes nodes of one user, each in one transaction; see `compare_and_set`."""

    def __init__(
        self,
        nodes: NodeRepository,
        relationships: RelationshipRepository,
        context: WriteContext,
        *,
        user_id: str,
        window: timedelta,
    ) -> None:
        self._nodes = nodes
        self._relationships = relationships
        self._clock = context.clock
        self._user_id = user_id
        self._window = window

    def identity(self, intent: NodeDeletionIntent) -> str:
        """The node's key."""
        return intent.entity_key

    async def read(self, intents: Sequence[NodeDeletionIntent]) -> Sequence[DeletableNode]:
        """Read the node of each intent, and all of its relationships."""
        found = await self._nodes.read(self._user_id, [intent.entity_key for intent in intents], for_update=True)
        return [await self._read(found.get(intent.entity_key)) for intent in intents]

    def plan(self, intent: NodeDeletionIntent, state: DeletableNode) -> PlannedNodeDeletion:
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
        return PlannedNodeDeletion(node, state.relationships)

    async def save(self, plans: Mapping[int, PlannedNodeDeletion]) -> Mapping[int, NodeDeletionResult]:
        """Delete; a plan that met a conflict is missing from the result."""
        now = self._clock()
        until = now + self._window if self._window else None
        return {
            position: NodeDeletionResult(plan.node.to_model(self._nodes.ontology), len(plan.relationships), until)
            for position, plan in plans.items()
            if await self._delete(plan, now, until)
        }

    async def _read(self, record: NodeRecord | None) -> DeletableNode:
        if record is None:
            return DeletableNode(record=None)
        rows = await self._nodes.store.read_for_update(
            statement("read_relationships_of_node", **self._relationships.names),
            {
                "user_id": self._user_id,
                "key": record.entity_key,
                "types": list(self._nodes.ontology.relationships),
                "limit": MAX_RELATIONSHIPS + 1,
            },
        )
        return DeletableNode(
            record=record,
            relationships=tuple(RelationshipRecord.read(row["relationship"]) for row in rows if row["is_own"]),
            unmanaged_types=tuple(dict.fromkeys(row["neo4j_type"] for row in rows if not row["is_own"])),
        )

    async def _delete(self, plan: PlannedNodeDeletion, now: datetime, until: datetime | None) -> bool:
        # Sorted, so that concurrent writes take locks in the same order.
        relationships = sorted(plan.relationships, key=lambda record: record.element_id)
        try:
            [row] = await self._nodes.store.write(
                statement("delete_node", **self._relationships.names, **DELETED_NAMES),
                {
                    "user_id": self._user_id,
                    "node": version_of(plan.node),
                    "relationships": [relationship_to_delete(one, self._relationships) for one in relationships],
                    "deletion": str(uuid.uuid4()),
                    "now": now,
                    "undo_until": until,
                },
            )
        except (ConstraintViolationError, EntityGoneError):
            return False
        return bool(row["deleted"])


def _relationships_refused(shown: str, relationships: Sequence[RelationshipRecord]) -> str:
    listed = [repr(beginning(record.triplet, MAX_TRIPLET)) for record in relationships[:MAX_LISTED]]
    more = f" and {len(relationships) - MAX_LISTED:,} more" if len(relationships) > MAX_LISTED else ""
    return (
        f"{shown} has {counted(len(relationships), 'relationship')}, which would be deleted too: {', '.join(listed)}"
        f"{more}. Set delete_relationships to true if that is meant; merge_nodes removes a duplicate with the same "
        "label without loss"
    )
