"""get_relationship: read the relationship between two nodes, or a node, with all notes and the
history.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import starmap

from pydantic import Field

from kgagent.answers.items import (
    HistoryItem,
    Item,
    JsonRecord,
    Line,
    NodeItem,
    NoteItem,
    RelationshipItem,
    RenderState,
    StatedItem,
    relationship_text,
)
from kgagent.answers.page import Content
from kgagent.answers.timeline import TimelineItem
from kgagent.answers.token_budget import cut, cut_record
from kgagent.errors import NodeNotFoundError
from kgagent.formatting import counted
from kgagent.graph.passages import passages_of
from kgagent.graph.property_names import LEVEL_FIELDS, SOURCE_TEXT
from kgagent.graph.records import NodeRecord, RelationshipRecord
from kgagent.graph.reference_forms import message_key
from kgagent.graph.relationships import RelationshipIntent
from kgagent.models.fields import EntityKey
from kgagent.models.graph import GraphRelationship
from kgagent.models.history import HistoryEntry, Stated, last_stated
from kgagent.models.note import Note, oldest_first
from kgagent.models.when import Period, WhenPeriod, overlaps, period_of, periods_of
from kgagent.ontology import Ontology
from kgagent.tools.arguments import DIRECTION_HINT, TO_NAMES, RelationshipEnds
from kgagent.tools.base import Tool
from kgagent.tools.context import ToolContext
from kgagent.tools.read_results import (
    JsonObject,
    ReadArguments,
    ReadToolResult,
    cursor_offset,
    render_page,
)
from kgagent.tools.references import NodeReference, RelationshipReference, with_direction
from kgagent.tools.traverse import SHORTEST_LINE


class GetRelationshipArguments(ReadArguments, RelationshipEnds):
    """Arguments of get_relationship."""

    to_entity_key: EntityKey | None = Field(
        None, validation_alias=TO_NAMES, description="Second node."
    )  # type: ignore[assignment]
    between: WhenPeriod | None = Field(None, description="What happened then, with whom: 2022-05.")


class FoundRelationship(ReadToolResult):
    """A relationship or a node, with a page of its `total` notes and earlier values.

    First comes when and from where its type, description and levels are, as far as that is known.
    Notes are the oldest first; then follows the history, the newest first, and of one node its
    relationships. With `between`, the
    answer has what is dated then: notes of the relationship, or all that is stated about the node
    and its relationships.

    Attributes:
        triplet: the relationship in its direction, such as "Ruth mentor Me".
        relationship: the relationship, with its nodes in the order of the arguments.
        node: the node, if only one was given.
        relationships: of one node: its relationships, the strongest first, after all notes and
            earlier values; the strength is the sum of attitude and proximity. Of two nodes: all
            between them, if there are several and the arguments do not choose one.
        relationship_count: number of all of them.
        statements: of one node and `between`: what is dated then, the earliest first; what began
            earlier comes last.
    """

    triplet: str | None = None
    relationship: JsonObject | None = None
    node: JsonObject | None = None
    relationships: tuple[JsonObject, ...] | None = None
    relationship_count: int | None = None
    statements: tuple[JsonObject, ...] | None = None
    stated: tuple[JsonObject, ...] = Field((), exclude=True)
    notes: tuple[JsonObject, ...] = Field((), exclude=True)
    history: tuple[JsonObject, ...] = Field((), exclude=True)


class GetRelationship(Tool[GetRelationshipArguments]):
    """Reads a relationship or a node."""

    name = "get_relationship"
    arguments = GetRelationshipArguments
    result = FoundRelationship
    read_only = True
    text = (
        "Read the relationship between two nodes, or one node alone, with all notes and the "
        "history. " + DIRECTION_HINT
    )

    async def run(
        self, context: ToolContext, arguments: GetRelationshipArguments
    ) -> FoundRelationship:
        """Read the relationship, or the node."""
        if arguments.between and arguments.to_entity_key is None:
            return await _timeline(context, arguments, arguments.between)
        between = period_of(arguments.between) if arguments.between else None
        item: NodeItem | RelationshipItem
        record: NodeRecord | RelationshipRecord
        fields: JsonRecord = {}
        if arguments.to_entity_key is None:
            record = await _node(context, arguments.from_entity_key)
            node, history = (
                record.to_model(context.ontology),
                [HistoryItem(entry) for entry in record.history if entry.value is not None],
            )
            message = f"{node.label} {node.name or node.entity_key}"
            parts = await asyncio.to_thread(passages_of, record.text(SOURCE_TEXT))
            count = counted(len(parts), "passage")
            words = f"; its text has {count}: read_source" if parts else ""
            item = NodeItem(node.model_copy(update={"notes": ()}), "node", remark=words)
        else:
            records = await _relationships(context, arguments, arguments.to_entity_key)
            if len(records) > 1:
                return await _several(context, arguments, records, between)
            [record] = records
            relationship = record.to_model(context.ontology, asked_from=arguments.from_entity_key)
            history = [
                HistoryItem(entry, _word(record, entry, context.ontology))
                for entry in record.history
                if entry.value is not None
            ]
            about = f"Relationship between {relationship.from_name} and {relationship.to_name}"
            message = with_direction(about, relationship)
            item = RelationshipItem(relationship.model_copy(update={"notes": ()}), "relationship")
            fields["triplet"] = relationship.triplet
        state = RenderState(
            now=context.write_context.clock(),
            keys={key: message_key(key) for key, _ in item.names()},
            defaults=context.ontology.relationship_defaults,
        )
        [line], [(section, shown)] = item.lines(state), item.records(state)
        notes, stated = oldest_first(record.notes), last_stated(record.properties, record.history)
        if between is not None:
            notes = [note for note in notes if overlaps(periods_of(note.when), between)]
            history = []
            stated = {
                one: names
                for one, names in stated.items()
                if overlaps(periods_of(one.said_on), between)
            }
        room = arguments.token_budget // 2
        content = Content(
            items=[*starmap(StatedItem, stated.items()), *map(NoteItem, notes), *reversed(history)],
            message=message,
            opening=line.fitted(room) or cut(line.head, room),
            empty="",
            fields={**fields, section: cut_record(shown, room) or {}},
        )
        labels: Mapping[str, str] = {}
        if section == "node":
            content, labels = await _with_relationships(context, arguments, content)
        page = await render_page(
            FoundRelationship,
            context,
            arguments,
            content,
            labels=labels,
            sources=await _source_names(context, [*notes, *record.history, *stated]),
        )
        names = ("stated", "notes", "history")
        lists = {name: list(entries) for name in names if (entries := getattr(page, name))}
        return page.model_copy(update={section: {**getattr(page, section), **lists}})


async def _with_relationships(
    context: ToolContext, arguments: GetRelationshipArguments, content: Content
) -> tuple[Content, Mapping[str, str]]:
    """What is said of a node, followed by a page of its relationships; with the labels of the nodes
    at their other ends.
    """
    before = len(content.items)
    skip = max(cursor_offset(arguments, context) - before, 0)
    found = await context.retrieval.relationships_of(
        arguments.from_entity_key,
        user_id=context.user_id,
        skip=skip,
        limit=arguments.token_budget // SHORTEST_LINE,
    )
    items = [_JoinedItem(one) for one in found.relationships]
    counted_ones = counted(found.total, "relationship")
    order = ", the strongest first" if found.total > 1 else ""
    with_relationships = replace(
        content,
        items=items if skip else [*content.items, *items],
        first=before + skip if skip else 0,
        total=before + found.total,
        message=f"{content.message} with {counted_ones}",
        opening=f"{content.opening}\n{counted_ones}{order}" if found.total else content.opening,
        fields={**content.fields, "relationship_count": found.total},
    )
    return with_relationships, found.labels


@dataclass(frozen=True)
class _JoinedItem(Item):
    """A relationship of the node, in short."""

    relationship: GraphRelationship

    def names(self) -> Iterator[tuple[str, str]]:
        """Both nodes."""
        yield self.relationship.from_entity_key, self.relationship.from_name
        yield self.relationship.to_entity_key, self.relationship.to_name

    def lines(self, state: RenderState) -> list[Line]:
        """The triplet and its strength."""
        strength = f" strength {self._strength}" if self._strength else ""
        return [Line(f"- {relationship_text(self.relationship, state)}{strength}")]

    def records(self, state: RenderState) -> list[tuple[str, JsonRecord]]:  # noqa: ARG002
        """The triplet with its keys and strength."""
        record = RelationshipReference.of(self.relationship).to_dict()
        return [("relationships", record | {"strength": self._strength})]

    @property
    def _strength(self) -> int:
        return (self.relationship.attitude or 0) + (self.relationship.proximity or 0)


async def _source_names(
    context: ToolContext, said: Iterable[Note | HistoryEntry | Stated]
) -> Mapping[str, str]:
    """The name of each source that is a node, by entity_key."""
    keys = {one.source_entity_key for one in said}
    found = (
        await context.nodes.read(context.user_id, sorted(filter(None, keys))) if any(keys) else {}
    )
    names = {key: name for key, node in found.items() if (name := node.text("name"))}
    several = {name for name, count in Counter(names.values()).items() if count > 1}
    return {
        key: f"{name} {message_key(key)}" if name in several else name
        for key, name in names.items()
    }


async def _timeline(
    context: ToolContext, arguments: GetRelationshipArguments, between: str
) -> FoundRelationship:
    """What is dated within a period about one node and its relationships."""
    found = await context.retrieval.timeline(
        arguments.from_entity_key, user_id=context.user_id, between=between
    )
    message = (
        f"{counted(len(found.statements), 'dated statement')} about "
        f"{found.node.name or found.node.entity_key}"
    )
    message += f" in {between}"
    message += f"; {counted(found.untimed, 'note')} without a date" if found.untimed else ""
    content = Content(
        items=[TimelineItem(one, found.node.entity_key) for one in found.statements],
        message=message,
        opening=message,
        empty="",
        sections=("statements",),
        fields={"node": NodeReference.of(found.node).to_dict()},
    )
    sources = await _source_names(
        context, [one.note for one in found.statements if one.note is not None]
    )
    return await render_page(
        FoundRelationship, context, arguments, content, labels=found.labels, sources=sources
    )


def _word(record: RelationshipRecord, entry: HistoryEntry, ontology: Ontology) -> str:
    """The word of an earlier level; empty for other values."""
    level = entry.value if entry.field in LEVEL_FIELDS and isinstance(entry.value, int) else None
    return ontology.word(record.neo4j_type, entry.field, level)


async def _node(context: ToolContext, entity_key: str) -> NodeRecord:
    nodes = await context.nodes.read(context.user_id, [entity_key])
    if entity_key not in nodes:
        raise NodeNotFoundError(f"Node not found: {entity_key}")
    return nodes[entity_key]


async def _relationships(
    context: ToolContext, arguments: GetRelationshipArguments, to_entity_key: str
) -> list[RelationshipRecord]:
    hint = (
        ". find_paths shows whether and how they are connected"
        if context.offers("find_paths")
        else ""
    )
    intent = RelationshipIntent(
        from_entity_key=arguments.from_entity_key,
        to_entity_key=to_entity_key,
        neo4j_type=arguments.neo4j_type,
        relationship_id=arguments.relationship_id,
        missing=RelationshipIntent.missing + hint,
    )
    return await context.relationships.read(context.user_id, intent)


async def _several(
    context: ToolContext,
    arguments: GetRelationshipArguments,
    records: Sequence[RelationshipRecord],
    between: Period | None,
) -> FoundRelationship:
    """The relationships between two nodes, each with the id by which it is chosen."""
    models = [
        record.to_model(context.ontology, asked_from=arguments.from_entity_key).model_copy(
            update={
                "relationship_id": record.id,
                "notes": tuple(
                    note
                    for note in record.notes
                    if between is None or overlaps(periods_of(note.when), between)
                ),
            }
        )
        for record in records
    ]
    message = (
        f"{len(models)} relationships between {models[0].from_name} and {models[0].to_name}; "
        f"relationship_id chooses one"
    )
    items = [
        RelationshipItem(
            model, "relationships", remark=f" [relationship_id {model.relationship_id}]"
        )
        for model in models
    ]
    content = Content(items=items, message=message, opening=message, sections=("relationships",))
    return await render_page(FoundRelationship, context, arguments, content)
