"""update_note: correct a note of a node or a relationship."""

from pydantic import Field

from kgagent.errors import InputError
from kgagent.models import Note
from kgagent.models.fields import FilledText, ShortText
from kgagent.ontology import Ontology
from kgagent.tools.arguments import Verbose, describe_lifetimes
from kgagent.tools.base import Tool
from kgagent.tools.context import ToolContext
from kgagent.tools.note_edits import EditedNote, NoteAddress, edit_note


class UpdateNoteArguments(NoteAddress):
    """Arguments of update_note."""

    content: FilledText | None = Field(None, description="New text.")
    lifetime: ShortText | None = Field(None, description="New lifetime, from now.")
    verbose: Verbose = False


class UpdateNote(Tool[UpdateNoteArguments]):
    """Changes a note."""

    name = "update_note"
    arguments = UpdateNoteArguments
    result = EditedNote
    idempotent = False

    def description(self, ontology: Ontology) -> str:
        """The description for the model."""
        return (
            "Correct the text or the lifetime of a note of a node, or of the relationship between two nodes. "
            f"{describe_lifetimes(ontology)}"
        )

    async def run(self, context: ToolContext, arguments: UpdateNoteArguments) -> EditedNote:
        """Change the note.

        Raises:
            InputError: nothing is to be changed, the note is unknown or not clear, or the lifetime is unknown.
        """
        if arguments.content is None and arguments.lifetime is None:
            raise InputError("Nothing to change: give content or lifetime")
        changes: dict[str, object] = {"content": arguments.content} if arguments.content is not None else {}
        if arguments.lifetime is not None:
            now = context.write_context.clock()
            changes["expires_at"] = context.ontology.note_expiry(arguments.lifetime, now)

        def edit(note: Note) -> Note:
            return note.model_copy(update=changes)

        written, before = await edit_note(context, arguments, edit)
        after = edit(before)
        expiry = "" if after.expires_at is None else f"; it expires on {after.expires_at:%Y-%m-%d}"
        return EditedNote(
            message=f"Updated note{expiry}" if written.changed else "Nothing changed",
            embedding_regenerated=written.embedded,
            note=after,
            notes_left=len(written.record.notes),
            written=(written.record,),
        )
