"""Deleting nodes and relationships so that they can be restored for a while; see `restoration`."""

from collections.abc import Sequence
from dataclasses import dataclass

from kgagent.errors import InputError, NodeNotFoundError
from kgagent.formatting import beginning, counted, listed
from kgagent.graph.records import RelationshipRecord
from kgagent.graph.reference_forms import message_key
from kgagent.graph.relationships import RelationshipIntent, not_found
from kgagent.graph.whole_write import MAX_RECORDS, Changes, Plan, WholeWrite
from kgagent.models import GraphNode, GraphRelationship

MAX_TRIPLET = 100


@dataclass(frozen=True)
class RelationshipDeletion(WholeWrite[Plan[GraphRelationship]]):
    """Deletes the relationship of an intent."""

    intent: RelationshipIntent

    async def plan(self) -> Plan[GraphRelationship]:
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
        record = relationships.to_model(stored, self.intent.from_entity_key)
        return Plan(record=record, changes=Changes(deleted=(stored,)))


@dataclass(frozen=True)
class NodeDeletion(WholeWrite[Plan[GraphNode]]):
    """Deletes a node.

    Attributes:
        entity_key: its key.
        with_relationships: whether it is deleted although it has relationships, which are deleted
            too.
    """

    entity_key: str
    with_relationships: bool = False

    async def plan(self) -> Plan[GraphNode]:
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
            user_id, key, limit=MAX_RECORDS + 1
        )
        if unmanaged:
            raise InputError(
                f"{shown} has relationships that kgagent does not manage ({', '.join(unmanaged)}); "
                f"delete them with the program that created them"
            )
        if len(own) > MAX_RECORDS:
            raise InputError(
                f"{shown} has more than {MAX_RECORDS:,} relationships; delete some of them first"
            )
        if own and not self.with_relationships:
            raise InputError(_relationships_refused(shown, own))
        return Plan(record=self.graph.nodes.to_model(node), changes=Changes(deleted=(node, *own)))


def _relationships_refused(shown: str, relationships: Sequence[RelationshipRecord]) -> str:
    texts = [repr(beginning(record.triplet, MAX_TRIPLET)) for record in relationships]
    return (
        f"{shown} has {counted(len(relationships), 'relationship')}, which would be deleted too: "
        f"{listed(texts)}. Set delete_relationships to true if that is meant; "
        f"merge_nodes removes a duplicate with the same label without loss"
    )
