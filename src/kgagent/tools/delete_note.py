"""delete_note: remove a note from a node or a relationship."""

from kgagent.formatting import in_one_line
from kgagent.models import GraphRelationship
from kgagent.models.token_budget import cut
from kgagent.ontology import Ontology
from kgagent.tools.arguments import Verbose
from kgagent.tools.base import Tool, ToolResult
from kgagent.tools.context import ToolContext
from kgagent.tools.note_edits import EditedNote, NoteAddress, edit_note
from kgagent.tools.question import Question, quoted
from kgagent.tools.write_results import TEXT_TOKENS


class DeleteNoteArguments(NoteAddress):
    """Arguments of delete_note."""

    verbose: Verbose = False


class DeletedNote(EditedNote):
    """A note that was deleted."""

    def short_text(self) -> str:
        """The message, and the note, from which it can be added again."""
        return f"{super().short_text()}\nnote: {cut(in_one_line(self.note.content), TEXT_TOKENS)}"


class DeleteNoteQuestion(Question[DeleteNoteArguments]):
    """Says which note would be deleted."""

    name = "delete_note.question"
    arguments = DeleteNoteArguments

    async def run(self, context: ToolContext, arguments: DeleteNoteArguments) -> ToolResult:
        """Ask.

        Raises:
            InputError: the note is unknown or not clear.
        """
        written, note = await edit_note(context, arguments, lambda _: None, dry_run=True)
        record = written.record
        name = record.triplet if isinstance(record, GraphRelationship) else record.name
        return ToolResult(message=f"Delete the note {quoted(note.content)} on {quoted(name)}? It cannot be restored")


class DeleteNote(Tool[DeleteNoteArguments]):
    """Deletes a note."""

    name = "delete_note"
    arguments = DeleteNoteArguments
    result = DeletedNote
    question = DeleteNoteQuestion()

    def description(self, ontology: Ontology) -> str:  # noqa: ARG002
        """The description for the model."""
        return (
            "Delete a wrong note of a node, or of the relationship between two nodes. The result contains "
            "it, so that it can be added again."
        )

    async def run(self, context: ToolContext, arguments: DeleteNoteArguments) -> DeletedNote:
        """Delete the note.

        Raises:
            InputError: the note is unknown or not clear.
        """
        written, note = await edit_note(context, arguments, lambda _: None)
        return DeletedNote(
            message="Deleted note",
            embedding_regenerated=written.embedded,
            note=note,
            notes_left=len(written.record.notes),
            written=(written.record,),
        )
