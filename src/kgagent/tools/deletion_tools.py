"""Tools that delete a relationship or a node."""

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from kgagent.graph.deletion import NodeDeletion, RelationshipDeletion
from kgagent.graph.relationships import RelationshipIntent
from kgagent.models import GraphRelationship
from kgagent.models.fields import EntityKey
from kgagent.tools.arguments import DIRECTION_HINT, Arguments, RelationshipEnds, Verbose
from kgagent.tools.base import Tool
from kgagent.tools.context import ToolContext
from kgagent.tools.references import (
    NodeReference,
    and_relationships,
    described,
    quoted,
    undo,
    utc,
    with_direction,
)
from kgagent.tools.write_results import WriteToolResult


class DeleteRelationshipArguments(RelationshipEnds):
    """Arguments of delete_relationship."""

    verbose: Verbose = False


class DeletedRelationship(WriteToolResult):
    """The relationship that delete_relationship deleted.

    Attributes:
        undo_until: until when it can be restored (ISO 8601, UTC); None if it cannot.
        triplet: the relationship in its direction, such as "Ruth mentor Me".
        relationship: the relationship, with its nodes in the order of the arguments.
    """

    text_fields: ClassVar[tuple[str, ...]] = ("triplet", "undo_until")

    undo_until: str | None = None
    triplet: str
    relationship: GraphRelationship


class DeleteRelationship(Tool[DeleteRelationshipArguments]):
    """Deletes a relationship."""

    name = "delete_relationship"
    arguments = DeleteRelationshipArguments
    result = DeletedRelationship
    asks_first = True
    text = (
        "Delete a wrong relationship; the user can undo it until `undo_until`. If it ended, "
        "record that with update_relationship instead. " + DIRECTION_HINT
    )

    async def question(self, context: ToolContext, arguments: DeleteRelationshipArguments) -> str:
        """Which relationship would be deleted."""
        record = (await self._deletion(context, arguments).plan()).record
        text = ": ".join(filter(None, (record.triplet, record.description)))
        return f"Delete the relationship {quoted(text)}? {undo(context.undo_window)}"

    async def run(
        self, context: ToolContext, arguments: DeleteRelationshipArguments
    ) -> DeletedRelationship:
        """Delete the relationship."""
        deleted = await self._deletion(context, arguments).run()
        record = deleted.plan.record
        hint = context.undo_hint(deleted.undo_until)
        message = f"Deleted relationship between {record.from_name} and {record.to_name}; {hint}"
        return DeletedRelationship(
            message=with_direction(message, record),
            undo_until=utc(deleted.undo_until),
            triplet=record.triplet,
            relationship=record,
            written=(record,),
        )

    def _deletion(
        self, context: ToolContext, arguments: DeleteRelationshipArguments
    ) -> RelationshipDeletion:
        offered = context.offers("restore")
        hint = ". If it was deleted before, restore restores it" if offered else ""
        ends = arguments.model_dump(exclude={"verbose"})
        intent = RelationshipIntent(**ends, missing=RelationshipIntent.missing + hint)
        return RelationshipDeletion(context.graph, context.undo_window, intent)


class DeleteNodeArguments(Arguments):
    """Arguments of delete_node."""

    other_names: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("name", "node", "key", "id"), "entity_key"
    )

    entity_key: EntityKey
    delete_relationships: bool = Field(
        False, description="Delete its relationships too; otherwise it must have none."
    )
    verbose: Verbose = False


class DeletedNode(WriteToolResult):
    """The node that delete_node deleted.

    Attributes:
        undo_until: until when it can be restored (ISO 8601, UTC); None if it cannot.
        node: the node.
        relationships_deleted: number of relationships that were deleted with it.
    """

    text_fields: ClassVar[tuple[str, ...]] = ("entity_key", "undo_until")

    undo_until: str | None = None
    node: NodeReference
    relationships_deleted: int

    @property
    def entity_key(self) -> str:
        """The key of the node."""
        return self.node.entity_key


class DeleteNode(Tool[DeleteNodeArguments]):
    """Deletes a node."""

    name = "delete_node"
    arguments = DeleteNodeArguments
    result = DeletedNode
    needs_exact_references = True
    asks_first = True
    text = (
        "Delete a wrong node; the user can undo it until `undo_until`. For a duplicate, use "
        "merge_nodes."
    )

    async def question(self, context: ToolContext, arguments: DeleteNodeArguments) -> str:
        """Which node would be deleted, and how many relationships with it."""
        plan = await self._deletion(context, arguments).plan()
        related = and_relationships(len(plan.changes.deleted) - 1)
        return f"Delete {described(plan.record)}{related}? {undo(context.undo_window)}"

    async def run(self, context: ToolContext, arguments: DeleteNodeArguments) -> DeletedNode:
        """Delete the node."""
        deleted = await self._deletion(context, arguments).run()
        node, relationships = deleted.plan.record, len(deleted.plan.changes.deleted) - 1
        hint = context.undo_hint(deleted.undo_until)
        return DeletedNode(
            message=f"Deleted {node.label} {node.name}{and_relationships(relationships)}; {hint}",
            undo_until=utc(deleted.undo_until),
            node=NodeReference.of(node),
            relationships_deleted=relationships,
            written=(node,),
        )

    def _deletion(self, context: ToolContext, arguments: DeleteNodeArguments) -> NodeDeletion:
        return NodeDeletion(
            context.graph,
            context.undo_window,
            arguments.entity_key,
            arguments.delete_relationships,
        )
