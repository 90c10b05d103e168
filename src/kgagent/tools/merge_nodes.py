"""merge_nodes: make one node of two that are the same thing."""

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from kgagent.answers.safe_text import safe_name
from kgagent.formatting import beginning
from kgagent.graph.merging import Merge
from kgagent.models import GraphNode
from kgagent.models.fields import EntityKey
from kgagent.models.plain import aliases_in
from kgagent.tools.arguments import Arguments, Verbose
from kgagent.tools.base import Tool
from kgagent.tools.context import ToolContext
from kgagent.tools.references import described, undo, utc
from kgagent.tools.write_results import WriteToolResult

MAX_NOTES, MAX_NOTE_TEXT = 20, 300
"""Notes that the answer lists, and characters of each."""


class MergeNodesArguments(Arguments):
    """Arguments of merge_nodes."""

    other_names: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("to", "into", "target", "to_entity_key", "keep"), "keep_entity_key"),
        **dict.fromkeys(
            ("from", "source", "from_entity_key", "drop", "duplicate"), "drop_entity_key"
        ),
    }

    keep_entity_key: EntityKey = Field(description="Node to keep: entity_key or name.")
    drop_entity_key: EntityKey = Field(description="Node to merge into it and remove.")
    verbose: Verbose = False


class MergedNodes(WriteToolResult):
    """The node after merge_nodes.

    Attributes:
        dropped_node: the node that was removed, without its notes and properties, which `node` has
            now.
        relationships_moved: relationships of the removed node that the kept one has now.
        relationships_merged: relationships of both nodes with the same third node, made one.
        relationships_dropped: relationships between the two nodes.
        kept_as_notes: what the removed node and its relationships stated otherwise: the beginning
            of each new note.
        sources_renamed: notes that named the removed node as their source.
        embeddings_regenerated: embeddings that were made again because their text changed.
        node: the node that was kept.
        undo_until: until when restoring the removed node takes the merge back (ISO 8601, UTC); None
            if it cannot be undone.
    """

    dropped_node: GraphNode
    relationships_moved: int
    relationships_merged: int
    relationships_dropped: int
    kept_as_notes: tuple[str, ...] = ()
    sources_renamed: int
    embeddings_regenerated: int
    node: GraphNode
    undo_until: str | None = None

    def short_text(self) -> str:
        """What was merged, what happened to the relationships, and what became a note."""
        counts = {
            "moved": self.relationships_moved,
            "merged with those of the kept node": self.relationships_merged,
            "between the two removed": self.relationships_dropped,
        }
        done = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
        aliases = ", ".join(map(safe_name, aliases_in(self.node.properties)))
        return "\n".join(
            [
                self.message,
                f"entity_key: {self.node.entity_key}",
                *([f"Relationships: {done}"] if done else []),
                *([f"Aliases: {aliases}"] if aliases else []),
                *(f"Kept as a note: {note}" for note in self.kept_as_notes),
            ]
        )


class MergeNodes(Tool[MergeNodesArguments]):
    """Merges two nodes."""

    name = "merge_nodes"
    arguments = MergeNodesArguments
    result = MergedNodes
    needs_exact_references = True
    asks_first = True
    text = (
        "Merge two nodes of one label that are the same thing. The kept node keeps its key, "
        "name and values, and gets the other's relationships, notes and names, and values that it "
        "lacks. The user can undo it until `undo_until`."
    )

    async def question(self, context: ToolContext, arguments: MergeNodesArguments) -> str:
        """Which nodes would be merged."""
        plan = await self._merge(context, arguments).plan()
        nodes = f"{described(plan.drop)} into {described(plan.record)}"
        return f"Merge {nodes}? {undo(context.undo_window)}"

    async def run(self, context: ToolContext, arguments: MergeNodesArguments) -> MergedNodes:
        """Merge the nodes."""
        merged = await self._merge(context, arguments).run()
        plan = merged.plan
        times = {**plan.record.properties, "updated_at": utc(merged.at)}
        node = plan.record.model_copy(update={"properties": times})
        hint = context.undo_hint(merged.undo_until)
        return MergedNodes(
            message=f"Merged {plan.drop.name or plan.drop.entity_key} into {plan.record.label} "
            f"{plan.record.name}; {hint}",
            dropped_node=plan.drop.model_copy(update={"notes": (), "properties": {}}),
            relationships_moved=len(plan.changes.moved),
            relationships_merged=plan.merged,
            relationships_dropped=plan.between,
            kept_as_notes=tuple(beginning(note, MAX_NOTE_TEXT) for note in plan.lost[:MAX_NOTES]),
            sources_renamed=plan.cited,
            embeddings_regenerated=merged.embedded,
            node=node,
            undo_until=utc(merged.undo_until),
            written=(node,),
        )

    def _merge(self, context: ToolContext, arguments: MergeNodesArguments) -> Merge:
        return Merge(
            context.graph,
            context.undo_window,
            keep=arguments.keep_entity_key,
            drop=arguments.drop_entity_key,
        )
