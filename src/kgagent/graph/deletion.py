"""Deleting nodes and relationships so that they can be restored for a while; see `restoration`.

The properties of a deleted record move to a node with a label of its own. No search, index or
constraint reads that label, so nodes can be connected again at once.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Generic

from kgagent.errors import InputError, NodeNotFoundError
from kgagent.formatting import beginning, counted
from kgagent.graph.deleted_records import DELETED_NAMES
from kgagent.graph.records import NodeRecord, RelationshipRecord
from kgagent.graph.reference_forms import message_key
from kgagent.graph.relationships import RelationshipIntent, not_found
from kgagent.graph.single_write import SingleWrite, version_of
from kgagent.graph.user_graph import UserGraph
from kgagent.graph.writes import ModelT
from kgagent.models import GraphNode, GraphRelationship

MAX_RELATIONSHIPS = 10_000
"""Maximum number of relationships that are deleted with a node, in one transaction."""

MAX_LISTED = 5
MAX_TRIPLET = 100


@dataclass(frozen=True)
class DeletionPlan(Generic[ModelT]):
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


@dataclass(frozen=True)
class _Deletion(SingleWrite[DeletionPlan[ModelT], DeletionResult[ModelT]]):
    """What the deletions of nodes and of relationships share.

    Attributes:
        graph: the records of the user.
        window: how long what is deleted can be restored; zero keeps nothing.
    """

    graph: UserGraph
    window: timedelta

    async def save(self, plan: DeletionPlan[ModelT]) -> DeletionResult[ModelT] | None:
        """Delete."""
        now = self.graph.context.clock()
        until = now + self.window if self.window else None
        relationships = [
            {
                "element_id": record.element_id,
                "neo4j_type": record.neo4j_type,
                "from_entity_key": record.from_entity_key,
                "to_entity_key": record.to_entity_key,
                "relationship_key": self.graph.relationships.relationship_key(record),
            }
            # Sorted, so that concurrent writes take locks in the same order.
            for record in sorted(plan.relationships, key=lambda record: record.element_id)
        ]
        parameters = {
            "nodes": [] if plan.node is None else [version_of(plan.node)],
            "relationships": relationships,
            "deletion": None if plan.node is None else str(uuid.uuid4()),
            "now": now,
            "undo_until": until,
        }
        if not await self.graph.write("delete_records", parameters, **DELETED_NAMES):
            return None
        return DeletionResult(plan.record, len(relationships), until)


@dataclass(frozen=True)
class RelationshipDeletion(_Deletion[GraphRelationship]):
    """Deletes the relationship of an intent."""

    intent: RelationshipIntent

    async def plan(self) -> DeletionPlan[GraphRelationship]:
        """Find the relationship to delete.

        Raises:
            NotFoundError: it does not exist for this user.
            InputError: the labels of the nodes allow no relationship type, or several and none was
                named.
        """
        relationships = self.graph.relationships
        [pair] = await relationships.read_pairs(self.graph.user_id, [self.intent], for_update=True)
        stored, _ = relationships.find(self.intent, pair)
        if stored is None:
            raise not_found(self.intent, pair)
        return DeletionPlan(relationships.to_model(stored, self.intent.from_entity_key), (stored,))


@dataclass(frozen=True)
class NodeDeletion(_Deletion[GraphNode]):
    """Deletes a node.

    Attributes:
        entity_key: its key.
        with_relationships: whether it is deleted although it has relationships, which are deleted
            too.
    """

    entity_key: str
    with_relationships: bool = False

    async def plan(self) -> DeletionPlan[GraphNode]:
        """Read the node and its relationships, and check that they may be deleted.

        Raises:
            NodeNotFoundError: it does not exist for this user.
            InputError: it is the owner, or has relationships that must not be deleted.
        """
        user_id, key = self.graph.user_id, self.entity_key
        node = (await self.graph.nodes.read(user_id, [key], for_update=True)).get(key)
        if node is None:
            raise NodeNotFoundError(f"Node not found: {key}")
        shown = f"{node.label} {node.text('name')} ({message_key(key)})"
        if node.properties.get("is_owner") is True:
            raise InputError(f"{shown} is the owner of this graph and cannot be deleted")
        own, unmanaged = await self.graph.relationships.read_of_node(
            user_id, key, limit=MAX_RELATIONSHIPS + 1
        )
        if unmanaged:
            raise InputError(
                f"{shown} has relationships that kgagent does not manage ({', '.join(unmanaged)}); "
                f"delete "
                "them with the program that created them"
            )
        if len(own) > MAX_RELATIONSHIPS:
            raise InputError(
                f"{shown} has more than {MAX_RELATIONSHIPS:,} relationships; delete some of them "
                f"first"
            )
        if own and not self.with_relationships:
            raise InputError(_relationships_refused(shown, own))
        return DeletionPlan(self.graph.nodes.to_model(node), own, node)


def _relationships_refused(shown: str, relationships: Sequence[RelationshipRecord]) -> str:
    listed = [repr(beginning(record.triplet, MAX_TRIPLET)) for record in relationships[:MAX_LISTED]]
    more = (
        f" and {len(relationships) - MAX_LISTED:,} more" if len(relationships) > MAX_LISTED else ""
    )
    return (
        f"{shown} has {counted(len(relationships), 'relationship')}, which would be deleted too: "
        f"{', '.join(listed)}"
        f"{more}. Set delete_relationships to true if that is meant; merge_nodes removes a "
        f"duplicate with the same "
        "label without loss"
    )
