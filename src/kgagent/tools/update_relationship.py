"""update_relationship: change a relationship."""

from datetime import datetime
from typing import ClassVar

from pydantic import ConfigDict, Field

from kgagent.errors import InputError
from kgagent.graph.relationships import RelationshipIntent
from kgagent.models.fields import ShortText, Text
from kgagent.ontology import Ontology
from kgagent.tools.arguments import Notes, Verbose, build_notes
from kgagent.tools.base import Tool
from kgagent.tools.context import ToolContext
from kgagent.tools.relationship_arguments import Attitude, Proximity, RelationshipEnds, UnitInterval
from kgagent.tools.relationship_direction import update_options
from kgagent.tools.relationship_results import (
    DIRECTION_HINT,
    WrittenRelationship,
    kept_description,
    replaced_in_words,
    with_direction,
    write_relationship,
)


class RelationshipChange(RelationshipEnds):
    """A relationship to change."""

    relationship_type: ShortText | None = Field(None, description="New type, read from the first node to the second.")
    description: Text | None = Field(None, description="New sentence; empty to clear it.")
    attitude: Attitude = None
    proximity: Proximity = None
    not_in_schema: ClassVar[frozenset[str]] = frozenset({"confidence", "salience"})
    confidence: UnitInterval | None = Field(None, description="How certain it is, 0 to 1.")
    salience: UnitInterval | None = Field(None, description="How important it is to the user, 0 to 1.")
    clear: list[ShortText] = Field(
        default_factory=list, max_length=2, description='Levels to remove: "attitude", "proximity".'
    )
    notes: Notes = Field(default_factory=list, description="Notes to add; existing notes are kept.")

    def intent(self, context: ToolContext, now: datetime) -> RelationshipIntent:
        """The write that changes it.

        Raises:
            InputError: nothing is to be changed, a field cannot be cleared, or a note is invalid.
        """
        values = self.model_dump(
            exclude={*RelationshipEnds.model_fields, "clear", "notes", "verbose"}, exclude_none=True
        )
        for field in self.clear:
            if field not in {"attitude", "proximity"}:
                raise InputError(f"clear must contain only attitude and proximity, got {field!r}")
            if field in values:
                raise InputError(f"{field} cannot be both set and cleared")
            values[field] = None
        if not values and not self.notes:
            raise InputError("Nothing to change: give description, relationship_type, attitude, proximity or notes")
        return RelationshipIntent(
            from_entity_key=self.from_entity_key,
            to_entity_key=self.to_entity_key,
            neo4j_type=self.neo4j_type,
            values=values,
            notes=build_notes(self.notes, context, now) if self.notes else (),
        )


class UpdateRelationshipArguments(RelationshipChange):
    """Arguments of update_relationship."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"from_entity_key": "5b0c…", "to_entity_key": "91fe…", "relationship_type": "was mentor of"}]
        }
    )

    verbose: Verbose = False


class UpdateRelationship(Tool[UpdateRelationshipArguments]):
    """Changes a relationship."""

    name = "update_relationship"
    arguments = UpdateRelationshipArguments
    result = WrittenRelationship
    idempotent = True

    def description(self, ontology: Ontology) -> str:  # noqa: ARG002
        """The description for the model."""
        return (
            "Change the type, description, attitude or proximity of the relationship between two nodes, or add notes. "
            "Omitted fields stay unchanged. " + DIRECTION_HINT
        )

    async def run(self, context: ToolContext, arguments: UpdateRelationshipArguments) -> WrittenRelationship:
        """Change the relationship.

        Raises:
            InputError: the relationship does not exist, or a value is invalid.
        """
        intent = arguments.intent(context, context.write_context.clock())
        options = None if arguments.relationship_type is None else update_options(context.ontology, noun="call")
        written = await write_relationship(context, intent, options)
        updated = written.record
        ends = f"{updated.from_name} and {updated.to_name}"
        message = f"Updated relationship between {ends}" if written.changed else "Nothing changed"
        hint = None if arguments.description is not None else kept_description(written)
        replaced = replaced_in_words(written, context.ontology)
        return WrittenRelationship.of(written, with_direction(message, updated), hint, replaced)
