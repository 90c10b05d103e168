"""restore: undo a deletion or a merge, or return an earlier value from the history of a record."""

import uuid
from dataclasses import replace
from datetime import timedelta
from typing import ClassVar

from pydantic import Field

from kgagent.answers.safe_text import safe_name
from kgagent.answers.safe_triplet import safe_triplet
from kgagent.errors import InputError, KgAgentError
from kgagent.formatting import counted, in_one_line, listed
from kgagent.graph.compare_and_set import compare_and_set
from kgagent.graph.former_value import FormerField, FormerValue
from kgagent.graph.graph_writes import GraphStrategy
from kgagent.graph.merging import Merge
from kgagent.graph.nodes import NodeIntent
from kgagent.graph.reference_forms import message_key
from kgagent.graph.relationships import RelationshipIntent
from kgagent.graph.restoration import (
    NodeRestoration,
    NodeRestorationPlan,
    RelationshipRestoration,
)
from kgagent.graph.writes import WriteOptions
from kgagent.models import GraphNode, GraphRelationship
from kgagent.models.fields import EntityKey, FilledText
from kgagent.names import normalised_name
from kgagent.tools.arguments import (
    FROM_NAMES,
    TO_NAMES,
    Arguments,
    Neo4jType,
    RelationshipId,
    Verbose,
)
from kgagent.tools.base import Tool
from kgagent.tools.context import ToolContext
from kgagent.tools.references import NodeReference, and_relationships, described, with_direction
from kgagent.tools.write_results import (
    WriteToolResult,
    replaced_text,
    replaced_values,
)

NO_WINDOW = timedelta()
"""A restoration cannot be undone; what was restored can be deleted or merged again."""


class RestoreArguments(Arguments):
    """Arguments of restore."""

    not_in_schema: ClassVar[frozenset[str]] = frozenset({"relationship_id"})

    entity_key: EntityKey | None = Field(
        None, description="Node that was deleted, merged or changed: entity_key or name."
    )
    from_entity_key: EntityKey | None = Field(
        None,
        validation_alias=FROM_NAMES,
        description="First node of a relationship: entity_key or name.",
    )
    to_entity_key: EntityKey | None = Field(
        None, validation_alias=TO_NAMES, description="Second node."
    )
    neo4j_type: Neo4jType = None
    relationship_id: RelationshipId = None
    field: FormerField | None = Field(
        None, description="Of a node or relationship that exists: what gets its earlier value."
    )
    value: FilledText | None = Field(
        None, description="Beginning of that value, as the history has it. Default: the last one."
    )
    verbose: Verbose = False


class Restored(WriteToolResult):
    """What restore restored.

    Attributes:
        entity_key: key of the node; None for a relationship.
        node: the node, likewise.
        triplet: the relationship in its direction, such as "Ruth mentor Me"; None for a node.
        relationship: the relationship, with its nodes in the order of the arguments, likewise.
        relationships_restored: number of relationships that were restored with the node.
        relationships_skipped: number of relationships whose other node does not exist.
        embeddings_regenerated: embeddings that were made again because their text changed.
        replaced: of an earlier value, what it replaced, by field.
    """

    text_fields: ClassVar[tuple[str, ...]] = ("entity_key", "triplet")

    entity_key: str | None = None
    node: NodeReference | None = None
    triplet: str | None = None
    relationship: GraphRelationship | None = None
    relationships_restored: int | None = None
    relationships_skipped: int | None = None
    embeddings_regenerated: int
    replaced: dict[str, str] | None = None

    def short_text(self) -> str:
        """What was restored, and what it replaced."""
        replaced = replaced_text(self.replaced or {})
        return "\n".join(filter(None, (super().short_text(), in_one_line(replaced))))


class Restore(Tool[RestoreArguments]):
    """Restores a node, a relationship or an earlier value."""

    name = "restore"
    arguments = RestoreArguments
    result = Restored
    text = (
        "Undo delete_relationship, delete_node or merge_nodes, before `undo_until`. A deleted node "
        "returns with its relationships, as far as their other nodes exist; if it has been created "
        "again, the two are merged. What was written since a merge stays. With `field`, undo a "
        "wrong change: a node or relationship gets an earlier value from its history."
    )

    def is_reference(self, name: str, arguments: RestoreArguments) -> bool:
        """A deleted node is no node of the graph."""
        return name != "entity_key" or arguments.field is not None

    async def run(self, context: ToolContext, arguments: RestoreArguments) -> Restored:
        """Restore the node, the relationship or the earlier value."""
        key, ends = arguments.entity_key, (arguments.from_entity_key, arguments.to_entity_key)
        if any(ends) if key else not all(ends):
            raise InputError("entity_key: give it, or from_entity_key and to_entity_key")
        if arguments.value is not None and arguments.field is None:
            raise InputError("value needs field: whose earlier value it is")
        relationship = RelationshipIntent(
            from_entity_key=ends[0] or "",
            to_entity_key=ends[1] or "",
            neo4j_type=arguments.neo4j_type,
            relationship_id=arguments.relationship_id,
            correction=True,
        )
        if arguments.field is None:
            if key:
                return await _restore_node(context, key)
            return await _restore_relationship(context, relationship)
        intent = NodeIntent(entity_key=key, correction=True) if key else relationship
        former = FormerValue(arguments.field, arguments.value)
        return await _restore_value(context, intent, former)


async def _restore_value(
    context: ToolContext, intent: NodeIntent | RelationshipIntent, former: FormerValue
) -> Restored:
    """Give a record an earlier value; the present one was wrong."""
    options = WriteOptions(source_entity_key=context.source_entity_key)
    [written] = await compare_and_set(
        GraphStrategy(context.graph, options),
        [replace(intent, edit=former)],
        attempts=context.write_context.attempts,
    )
    if isinstance(written, KgAgentError):
        raise written
    record = written.record
    is_node = isinstance(record, GraphNode)
    name = f"{record.label} {safe_name(record.name)}" if is_node else safe_triplet(record)
    return Restored(
        message=". ".join((f"Restored {former.field} of {name}", *written.warnings)),
        entity_key=record.entity_key if is_node else None,
        node=NodeReference.of(record) if is_node else None,
        triplet=None if is_node else record.triplet,
        relationship=None if is_node else record,
        embeddings_regenerated=int(written.embedded),
        replaced=replaced_values(written, context.ontology) or None,
        written=(record,),
    )


async def _restore_relationship(context: ToolContext, intent: RelationshipIntent) -> Restored:
    """Restore a relationship."""
    restored = await RelationshipRestoration(context.graph, NO_WINDOW, intent).run()
    record = restored.plan.record
    message = f"Restored relationship between {record.from_name} and {record.to_name}"
    return Restored(
        message=with_direction(message, record),
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
    restoration = NodeRestoration(context.graph, NO_WINDOW, reference, str(uuid.uuid4()))
    restored = await restoration.run()
    plan = restored.plan
    node, merged = await _merged_with_new_one(context, plan)
    taken_back = (
        f", which was merged into {described(plan.merged_into)}" if plan.merged_into else ""
    )
    return Restored(
        message=f"Restored {node.label} {node.name}{taken_back}"
        f"{and_relationships(plan.relationships)}{merged}{_skipped(plan)}",
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
    beside = f". It has a new key, because {described(existing)} now has its old one"
    if (node.label, normalised_name(node.name)) != (existing.label, normalised_name(existing.name)):
        return node, beside
    try:
        merge = Merge(context.graph, NO_WINDOW, keep=existing.entity_key, drop=node.entity_key)
        merged = (await merge.run()).plan.record
    except KgAgentError as error:
        return node, f"{beside}. The two could not be merged: {error}"
    same = node.description in {"", merged.description}
    kept = "" if same else f". Kept as a note, description: {in_one_line(node.description)}"
    return merged, f" into {described(existing)}, which was created after the deletion{kept}"


def _skipped(plan: NodeRestorationPlan) -> str:
    """What stays deleted, for a message."""
    if not plan.skipped:
        return ""
    keys = list(dict.fromkeys(message_key(end.entity_key) for end in plan.skipped))
    return (
        f". Skipped {counted(len(plan.skipped), 'relationship')} with nodes that do not exist: "
        f"{listed(keys)}; restore restores each once its node is back"
    )
