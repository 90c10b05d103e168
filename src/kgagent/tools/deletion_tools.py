"""Tools that delete nodes and relationships and merge nodes, and the one that takes this back."""

import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import ClassVar, Self

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from kgagent.answers.safe_text import safe_name
from kgagent.errors import KgAgentError
from kgagent.formatting import beginning, counted, in_one_line
from kgagent.graph.deletion import NodeDeletion, RelationshipDeletion
from kgagent.graph.merging import Merge
from kgagent.graph.reference_forms import message_key
from kgagent.graph.relationships import RelationshipIntent
from kgagent.graph.restoration import (
    NodeRestoration,
    NodeRestorationPlan,
    RelationshipRestoration,
)
from kgagent.graph.user_graph import UserGraph
from kgagent.models import GraphNode, GraphRelationship
from kgagent.models.fields import EntityKey
from kgagent.models.note import format_utc
from kgagent.models.plain import aliases_in
from kgagent.names import normalised_name
from kgagent.tools.arguments import (
    DIRECTION_HINT,
    FROM_NAMES,
    TO_NAMES,
    Arguments,
    Neo4jType,
    RelationshipEnds,
    RelationshipId,
    Verbose,
)
from kgagent.tools.base import Tool
from kgagent.tools.context import ToolContext
from kgagent.tools.references import NodeReference, with_direction
from kgagent.tools.write_results import (
    WriteToolResult,
    WriteToolResultWithRecords,
)

NO_WINDOW = timedelta()
"""A restoration cannot be undone; what was restored can be deleted or merged again."""

MAX_NAME, MAX_TEXT = 80, 200
"""Characters of a name, and of another text, in a question."""

MAX_SKIPPED = 5
"""Missing nodes that the answer of a restoration lists."""

MAX_NOTES, MAX_NOTE_TEXT = 20, 300
"""Notes that the answer of a merge lists, and characters of each."""


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
            undo_until=_utc(deleted.undo_until),
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
        return RelationshipDeletion(_graph(context), context.undo_window, intent)


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


class DeletedNode(WriteToolResultWithRecords):
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
        related = _and_relationships(plan.relationships)
        return f"Delete {_described(plan.record)}{related}? {undo(context.undo_window)}"

    async def run(self, context: ToolContext, arguments: DeleteNodeArguments) -> DeletedNode:
        """Delete the node."""
        deleted = await self._deletion(context, arguments).run()
        node, relationships = deleted.plan.record, deleted.plan.relationships
        hint = context.undo_hint(deleted.undo_until)
        return DeletedNode(
            message=f"Deleted {node.label} {node.name}{_and_relationships(relationships)}; {hint}",
            undo_until=_utc(deleted.undo_until),
            node=NodeReference.of(node),
            relationships_deleted=relationships,
            written=(node,),
        )

    def _deletion(self, context: ToolContext, arguments: DeleteNodeArguments) -> NodeDeletion:
        return NodeDeletion(
            _graph(context),
            context.undo_window,
            arguments.entity_key,
            arguments.delete_relationships,
        )


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
        "Merge two nodes of the same label that are the same thing. The kept node keeps its key, "
        "name and values, and gets the other's relationships, notes and names, and values that it "
        "lacks. The user can undo it until `undo_until`."
    )

    async def question(self, context: ToolContext, arguments: MergeNodesArguments) -> str:
        """Which nodes would be merged."""
        plan = await self._merge(context, arguments).plan()
        return (
            f"Merge {_described(plan.drop)} into {_described(plan.keep)}? "
            f"{undo(context.undo_window)}"
        )

    async def run(self, context: ToolContext, arguments: MergeNodesArguments) -> MergedNodes:
        """Merge the nodes."""
        merged = await self._merge(context, arguments).run()
        plan = merged.plan
        hint = context.undo_hint(merged.undo_until)
        return MergedNodes(
            message=f"Merged {plan.drop.name or plan.drop.entity_key} into {plan.node.label} "
            f"{plan.node.name}; {hint}",
            dropped_node=plan.drop.model_copy(update={"notes": (), "properties": {}}),
            relationships_moved=plan.moved,
            relationships_merged=plan.merged,
            relationships_dropped=plan.between,
            kept_as_notes=tuple(beginning(note, MAX_NOTE_TEXT) for note in plan.lost[:MAX_NOTES]),
            sources_renamed=plan.cited,
            embeddings_regenerated=merged.embedded,
            node=plan.node,
            undo_until=_utc(merged.undo_until),
            written=(plan.node,),
        )

    def _merge(self, context: ToolContext, arguments: MergeNodesArguments) -> Merge:
        return Merge(
            _graph(context),
            context.undo_window,
            keep=arguments.keep_entity_key,
            drop=arguments.drop_entity_key,
        )


class RestoreArguments(Arguments):
    """Arguments of restore."""

    not_in_schema: ClassVar[frozenset[str]] = frozenset({"relationship_id"})

    entity_key: EntityKey | None = Field(
        None, description="Deleted or merged node: entity_key or name."
    )
    from_entity_key: EntityKey | None = Field(
        None,
        validation_alias=FROM_NAMES,
        description="Of a deleted relationship: first node, entity_key or name.",
    )
    to_entity_key: EntityKey | None = Field(
        None, validation_alias=TO_NAMES, description="Second node, likewise."
    )
    neo4j_type: Neo4jType = None
    relationship_id: RelationshipId = None
    verbose: Verbose = False

    @model_validator(mode="after")
    def _one_target(self) -> Self:
        """Check that one node or two nodes are named."""
        pair = (self.from_entity_key, self.to_entity_key)
        if bool(self.entity_key) is any(pair) or any(pair) is not all(pair):
            raise PydanticCustomError(
                "restore_target", "give entity_key, or from_entity_key and to_entity_key"
            )
        return self


class Restored(WriteToolResultWithRecords):
    """What restore restored.

    Attributes:
        entity_key: key of the node; None for a relationship.
        node: the node, likewise.
        triplet: the relationship in its direction, such as "Ruth mentor Me"; None for a node.
        relationship: the relationship, with its nodes in the order of the arguments, likewise.
        relationships_restored: number of relationships that were restored with the node.
        relationships_skipped: number of relationships whose other node does not exist.
        embeddings_regenerated: embeddings that were made again because their text changed.
    """

    text_fields: ClassVar[tuple[str, ...]] = ("entity_key", "triplet")

    entity_key: str | None = None
    node: NodeReference | None = None
    triplet: str | None = None
    relationship: GraphRelationship | None = None
    relationships_restored: int | None = None
    relationships_skipped: int | None = None
    embeddings_regenerated: int


class Restore(Tool[RestoreArguments]):
    """Restores a node or a relationship."""

    name = "restore"
    arguments = RestoreArguments
    result = Restored
    destructive = False
    resolves_references = False
    text = (
        "Undo delete_relationship, delete_node or merge_nodes, before `undo_until`. A node returns "
        "with its relationships, as far as their other nodes exist; if it has been created again, "
        "the two are merged. What was written since a merge stays."
    )

    async def run(self, context: ToolContext, arguments: RestoreArguments) -> Restored:
        """Restore the node or the relationship."""
        if arguments.entity_key:
            return await _restore_node(context, arguments.entity_key)
        ends = [arguments.from_entity_key or "", arguments.to_entity_key or ""]
        references = await context.resolver.find(context.user_id, ends)
        keys = [references.key_or_text(reference) for reference in ends]
        intent = RelationshipIntent(
            from_entity_key=keys[0],
            to_entity_key=keys[1],
            neo4j_type=arguments.neo4j_type,
            relationship_id=arguments.relationship_id,
        )
        restored = await RelationshipRestoration(_graph(context), NO_WINDOW, intent).run()
        record = restored.plan.record
        message = f"Restored relationship between {record.from_name} and {record.to_name}"
        return Restored(
            message=". ".join((with_direction(message, record), *references.notices(ends))),
            triplet=record.triplet,
            relationship=record,
            embeddings_regenerated=restored.embedded,
            written=(record,),
        )


async def _restore_node(context: ToolContext, reference: str) -> Restored:
    """Restore a node.

    One that has been created again with the same name is the same node, so the restored one becomes
    part of it.
    """
    restoration = NodeRestoration(_graph(context), NO_WINDOW, reference, str(uuid.uuid4()))
    restored = await restoration.run()
    plan = restored.plan
    node, merged = await _merged_with_new_one(context, plan)
    taken_back = f", which was merged into {_shown(plan.merged_into)}" if plan.merged_into else ""
    return Restored(
        message=f"Restored {node.label} {node.name}{taken_back}"
        f"{_and_relationships(plan.relationships)}{merged}{_skipped(plan)}",
        entity_key=node.entity_key,
        node=NodeReference.of(node),
        relationships_restored=plan.relationships,
        relationships_skipped=len(plan.skipped),
        embeddings_regenerated=restored.embedded,
        written=(node,),
    )


async def _merged_with_new_one(
    context: ToolContext, plan: NodeRestorationPlan
) -> tuple[GraphNode, str]:
    """The node as it is now, and what to say if a node that was created after the deletion has its
    key.
    """
    node, existing = plan.record, plan.existing
    if existing is None:
        return node, ""
    beside = f". It has a new key, because {_shown(existing)} now has its old one"
    if (node.label, normalised_name(node.name)) != (existing.label, normalised_name(existing.name)):
        return node, beside
    try:
        merge = Merge(_graph(context), NO_WINDOW, keep=existing.entity_key, drop=node.entity_key)
        merged = (await merge.run()).plan.node
    except KgAgentError as error:
        return node, f"{beside}. The two could not be merged: {error}"
    same = node.description in {"", merged.description}
    kept = "" if same else f". Kept as a note, description: {in_one_line(node.description)}"
    return merged, f" into {_shown(existing)}, which was created after the deletion{kept}"


def quoted(text: str) -> str:
    """The beginning of a stored text for a question."""
    return f'"{beginning(text, MAX_TEXT)}"'


def undo(window: timedelta) -> str:
    """Say how long a deletion or a merge can be undone."""
    if not window:
        return "It cannot be undone"
    days = window / timedelta(days=1)
    return f"It can be undone for {days:,g} {'day' if days == 1 else 'days'}"


def _graph(context: ToolContext) -> UserGraph:
    return UserGraph(context.nodes, context.relationships, context.write_context, context.user_id)


def _skipped(plan: NodeRestorationPlan) -> str:
    """What stays deleted, for a message."""
    if not plan.skipped:
        return ""
    keys = list(dict.fromkeys(message_key(end.entity_key) for end in plan.skipped))
    more = f" and {len(keys) - MAX_SKIPPED:,} more" if len(keys) > MAX_SKIPPED else ""
    return (
        f". Skipped {counted(len(plan.skipped), 'relationship')} with nodes that do not exist: "
        f"{', '.join(keys[:MAX_SKIPPED])}{more}; restore restores each once its node is "
        f"back"
    )


def _described(node: GraphNode) -> str:
    """A node for a question, such as "Person Ruth Calder (5b0c1a2f-61a)"."""
    return f"{node.label} {beginning(node.name, MAX_NAME)} ({message_key(node.entity_key)})"


def _shown(node: GraphNode) -> str:
    return f"{node.label} {node.name} ({message_key(node.entity_key)})"


def _and_relationships(count: int) -> str:
    return f" and {counted(count, 'relationship')}" if count else ""


def _utc(moment: datetime | None) -> str | None:
    return None if moment is None else format_utc(moment)
