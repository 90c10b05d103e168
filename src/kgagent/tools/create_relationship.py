"""create_relationship: connect two nodes."""

from datetime import datetime
from typing import ClassVar

from pydantic import ConfigDict, Field

from kgagent.graph.relationships import RelationshipIntent
from kgagent.models.fields import ShortText, Text
from kgagent.ontology import Ontology
from kgagent.tools.arguments import Notes, Verbose, build_notes
from kgagent.tools.base import Tool
from kgagent.tools.context import ToolContext
from kgagent.tools.relationship_arguments import Attitude, Proximity, RelationshipEnds, UnitInterval
from kgagent.tools.relationship_results import WrittenRelationship, write_relationship


class NewRelationship(RelationshipEnds):
    """A relationship to create."""

    relationship_type: ShortText = Field(
        description='A word or two, read from the first node to the second: "mentor", "works at".'
    )
    description: Text = Field("", description="One sentence, with names and circumstances.")
    attitude: Attitude = None
    proximity: Proximity = None
    notes: Notes = Field(default_factory=list, description="Facts about it, one sentence each.")
    not_in_schema: ClassVar[frozenset[str]] = frozenset({"confidence", "salience"})
    confidence: UnitInterval | None = Field(None, description="How certain it is, 0 to 1.")
    salience: UnitInterval | None = Field(None, description="How important it is to the user, 0 to 1.")

    def intent(self, context: ToolContext, now: datetime) -> RelationshipIntent:
        """The write that creates it.

        Raises:
            InputError: the ontology has no such lifetime of a note.
        """
        return RelationshipIntent(
            from_entity_key=self.from_entity_key,
            to_entity_key=self.to_entity_key,
            neo4j_type=self.neo4j_type,
            create=True,
            values=self.model_dump(exclude={*RelationshipEnds.model_fields, "notes", "verbose"}, exclude_none=True),
            notes=build_notes(self.notes, context, now),
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

    def description(self, ontology: Ontology) -> str:  # noqa: ARG002
        """The description for the model."""
        return (
            "Connect two existing nodes. If they are connected already, use update_relationship. Searches match the "
            "type, description, attitude, proximity and notes, so give all you know."
        )

    async def run(self, context: ToolContext, arguments: CreateRelationshipArguments) -> WrittenRelationship:
        """Create the relationship.

        Raises:
            InputError: a node is missing, the relationship exists, or a value is invalid.
        """
        written = await write_relationship(context, arguments.intent(context, context.write_context.clock()))
        created = written.record
        ends = f"{created.from_name} and {created.to_name}"
        return WrittenRelationship.of(written, f"Created relationship {created.relationship_type} between {ends}")
