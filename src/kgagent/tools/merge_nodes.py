"""merge_nodes: make one node of two that represent the same thing."""

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from kgagent.formatting import beginning, in_one_line
from kgagent.graph.compare_and_set import compare_and_set_one
from kgagent.graph.merge_plan import MergeIntent
from kgagent.graph.merge_strategy import MergeResult, MergeStrategy
from kgagent.models import GraphNode
from kgagent.models.fields import EntityKey
from kgagent.models.ingestion_state import merge_ingestion_state
from kgagent.models.plain import aliases_in
from kgagent.ontology import Ontology
from kgagent.tools.arguments import Arguments, Verbose
from kgagent.tools.base import Tool, ToolResult
from kgagent.tools.context import ToolContext
from kgagent.tools.question import Question, described, plan_one
from kgagent.tools.write_results import WriteToolResult

MAX_NOTES, MAX_NOTE_TEXT = 20, 300
"""Notes that the answer lists, and characters of each."""


class MergeNodesArguments(Arguments):
    """Arguments of merge_nodes."""

    not_in_schema: ClassVar[frozenset[str]] = frozenset({"verbose"})
    other_names: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("to", "into", "target", "to_entity_key", "keep"), "keep_entity_key"),
        **dict.fromkeys(("from", "source", "from_entity_key", "drop", "duplicate"), "drop_entity_key"),
    }

    keep_entity_key: EntityKey = Field(description="Node to keep: entity_key or name.")
    drop_entity_key: EntityKey = Field(description="Node to merge into it and remove.")
    verbose: Verbose = False


class MergedNodes(WriteToolResult):
    """The node after merge_nodes.

    Attributes:
        dropped_node: the node that was removed, without its notes and properties, which `node` has now.
        relationships_moved: relationships of the removed node that the kept one has now.
        relationships_merged: relationships of both nodes with the same third node, made one.
        relationships_dropped: relationships between the two nodes.
        kept_as_notes: what the removed node and its relationships stated otherwise: the beginning of each new note.
        sources_renamed: notes that named the removed node as their source.
        embeddings_regenerated: embeddings that were made again because their text changed.
        node: the node that was kept.
    """

    dropped_node: GraphNode
    relationships_moved: int
    relationships_merged: int
    relationships_dropped: int
    kept_as_notes: tuple[str, ...] = ()
    sources_renamed: int
    embeddings_regenerated: int
    node: GraphNode

    def short_text(self) -> str:
        """What was merged, what happened to the relationships, and what became a note."""
        counts = {
            "moved": self.relationships_moved,
            "merged with those of the kept node": self.relationships_merged,
            "between the two removed": self.relationships_dropped,
        }
        done = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
        aliases = aliases_in(self.node.properties)
        return "\n".join(
            [
                self.message,
                f"entity_key: {self.node.entity_key}",
                *([f"Relationships: {done}"] if done else []),
                *([f"Aliases: {in_one_line(', '.join(aliases))}"] if aliases else []),
                *(f"Kept as a note: {one}" for one in self.kept_as_notes),
            ]
        )


async def merge(context: ToolContext, intent: MergeIntent) -> MergeResult:
    """Merge two nodes.

    Raises:
        InputError: a node does not exist, or the two cannot be merged.
    """
    return await compare_and_set_one(_strategy(context), intent, attempts=context.write_context.attempts)


class MergeNodesQuestion(Question[MergeNodesArguments]):
    """Says which nodes would be merged."""

    name = "merge_nodes.question"
    arguments = MergeNodesArguments
    needs_exact_references = True

    async def run(self, context: ToolContext, arguments: MergeNodesArguments) -> ToolResult:
        """Ask.

        Raises:
            InputError: a node does not exist, or the two cannot be merged.
        """
        plan = await plan_one(_strategy(context), _intent(arguments))
        kept, dropped = described(plan.node.stored), described(plan.drop)
        return ToolResult(message=f"Merge {dropped} into {kept}? It cannot be undone")


class MergeNodes(Tool[MergeNodesArguments]):
    """Merges two nodes."""

    name = "merge_nodes"
    arguments = MergeNodesArguments
    result = MergedNodes
    needs_exact_references = True
    question = MergeNodesQuestion()

    def description(self, ontology: Ontology) -> str:  # noqa: ARG002
        """The description for the model."""
        return (
            "Merge two nodes of the same label that are the same thing. The kept node keeps its key, name and values, "
            "and receives the other's relationships, notes and names, and values that it lacks. It cannot be undone."
        )

    async def run(self, context: ToolContext, arguments: MergeNodesArguments) -> MergedNodes:
        """Merge the nodes.

        Raises:
            InputError: a node does not exist, or the two cannot be merged.
        """
        merged = await merge(context, _intent(arguments))
        dropped = merged.dropped_node
        return MergedNodes(
            message=f"Merged {dropped.name or dropped.entity_key} into {merged.node.label} {merged.node.name}",
            dropped_node=dropped.model_copy(update={"notes": (), "properties": {}}),
            relationships_moved=merged.moved,
            relationships_merged=merged.merged,
            relationships_dropped=merged.dropped,
            kept_as_notes=tuple(beginning(one, MAX_NOTE_TEXT) for one in merged.lost[:MAX_NOTES]),
            sources_renamed=merged.sources,
            embeddings_regenerated=merged.embedded,
            node=merged.node,
            written=(merged.node,),
        )


def _intent(arguments: MergeNodesArguments) -> MergeIntent:
    return MergeIntent(keep=arguments.keep_entity_key, drop=arguments.drop_entity_key)


def _strategy(context: ToolContext) -> MergeStrategy:
    return MergeStrategy(
        context.nodes,
        context.relationships,
        context.write_context,
        user_id=context.user_id,
        merge_properties=merge_ingestion_state,
    )
