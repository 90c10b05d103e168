"""delete_node: remove a node with its relationships, with a time to undo it."""

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from kgagent.formatting import counted
from kgagent.graph.compare_and_set import compare_and_set_one
from kgagent.graph.node_deletion import NodeDeletionIntent, NodeDeletionStrategy
from kgagent.models.fields import EntityKey
from kgagent.models.note import format_utc
from kgagent.ontology import Ontology
from kgagent.tools.arguments import Arguments, Verbose
from kgagent.tools.base import Tool, ToolResult
from kgagent.tools.context import ToolContext
from kgagent.tools.question import Question, described, plan_one, undo
from kgagent.tools.references import NodeReference
from kgagent.tools.write_results import WriteToolResultWithRecords


class DeleteNodeArguments(Arguments):
    """Arguments of delete_node."""

    not_in_schema: ClassVar[frozenset[str]] = frozenset({"verbose"})
    other_names: ClassVar[Mapping[str, str]] = dict.fromkeys(("name", "node", "key", "id"), "entity_key")

    entity_key: EntityKey
    delete_relationships: bool = Field(False, description="Delete its relationships too; otherwise it must have none.")
    verbose: Verbose = False


class DeletedNode(WriteToolResultWithRecords):
    """The node that delete_node deleted.

    Attributes:
        undo_until: until when restore_node can restore it (ISO 8601, UTC); None if it cannot.
        node: the node.
        relationships_deleted: number of relationships that were deleted with it.
    """

    undo_until: str | None = None
    node: NodeReference
    relationships_deleted: int

    def short_text(self) -> str:
        """What was deleted, its key, and until when it can be restored."""
        undo = [] if self.undo_until is None else [f"undo_until: {self.undo_until}"]
        return "\n".join([self.message, f"entity_key: {self.node.entity_key}", *undo])


class DeleteNodeQuestion(Question[DeleteNodeArguments]):
    """Says which node would be deleted, and how many relationships with it."""

    name = "delete_node.question"
    arguments = DeleteNodeArguments
    needs_exact_references = True

    async def run(self, context: ToolContext, arguments: DeleteNodeArguments) -> ToolResult:
        """Ask.

        Raises:
            InputError: the node does not exist, is the owner, or has relationships.
        """
        plan = await plan_one(_strategy(context), _intent(arguments))
        related = f" and {counted(len(plan.relationships), 'relationship')}" if plan.relationships else ""
        return ToolResult(message=f"Delete {described(plan.node)}{related}? {undo(context.undo_window)}")


class DeleteNode(Tool[DeleteNodeArguments]):
    """Deletes a node."""

    name = "delete_node"
    arguments = DeleteNodeArguments
    result = DeletedNode
    needs_exact_references = True
    question = DeleteNodeQuestion()

    def description(self, ontology: Ontology) -> str:  # noqa: ARG002
        """The description for the model."""
        return (
            "Delete a wrong node; the user can restore it until `undo_until`. If it duplicates another "
            "node, use merge_nodes."
        )

    async def run(self, context: ToolContext, arguments: DeleteNodeArguments) -> DeletedNode:
        """Delete the node.

        Raises:
            InputError: the node does not exist, is the owner, or has relationships.
        """
        attempts = context.write_context.attempts
        deleted = await compare_and_set_one(_strategy(context), _intent(arguments), attempts=attempts)
        node, until = deleted.record, deleted.undo_until
        related = f" and {counted(deleted.relationships, 'relationship')}" if deleted.relationships else ""
        undo = context.undo_hint("restore_node", until)
        return DeletedNode(
            message=f"Deleted {node.label} {node.name}{related}; {undo}",
            undo_until=None if until is None else format_utc(until),
            node=NodeReference.of(node),
            relationships_deleted=deleted.relationships,
            written=(node,),
        )


def _intent(arguments: DeleteNodeArguments) -> NodeDeletionIntent:
    return NodeDeletionIntent(entity_key=arguments.entity_key, with_relationships=arguments.delete_relationships)


def _strategy(context: ToolContext) -> NodeDeletionStrategy:
    return NodeDeletionStrategy(
        context.nodes,
        context.relationships,
        context.write_context,
        user_id=context.user_id,
        window=context.undo_window,
    )
