"""add_note_to_relationship: add a dated fact to a relationship."""

from pydantic import ConfigDict, Field, model_validator

from kgagent.errors import InputError
from kgagent.formatting import counted
from kgagent.graph.relationships import RelationshipIntent
from kgagent.models.fields import EntityKey, FilledText, ShortText
from kgagent.ontology import Ontology
from kgagent.tools.arguments import NewNote, Notes, Verbose, build_notes, describe_lifetimes, without_date
from kgagent.tools.base import Tool
from kgagent.tools.context import ToolContext
from kgagent.tools.relationship_arguments import RelationshipEnds
from kgagent.tools.relationship_results import (
    DIRECTION_HINT,
    WrittenRelationship,
    with_direction,
    write_relationship,
)


class AddNoteToRelationshipArguments(RelationshipEnds):
    """Arguments of add_note_to_relationship."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "from_entity_key": "5b0c…",
                    "to_entity_key": "91fe…",
                    "content": "They had lunch in June and talked about the new job.",
                    "lifetime": "year",
                },
            ]
        }
    )

    content: FilledText | None = Field(None, description="One fact, as a sentence.")
    notes: Notes = Field(default_factory=list, description="Instead of content: several notes.")
    lifetime: ShortText | None = Field(None, description="How long it is kept.")
    source_entity_key: EntityKey | None = Field(None, description="Its source.")
    verbose: Verbose = False

    _without_date = model_validator(mode="before")(without_date)


class AddNoteToRelationship(Tool[AddNoteToRelationshipArguments]):
    """Adds a note to a relationship."""

    name = "add_note_to_relationship"
    arguments = AddNoteToRelationshipArguments
    result = WrittenRelationship
    destructive = False
    idempotent = True

    def description(self, ontology: Ontology) -> str:
        """The description for the model."""
        return (
            "Add a note to the relationship between two nodes: something that happened or was said, with names and "
            f"dates. {describe_lifetimes(ontology)} {DIRECTION_HINT}"
        )

    async def run(self, context: ToolContext, arguments: AddNoteToRelationshipArguments) -> WrittenRelationship:
        """Add the note.

        Raises:
            InputError: the relationship does not exist, or the lifetime is unknown.
        """
        given = [*([arguments.content] if arguments.content is not None else []), *arguments.notes]
        if not given:
            raise InputError("content is missing: give the text of a note, or notes")
        notes = [
            NewNote(content=note, lifetime=arguments.lifetime, source_entity_key=arguments.source_entity_key)
            if isinstance(note, str)
            else note
            for note in given
        ]
        can_restore = context.offers("restore_relationship")
        restore = ", or restore a deleted one with restore_relationship" if can_restore else ""
        intent = RelationshipIntent(
            from_entity_key=arguments.from_entity_key,
            to_entity_key=arguments.to_entity_key,
            neo4j_type=arguments.neo4j_type,
            notes=build_notes(notes, context, context.write_context.clock()),
            missing=f"{RelationshipIntent.missing}. Create it with create_relationship{restore}",
        )
        written = await write_relationship(context, intent)
        ends = f"{written.record.from_name} and {written.record.to_name}"
        one = len(notes) == 1
        existing = "The note exists already" if one else "The notes exist already"
        added = f"Added {'note' if one else counted(len(notes), 'note')} to relationship between {ends}"
        message = added if written.changed else existing
        return WrittenRelationship.of(written, with_direction(message, written.record))
