"""update_note and delete_note: notes of nodes and relationships."""

from typing import ClassVar

from pydantic import Field, model_validator

from kgagent.answers.token_budget import cut
from kgagent.errors import InputError
from kgagent.formatting import in_one_line
from kgagent.graph.graph_writes import GraphWriteResult
from kgagent.graph.nodes import NodeIntent
from kgagent.graph.note_edit import NoteEdit
from kgagent.graph.relationships import RelationshipIntent
from kgagent.models import GraphRelationship, Note
from kgagent.models.fields import EntityKey, FilledText, ShortText
from kgagent.ontology import Ontology
from kgagent.tools.arguments import Arguments, GivenWhen, Neo4jType, Verbose, describe_lifetimes
from kgagent.tools.base import Tool
from kgagent.tools.context import ToolContext
from kgagent.tools.deletion_tools import quoted
from kgagent.tools.write_results import TEXT_TOKENS, WriteToolResultWithRecords
from kgagent.tools.writing import write_one


class NoteAddress(Arguments):
    """A note of a node or of a relationship."""

    entity_key: EntityKey | None = Field(
        None, description="Node with the note: entity_key or name."
    )
    from_entity_key: EntityKey | None = Field(
        None, description="For a note of a relationship: its first node."
    )
    to_entity_key: EntityKey | None = Field(None, description="The second node.")
    note: FilledText = Field(description="Text of the note, or the beginning of it.")
    neo4j_type: Neo4jType = None

    @model_validator(mode="after")
    def _validate_place(self) -> "NoteAddress":
        ends = (self.from_entity_key, self.to_entity_key)
        if None in ends if self.entity_key is None else ends != (None, None):
            raise ValueError(
                "give entity_key for a note of a node, or from_entity_key and to_entity_key"
            )
        return self


class EditedNote(WriteToolResultWithRecords):
    """A note that was changed or deleted.

    Attributes:
        embedding_regenerated: whether the text of its node or relationship changed, so that it was
            embedded again.
        note: the note as it is now, or as it was before it was deleted.
        notes_left: number of notes that the node or relationship has now.
    """

    text_fields: ClassVar[tuple[str, ...]] = ("embedding_regenerated",)

    embedding_regenerated: bool
    note: Note
    notes_left: int


class UpdateNoteArguments(NoteAddress):
    """Arguments of update_note."""

    content: FilledText | None = Field(None, description="New text.")
    when: GivenWhen = None
    lifetime: ShortText | None = Field(None, description="New lifetime, from now.")
    verbose: Verbose = False


class UpdateNote(Tool[UpdateNoteArguments]):
    """Changes a note."""

    name = "update_note"
    arguments = UpdateNoteArguments
    result = EditedNote

    def description(self, ontology: Ontology) -> str:
        """The description for the model."""
        return (
            "Correct the text, the time or the lifetime of a note of a node, or of the "
            "relationship between two nodes. "
            f"{describe_lifetimes(ontology)}"
        )

    async def run(self, context: ToolContext, arguments: UpdateNoteArguments) -> EditedNote:
        """Change the note."""
        given = {"content": arguments.content, "when": arguments.when}
        changes: dict[str, object] = {
            name: value for name, value in given.items() if value is not None
        }
        if not changes and arguments.lifetime is None:
            raise InputError("Nothing to change: give content, when or lifetime")
        if arguments.lifetime is not None:
            now = context.write_context.clock()
            changes["expires_at"] = context.ontology.note_expiry(arguments.lifetime, now)
        edit = NoteEdit(arguments.note, changes)
        written, before = await _edit(context, arguments, edit)
        after = edit.apply(before) or before
        expiry = "" if after.expires_at is None else f"; it expires on {after.expires_at:%Y-%m-%d}"
        return EditedNote(
            message=f"Updated note{expiry}" if written.changed else "Nothing changed",
            embedding_regenerated=written.embedded,
            note=after,
            notes_left=len(written.record.notes),
            written=(written.record,),
        )


class DeleteNoteArguments(NoteAddress):
    """Arguments of delete_note."""

    verbose: Verbose = False


class DeletedNote(EditedNote):
    """A note that was deleted."""

    def short_text(self) -> str:
        """The message, and the note, from which it can be added again."""
        return f"{super().short_text()}\nnote: {cut(in_one_line(self.note.content), TEXT_TOKENS)}"


class DeleteNote(Tool[DeleteNoteArguments]):
    """Deletes a note."""

    name = "delete_note"
    arguments = DeleteNoteArguments
    result = DeletedNote
    asks_first = True
    text = (
        "Delete a wrong note of a node, or of the relationship between two nodes. The result "
        "contains "
        "it, so that it can be added again."
    )

    async def question(self, context: ToolContext, arguments: DeleteNoteArguments) -> str:
        """Which note would be deleted."""
        written, note = await _edit(
            context, arguments, NoteEdit(arguments.note, None), dry_run=True
        )
        record = written.record
        name = record.triplet if isinstance(record, GraphRelationship) else record.name
        return f"Delete the note {quoted(note.content)} on {quoted(name)}? It cannot be restored"

    async def run(self, context: ToolContext, arguments: DeleteNoteArguments) -> DeletedNote:
        """Delete the note."""
        written, note = await _edit(context, arguments, NoteEdit(arguments.note, None))
        return DeletedNote(
            message="Deleted note",
            embedding_regenerated=written.embedded,
            note=note,
            notes_left=len(written.record.notes),
            written=(written.record,),
        )


async def _edit(
    context: ToolContext, address: NoteAddress, edit: NoteEdit, *, dry_run: bool = False
) -> tuple[GraphWriteResult, Note]:
    """Edit a note; returns its node or relationship after the write, and the note before it.

    Raises:
        NotFoundError: the node, the relationship or the note does not exist.
        InputError: several notes begin so.
    """
    record: NodeIntent | RelationshipIntent
    if address.entity_key is not None:
        record = NodeIntent(entity_key=address.entity_key, edit=edit)
    else:
        record = RelationshipIntent(
            from_entity_key=address.from_entity_key or "",
            to_entity_key=address.to_entity_key or "",
            neo4j_type=address.neo4j_type,
            edit=edit,
        )
    written = await write_one(context, record, dry_run=dry_run)
    return written, edit.find(written.stored.notes if written.stored else ())
