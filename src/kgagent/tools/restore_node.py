"""restore_node: undo delete_node."""

from pydantic import Field

from kgagent.formatting import counted
from kgagent.graph.compare_and_set import compare_and_set_one
from kgagent.graph.node_restoration import NodeRestorationIntent, NodeRestorationStrategy
from kgagent.models.fields import EntityKey
from kgagent.ontology import Ontology
from kgagent.tools.arguments import Arguments, Verbose
from kgagent.tools.base import Tool
from kgagent.tools.context import ToolContext
from kgagent.tools.references import NodeReference
from kgagent.tools.write_answer import WriteAnswerWithRecords


class RestoreNodeArguments(Arguments):
    """Arguments of restore_node."""

    entity_key: EntityKey
    skip_missing: bool = Field(False, description="Leave out relationships whose other node is gone.")
    verbose: Verbose = False


class RestoredNode(WriteAnswerWithRecords):
    """The node that restore_node restored.

    Attributes:
        node: the node.
        relationships_restored: number of relationships that were restored with it.
        relationships_skipped: number of relationships whose other node does not exist any more.
        embeddings_regenerated: embeddings that were made again because their text changed.
    """

    node: NodeReference
    relationships_restored: int
    relationships_skipped: int
    embeddings_regenerated: int

    def short_text(self) -> str:
        """What was restored, and its key."""
        return f"{self.message}\nentity_key: {self.node.entity_key}"


class RestoreNode(Tool[RestoreNodeArguments]):
    """Restores a node."""

    name = "restore_node"
    arguments = RestoreNodeArguments
    result = RestoredNode
    destructive = False

    def description(self, ontology: Ontology) -> str:  # noqa: ARG002
        """The description for the model."""
        return "Undo delete_node until `undo_until`, including the relationships that were deleted with the node."

    async def run(self, context: ToolContext, arguments: RestoreNodeArguments) -> RestoredNode:
        """Restore the node.

        Raises:
            InputError: there is nothing to restore, it is too late, or a node exists again or is missing.
        """
        intent = NodeRestorationIntent(reference=arguments.entity_key, skip_missing=arguments.skip_missing)
        strategy = NodeRestorationStrategy(
            context.nodes, context.relationships, context.write_context, user_id=context.user_id
        )
        restored = await compare_and_set_one(strategy, intent, attempts=context.write_context.attempts)
        node = restored.record
        related = f" and {counted(restored.relationships, 'relationship')}" if restored.relationships else ""
        skipped = f". Skipped {counted(restored.skipped, 'relationship')}" if restored.skipped else ""
        return RestoredNode(
            message=f"Restored {node.label} {node.name}{related}{skipped}",
            node=NodeReference.of(node),
            relationships_restored=restored.relationships,
            relationships_skipped=restored.skipped,
            embeddings_regenerated=restored.embedded,
            written=(node,),
        )
