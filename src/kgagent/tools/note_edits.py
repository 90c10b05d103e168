"""Changing and deleting notes that are stored on a node or a relationship."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeVar

from pydantic import Field, model_validator

from kgagent.errors import InputError, NotFoundError
from kgagent.formatting import counted
from kgagent.graph.compare_and_set import compare_and_set_one
from kgagent.graph.nodes import NodeIntent, NodeStrategy, NodeWriteOptions
from kgagent.graph.records import Record
from kgagent.graph.relationships import RelationshipIntent, RelationshipStrategy, RelationshipWriteOptions
from kgagent.graph.writes import WriteResult
from kgagent.models import Note
from kgagent.models.fields import EntityKey, FilledText, ShortText
from kgagent.models.note import dump_notes
from kgagent.suggestions import shorten_name
from kgagent.tools.arguments import Arguments
from kgagent.tools.context import ToolContext
from kgagent.tools.note_expiry import short_answer
from kgagent.tools.write_results import WriteToolResultWithRecords

MAX_LISTED = 5

IntentT = TypeVar("IntentT", NodeIntent, RelationshipIntent)

EditNote = Callable[[Note], Note | None]
"""Returns the note in its new form; None deletes it."""


class NoteAddress(Arguments):
    """A note of a node or of a relationship."""

    not_in_schema: ClassVar[frozenset[str]] = frozenset({"neo4j_type"})

    entity_key: EntityKey | None = Field(None, description="Node with the note: entity_key or name.")
    from_entity_key: EntityKey | None = Field(None, description="For a note of a relationship: its first node.")
    to_entity_key: EntityKey | None = Field(None, description="The second node.")
    note: FilledText = Field(description="Text of the note, or the beginning of it.")
    neo4j_type: ShortText | None = Field(
        None, description="Neo4j type; needed only if several types can connect the labels of these nodes."
    )

    @model_validator(mode="after")
    def _validate_place(self) -> "NoteAddress":
        ends = (self.from_entity_key, self.to_entity_key)
        if None in ends if self.entity_key is None else ends != (None, None):
            raise ValueError("give entity_key for a note of a node, or from_entity_key and to_entity_key")
        return self


@dataclass(frozen=True)
class NoteCorrection:
    """A note that is replaced by another one, or removed.

    Attributes:
        replaces: text of the stored note, or the beginning of it.
        content: its new text; empty to remove it.
        changes: other fields of it that change.
    """

    replaces: str
    content: str
    changes: Mapping[str, Any]

    def values(self, stored: Record) -> dict[str, Any]:
        """The properties to write; none if the note has been replaced already.

        Raises:
            NotFoundError: there is no such note.
            InputError: several notes begin so.
        """

        def edit(note: Note) -> Note | None:
            return note.model_copy(update={"content": self.content, **self.changes}) if self.content else None

        try:
            return _edited(stored, self.replaces, edit)[0]
        except NotFoundError:
            if self.content and any(note.content == self.content for note in stored.notes):
                return {}
            raise


class EditedNote(WriteToolResultWithRecords):
    """A note that was changed or deleted.

    Attributes:
        embedding_regenerated: whether the text of its node or relationship changed, so that it was embedded again.
        note: the note as it is now, or as it was before it was deleted.
        notes_left: number of notes that the node or relationship has now.
    """

    embedding_regenerated: bool
    note: Note
    notes_left: int

    def short_text(self) -> str:
        """The message, and whether there is a new embedding."""
        return short_answer(self.message, embedded=self.embedding_regenerated, note_expiries=())


async def edit_note(
    context: ToolContext, address: NoteAddress, edit: EditNote, *, dry_run: bool = False
) -> tuple[WriteResult[Any], Note]:
    """Change or delete a note, and embed its node or relationship again; the write is that of the other tools.

    Args:
        context: the user's graph.
        address: says which note.
        edit: what to do with it.
        dry_run: whether nothing is written.

    Returns:
        The node or relationship after the write, and the note before it.

    Raises:
        NotFoundError: the node, the relationship or the note does not exist.
        InputError: several notes begin so.
    """
    found: list[Note] = []

    def prepare(intent: IntentT, stored: Record | None) -> IntentT:
        if stored is None:
            return intent
        values, note = _edited(stored, address.note, edit)
        found[:] = [note]
        return replace(intent, values=values)

    if address.entity_key is not None:
        nodes = NodeStrategy(
            context.nodes,
            context.write_context,
            user_id=context.user_id,
            options=NodeWriteOptions(prepare=prepare, dry_run=dry_run),
        )
        node = NodeIntent(entity_key=address.entity_key)
        return await compare_and_set_one(nodes, node, attempts=context.write_context.attempts), found[0]
    relationships = RelationshipStrategy(
        context.relationships,
        context.write_context,
        user_id=context.user_id,
        options=RelationshipWriteOptions(prepare=prepare, dry_run=dry_run),
    )
    relationship = RelationshipIntent(
        from_entity_key=address.from_entity_key or "",
        to_entity_key=address.to_entity_key or "",
        neo4j_type=address.neo4j_type,
    )
    return await compare_and_set_one(relationships, relationship, attempts=context.write_context.attempts), found[0]


def _edited(stored: Record, wanted: str, edit: EditNote) -> tuple[dict[str, Any], Note]:
    """The notes of a record as they are stored after an edit, and the note before it."""
    note = _find(stored.notes, wanted.removesuffix("…"))
    edited = [edit(other) if other.content == note.content else other for other in stored.notes]
    left = {one.identity: one for one in edited if one is not None}
    return {"notes": dump_notes(left.values()) if left else None}, note


def _find(notes: tuple[Note, ...], wanted: str) -> Note:
    """Find a note by its text or by the beginning of it, which stays the same while others write."""
    exact = [note for note in notes if note.content == wanted]
    begin = exact or [note for note in notes if note.content.startswith(wanted)]
    contents = list(dict.fromkeys(note.content for note in begin))
    if len(contents) == 1:
        return begin[-1]
    listed = "; ".join(repr(shorten_name(content)) for content in (contents or [n.content for n in notes])[:MAX_LISTED])
    if contents:
        raise InputError(f"{len(contents)} notes begin with {shorten_name(wanted)!r}; give more of the text: {listed}")
    there_are = f"There {'is' if len(notes) == 1 else 'are'} {counted(len(notes), 'note')}"
    raise NotFoundError(f"No note begins with {shorten_name(wanted)!r}. {there_are}{': ' if notes else ''}{listed}")
