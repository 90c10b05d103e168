"""restore_node: undo delete_node."""

import uuid

from pydantic import Field

from kgagent.errors import KgAgentError
from kgagent.formatting import counted, in_one_line
from kgagent.graph.compare_and_set import compare_and_set_one
from kgagent.graph.merge_plan import MergeIntent
from kgagent.graph.node_restoration import NodeRestorationIntent, NodeRestorationResult, NodeRestorationStrategy
from kgagent.graph.reference_forms import message_key
from kgagent.models import GraphNode
from kgagent.models.fields import EntityKey
from kgagent.ontology import Ontology
from kgagent.plain_names import normalised_name
from kgagent.tools.arguments import Arguments, Verbose
from kgagent.tools.base import Tool
from kgagent.tools.context import ToolContext
from kgagent.tools.merge_nodes import merge
from kgagent.tools.references import NodeReference
from kgagent.tools.write_results import WriteToolResultWithRecords


class RestoreNodeArguments(Arguments):
    """Arguments of restore_node."""

    entity_key: EntityKey
    skip_missing: bool = Field(False, description="Skip relationships whose other node is gone.")
    verbose: Verbose = False


class RestoredNode(WriteToolResultWithRecords):
    """The node that restore_node restored.

    Attributes:
        node: the node.
        relationships_restored: number of relationships that were restored with it.
        relationships_skipped: number of relationships whose other node no longer exists.
        embeddings_regenerated: embeddings that were made again because their text changed.
    """

    node: NodeReference
    relationships_restored: int
    relationships_skipped: int
    embeddings_regenerated: int

    def short_text(self) -> str:
        """What was restored, and its key."""
        return f"{self.message}\nentity_key: {self.node.entity_key}"


async def _merged(context: ToolContext, restored: NodeRestorationResult) -> tuple[GraphNode, str]:
    """The node as it is now, and what to say if a node that was created after the deletion has its key.

    If that has the same name, it is the same node, so the restored one becomes part of it.
    """
    node, existing = restored.record, restored.existing
    if existing is None:
        return node, ""
    shown = f"{existing.label} {existing.name} ({message_key(existing.entity_key)})"
    beside = f". It has a new key, because {shown} now has its old one"
    if (node.label, normalised_name(node.name)) != (existing.label, normalised_name(existing.name)):
        return node, beside
    try:
        merged = await merge(context, MergeIntent(keep=existing.entity_key, drop=node.entity_key))
    except KgAgentError as error:
        return node, f"{beside}. The two could not be merged: {error}"
    same = node.description in {"", merged.node.description}
    kept = "" if same else f". Kept as a note, description: {in_one_line(node.description)}"
    return merged.node, f" into {shown}, which was created after the deletion{kept}"


class RestoreNode(Tool[RestoreNodeArguments]):
    """Restores a node."""

    name = "restore_node"
    arguments = RestoreNodeArguments
    result = RestoredNode
    destructive = False
    resolves_references = False

    def description(self, ontology: Ontology) -> str:  # noqa: ARG002
        """The description for the model."""
        return (
            "Undo delete_node, before `undo_until`, with the relationships deleted with the node. If it has been "
            "created again, the two are merged."
        )

    async def run(self, context: ToolContext, arguments: RestoreNodeArguments) -> RestoredNode:
        """Restore the node.

        Raises:
            InputError: there is nothing to restore, it is too late, or a node is missing.
        """
        intent = NodeRestorationIntent(
            reference=arguments.entity_key, skip_missing=arguments.skip_missing, new_key=str(uuid.uuid4())
        )
        strategy = NodeRestorationStrategy(
            context.nodes, context.relationships, context.write_context, user_id=context.user_id
        )
        restored = await compare_and_set_one(strategy, intent, attempts=context.write_context.attempts)
        node, new = await _merged(context, restored)
        related = f" and {counted(restored.relationships, 'relationship')}" if restored.relationships else ""
        skipped = f". Skipped {counted(restored.skipped, 'relationship')}" if restored.skipped else ""
        return RestoredNode(
            message=f"Restored {node.label} {node.name}{related}{new}{skipped}",
            node=NodeReference.of(node),
            relationships_restored=restored.relationships,
            relationships_skipped=restored.skipped,
            embeddings_regenerated=restored.embedded,
            written=(node,),
        )
