"""What tools write: nodes, relationships and edits of notes, all of one call together."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, cast

from kgagent.errors import InputError, KgAgentError, NotFoundError
from kgagent.formatting import counted
from kgagent.graph.compare_and_set import compare_and_set
from kgagent.graph.graph_writes import GraphIntent, GraphStrategy, GraphWriteResult
from kgagent.graph.nodes import NodeIntent, NodeStrategy, NodeWriteOptions, NodeWriteResult
from kgagent.graph.pair_state import End
from kgagent.graph.records import NodeRecord, Record, RelationshipRecord
from kgagent.graph.reference_forms import is_generated_key, message_key
from kgagent.graph.relationships import (
    RelationshipIntent,
    RelationshipStrategy,
    RelationshipWriteOptions,
    RelationshipWriteResult,
)
from kgagent.models import Note
from kgagent.models.free_types import new_types
from kgagent.models.note import dump_notes
from kgagent.names import shorten_name
from kgagent.ontology import Ontology
from kgagent.ontology.model import as_words
from kgagent.tools.context import ToolContext

MAX_LISTED = 5
"""Notes that an error lists."""


@dataclass(frozen=True)
class NoteEdit:
    """The change or the removal of a stored note.

    Attributes:
        note: its text, or the beginning of it, which stays the same while others write.
        changes: the fields that change; None removes the note.
    """

    note: str
    changes: Mapping[str, Any] | None

    def find(self, notes: Sequence[Note]) -> Note:
        """Find the note; one that has the new text already, if there is no other.

        Raises:
            NotFoundError: there is no such note.
            InputError: several notes begin so.
        """
        wanted, content = self.note.removesuffix("…"), (self.changes or {}).get("content")
        matches = [note for note in notes if note.content == wanted]
        matches = matches or [note for note in notes if note.content.startswith(wanted)]
        matches = matches or [note for note in notes if note.content == content]
        contents = list(dict.fromkeys(note.content for note in matches))
        if len(contents) == 1:
            return matches[-1]
        shown = repr(shorten_name(wanted))
        listed = [
            repr(shorten_name(content))
            for content in (contents or [note.content for note in notes])[:MAX_LISTED]
        ]
        if contents:
            raise InputError(
                f"{len(contents)} notes begin with {shown}; give more of the text: "
                f"{'; '.join(listed)}"
            )
        there_are = f"There {'is' if len(notes) == 1 else 'are'} {counted(len(notes), 'note')}"
        raise NotFoundError(
            ": ".join(
                [f"No note begins with {shown}. {there_are}", *filter(None, ["; ".join(listed)])]
            )
        )

    def apply(self, note: Note) -> Note | None:
        """The note after the change; None if it is removed."""
        return None if self.changes is None else note.model_copy(update=dict(self.changes))

    def values(self, stored: Record) -> dict[str, Any]:
        """The properties to write.

        Raises:
            NotFoundError: there is no such note.
            InputError: several notes begin so.
        """
        content = self.find(stored.notes).content
        edited = (self.apply(note) if note.content == content else note for note in stored.notes)
        distinct = {note.identity: note for note in edited if note is not None}
        return {"notes": dump_notes(distinct.values()) if distinct else None}


@dataclass(frozen=True, kw_only=True)
class NodeWrite(NodeIntent):
    """A node to create or change.

    Attributes:
        expected_label: label that an existing node must have; None accepts any.
        edit: the edit of one of its notes.
    """

    expected_label: str | None = None
    edit: NoteEdit | None = None


@dataclass(frozen=True, kw_only=True)
class RelationshipWrite(RelationshipIntent):
    """A relationship to create or change.

    Attributes:
        edit: the edit of one of its notes.
    """

    edit: NoteEdit | None = None


Write = NodeWrite | RelationshipWrite


async def write(
    context: ToolContext,
    writes: Sequence[Write],
    *,
    new: Collection[str] = (),
    stored: Mapping[str, End] = MappingProxyType({}),
    source_entity_key: str | None = None,
    said_on: str | None = None,
    dry_run: bool = False,
) -> list[GraphWriteResult | KgAgentError]:
    """Write nodes and relationships with one request for embeddings; each is written or rejected
    independently.

    Args:
        context: the user's graph.
        writes: what to write.
        new: keys of nodes that do not exist yet, as was read for this call.
        stored: nodes that were read for this call, by their keys.
        source_entity_key: what they come from, for the histories; None for the source of the
            context.
        said_on: date of the conversation that they come from, in EDTF, for the histories.
        dry_run: whether nothing is written.

    Returns:
        For each write, in order, its result or the error.
    """

    def prepared(
        intent: RelationshipIntent, record: RelationshipRecord | None
    ) -> RelationshipIntent:
        return _prepared_relationship(intent, record, context.ontology)

    known = {context.source_entity_key, *new, *stored}
    accepted = await _with_full_source_keys(context, writes, known)
    source = context.source_entity_key or source_entity_key
    strategy = GraphStrategy(
        NodeStrategy(
            context.nodes,
            context.write_context,
            user_id=context.user_id,
            options=NodeWriteOptions(
                prepare=_prepared_node, dry_run=dry_run, source_entity_key=source, said_on=said_on
            ),
        ),
        RelationshipStrategy(
            context.relationships,
            context.write_context,
            user_id=context.user_id,
            options=RelationshipWriteOptions(
                prepare=prepared, dry_run=dry_run, source_entity_key=source, said_on=said_on
            ),
        ),
        new=new,
        stored=stored,
    )
    intents: list[GraphIntent] = [one for one in accepted if not isinstance(one, InputError)]
    written = iter(
        await compare_and_set(strategy, intents, attempts=context.write_context.attempts)
    )
    outcomes = [one if isinstance(one, InputError) else next(written) for one in accepted]
    return cast("list[GraphWriteResult | KgAgentError]", outcomes)


async def _with_full_source_keys(
    context: ToolContext, writes: Sequence[Write], known: Collection[str | None]
) -> list[Write | InputError]:
    """The writes, with the keys of the nodes that the sources of their notes mean; the error of one
    whose source is a key of no node.

    A source that means no single node is a text, which is stored as given.
    """
    given = {note.source_entity_key for one in writes for note in one.notes}
    unknown = [source for source in given if source and source not in known]
    if not unknown:
        return list(writes)
    references = await context.resolver.find(context.user_id, names=unknown)
    meant = {source: references.outcome(source) for source in unknown}
    keys = {source: key for source, key in meant.items() if isinstance(key, str)}
    missing = {source for source in unknown if is_generated_key(source)} - keys.keys()

    def accepted(one: Write) -> Write | InputError:
        sources = [note.source_entity_key or "" for note in one.notes]
        if wrong := next((source for source in sources if source in missing), None):
            return InputError(
                f"No node has the key {wrong}, the source of a note. Give the key of a node, or a "
                f"text"
            )
        notes = (
            note.model_copy(update={"source_entity_key": keys[source]}) if source in keys else note
            for note, source in zip(one.notes, sources, strict=True)
        )
        return replace(one, notes=tuple(notes))

    return [accepted(one) for one in writes]


async def write_one(context: ToolContext, one: Write, *, dry_run: bool = False) -> GraphWriteResult:
    """Write one node or relationship.

    Raises:
        KgAgentError: it could not be written.
    """
    [outcome] = await write(context, [one], dry_run=dry_run)
    if isinstance(outcome, KgAgentError):
        raise outcome
    return outcome


async def write_node(context: ToolContext, node: NodeWrite) -> NodeWriteResult:
    """Write one node; see `write_one`."""
    return cast("NodeWriteResult", await write_one(context, node))


async def write_relationship(
    context: ToolContext, relationship: RelationshipWrite
) -> RelationshipWriteResult:
    """Write one relationship; see `write_one`."""
    return cast("RelationshipWriteResult", await write_one(context, relationship))


def _prepared_node(intent: NodeIntent, stored: NodeRecord | None) -> NodeIntent:
    """A write of a node that exists: it keeps its label, and its name and time of creation if it
    was to be created.
    """
    if stored is None or not isinstance(intent, NodeWrite):
        return intent
    if intent.expected_label not in {None, stored.label}:
        raise InputError(
            f"{stored.text('name')!r} has the label {stored.label}, not {intent.expected_label}"
        )
    if intent.edit is not None:
        return replace(intent, values=intent.edit.values(stored))
    if intent.label is None:
        return intent
    omitted = {"name", "created_at"} | (
        set() if intent.values.get("description") else {"description"}
    )
    return replace(
        intent, values={name: value for name, value in intent.values.items() if name not in omitted}
    )


def _prepared_relationship(
    intent: RelationshipIntent, stored: RelationshipRecord | None, ontology: Ontology
) -> RelationshipIntent:
    """A write of a relationship that exists: a type that only says the Neo4j type in words gives
    way to another.

    Such a type says nothing of a direction, so the other one may read in either.
    """
    if stored is None or not isinstance(intent, RelationshipWrite):
        return intent
    if intent.edit is not None:
        return replace(intent, values=intent.edit.values(stored))
    given = intent.values.get("relationship_type")
    plain = as_words(stored.neo4j_type)
    if given and stored.text("relationship_type") == plain and new_types(plain, given):
        is_turned = intent.from_entity_key != next(iter(stored.ends_in_direction))
        turned = {"is_reversed": not stored.properties.get("is_reversed")} if is_turned else {}
        return replace(intent, adds_type=False, values={**intent.values, **turned})
    if not intent.create or intent.or_update:
        _check_direction(intent, stored, ontology)
    return intent


def _check_direction(
    intent: RelationshipIntent, stored: RelationshipRecord, ontology: Ontology
) -> None:
    """Refuse a type that the caller reads in the opposite direction of the stored relationship.

    Storing it would reverse its meaning: that Tom is "mentor of" Felix is another fact than that
    Felix is "mentor of" Tom. Symmetric types ("friend") are accepted, and the stored type if only
    one of the labels can be the first.

    Raises:
        InputError: the type is neither.
    """
    relationship_type = intent.values.get("relationship_type")
    start, end = stored.ends_in_direction
    if relationship_type is None or relationship_type.casefold() in ontology.symmetric_types:
        return
    definition = ontology.relationship(stored.neo4j_type)
    is_same_type = not new_types(stored.text("relationship_type"), relationship_type)
    if intent.from_entity_key == start or (is_same_type and definition.has_fixed_direction):
        return
    names = {stored.from_entity_key: stored.from_name, stored.to_entity_key: stored.to_name}
    ends = json.dumps({"from": message_key(start), "to": message_key(end)})
    raise InputError(
        f"The relationship exists in the opposite direction: {stored.triplet!r}. Nothing was "
        f"stored. Repeat it with "
        f"{ends}, without relationship_type or with one that reads from "
        f"{shorten_name(names[start])} to "
        f"{shorten_name(names[end])}"
    )
