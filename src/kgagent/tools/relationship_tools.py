"""Tools that create and change a relationship, and add notes to it."""

from datetime import datetime
from typing import Any, ClassVar

from pydantic import ConfigDict, Field

from kgagent.errors import InputError
from kgagent.formatting import counted
from kgagent.graph.relationships import RelationshipIntent
from kgagent.models import GraphRelationship
from kgagent.models.fields import EntityKey, FilledText, ShortText, Text
from kgagent.ontology import Ontology
from kgagent.tools.arguments import (
    CORRECTION,
    DIRECTION_HINT,
    Attitude,
    GivenWhen,
    NewNote,
    Notes,
    Proximity,
    RelationshipEnds,
    UnitInterval,
    Verbose,
    build_notes,
    describe_lifetimes,
)
from kgagent.tools.base import Tool
from kgagent.tools.context import ToolContext
from kgagent.tools.references import with_direction
from kgagent.tools.write_results import (
    WrittenRelationship,
    kept_description,
    replaced_values,
)
from kgagent.tools.writing import write_relationship

_VALUES = {
    "relationship_type",
    "description",
    "attitude",
    "proximity",
    "when",
    "confidence",
    "salience",
}


class NewRelationship(RelationshipEnds):
    """A relationship to create."""

    not_in_schema: ClassVar[frozenset[str]] = frozenset({"confidence", "salience"})

    relationship_type: ShortText = Field(
        description='Read from the first node to the second: "mentor", "works at".'
    )
    description: Text = Field("", description="One sentence, with names and circumstances.")
    attitude: Attitude = None
    proximity: Proximity = None
    when: GivenWhen = None
    notes: Notes = Field(default_factory=list, description="Facts, one sentence each.")
    confidence: UnitInterval | None = Field(None, description="How certain it is, 0 to 1.")
    salience: UnitInterval | None = Field(
        None, description="How important it is to the user, 0 to 1."
    )

    def to_write(self, context: ToolContext, now: datetime) -> RelationshipIntent:
        """The write that creates it.

        Raises:
            InputError: the ontology has no such lifetime of a note.
        """
        values = self.model_dump(include=_VALUES, exclude_none=True)
        return RelationshipIntent(
            **_ends(self), mode="create", values=values, notes=build_notes(self.notes, context, now)
        )


class RelationshipChange(RelationshipEnds):
    """A relationship to change."""

    not_in_schema: ClassVar[frozenset[str]] = frozenset({"confidence", "salience"})

    relationship_type: ShortText | None = Field(
        None, description="New type, read from the first node to the second."
    )
    description: Text | None = Field(None, description="New sentence; empty to clear it.")
    attitude: Attitude = None
    proximity: Proximity = None
    when: GivenWhen = None
    confidence: UnitInterval | None = Field(None, description="How certain it is, 0 to 1.")
    salience: UnitInterval | None = Field(
        None, description="How important it is to the user, 0 to 1."
    )
    clear: list[ShortText] = Field(
        default_factory=list,
        max_length=3,
        description='What to remove: "attitude", "proximity", "when".',
    )
    notes: Notes = Field(default_factory=list, description="Notes to add.")
    correction: bool = Field(False, description=CORRECTION)

    def to_write(self, context: ToolContext, now: datetime) -> RelationshipIntent:
        """The write that changes it.

        Raises:
            InputError: nothing is to be changed, a field cannot be cleared, or a note is invalid.
        """
        values = self.model_dump(include=_VALUES, exclude_none=True)
        for field in self.clear:
            if field not in {"attitude", "proximity", "when"}:
                raise InputError(
                    f"clear must contain only attitude, proximity and when, got {field!r}"
                )
            if field in values:
                raise InputError(f"{field} cannot be both set and cleared")
            values[field] = None
        if not values and not self.notes:
            fields = "description, relationship_type, attitude, proximity, when or notes"
            raise InputError(f"Nothing to change: give {fields}")
        notes = build_notes(self.notes, context, now)
        return RelationshipIntent(
            **_ends(self), values=values, notes=notes, correction=self.correction
        )


class CreateRelationshipArguments(NewRelationship):
    """Arguments of create_relationship."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "from_entity_key": "5b0c…",
                    "to_entity_key": "91fe…",
                    "relationship_type": "mentor",
                    "description": "Ruth taught me how to lead a team.",
                    "attitude": 5,
                    "proximity": 4,
                },
            ]
        }
    )

    verbose: Verbose = False


class CreateRelationship(Tool[CreateRelationshipArguments]):
    """Creates a relationship."""

    name = "create_relationship"
    arguments = CreateRelationshipArguments
    result = WrittenRelationship
    destructive = False
    idempotent = True
    text = (
        "Connect two existing nodes. If they are connected already, use update_relationship. "
        "Searches match all of "
        "it, so give all you know."
    )

    async def run(
        self, context: ToolContext, arguments: CreateRelationshipArguments
    ) -> WrittenRelationship:
        """Create the relationship."""
        written = await write_relationship(
            context, arguments.to_write(context, context.write_context.clock())
        )
        record = written.record
        return WrittenRelationship.of(
            written, f"Created relationship {record.relationship_type} between {_names(record)}"
        )


class UpdateRelationshipArguments(RelationshipChange):
    """Arguments of update_relationship."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "from_entity_key": "5b0c…",
                    "to_entity_key": "91fe…",
                    "relationship_type": "was mentor of",
                }
            ]
        }
    )

    verbose: Verbose = False


class UpdateRelationship(Tool[UpdateRelationshipArguments]):
    """Changes a relationship."""

    name = "update_relationship"
    arguments = UpdateRelationshipArguments
    result = WrittenRelationship
    idempotent = True
    text = (
        "Change the relationship between two nodes, or add notes. Omitted fields stay. "
        + DIRECTION_HINT
    )

    async def run(
        self, context: ToolContext, arguments: UpdateRelationshipArguments
    ) -> WrittenRelationship:
        """Change the relationship."""
        written = await write_relationship(
            context, arguments.to_write(context, context.write_context.clock())
        )
        message = (
            f"Updated relationship between {_names(written.record)}"
            if written.changed
            else "Nothing changed"
        )
        replaced = replaced_values(written, context.ontology)
        hint = kept_description(written, replaced) if arguments.description is None else None
        return WrittenRelationship.of(
            written, with_direction(message, written.record), hint, replaced
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
    notes: Notes = Field(default_factory=list, description="Several notes instead.")
    lifetime: ShortText | None = Field(None, description="How long it is kept.")
    when: GivenWhen = None
    source_entity_key: EntityKey | None = Field(None, description="Its source.")
    verbose: Verbose = False


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
            "Add a note to the relationship between two nodes: something that happened or was "
            "said, with names and "
            f"dates. {describe_lifetimes(ontology)} {DIRECTION_HINT}"
        )

    async def run(
        self, context: ToolContext, arguments: AddNoteToRelationshipArguments
    ) -> WrittenRelationship:
        """Add the note."""
        texts = [*([arguments.content] if arguments.content is not None else []), *arguments.notes]
        if not texts:
            raise InputError("content is missing: give the text of a note, or notes")
        given = arguments.model_dump(include={"when", "lifetime", "source_entity_key"})
        notes = [
            NewNote(content=note, **given) if isinstance(note, str) else note for note in texts
        ]
        can_restore = context.offers("restore_relationship")
        restore = ", or restore a deleted one with restore_relationship" if can_restore else ""
        written = await write_relationship(
            context,
            RelationshipIntent(
                **_ends(arguments),
                notes=build_notes(notes, context, context.write_context.clock()),
                missing=(
                    f"{RelationshipIntent.missing}. Create it with create_relationship{restore}"
                ),
            ),
        )
        if written.changed:
            added = "note" if len(notes) == 1 else counted(len(notes), "note")
            message = f"Added {added} to relationship between {_names(written.record)}"
        else:
            message = "The note exists already" if len(notes) == 1 else "The notes exist already"
        return WrittenRelationship.of(written, with_direction(message, written.record))


def _ends(arguments: RelationshipEnds) -> dict[str, Any]:
    return arguments.model_dump(include=set(RelationshipEnds.model_fields))


def _names(relationship: GraphRelationship) -> str:
    return f"{relationship.from_name} and {relationship.to_name}"
