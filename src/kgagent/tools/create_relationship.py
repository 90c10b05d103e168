"""create_relationship: connect two nodes."""

from pydantic import ConfigDict

from kgagent.ontology import Ontology
from kgagent.tools.base import Tool
from kgagent.tools.context import ToolContext
from kgagent.tools.relationship_arguments import NewRelationship
from kgagent.tools.relationship_results import WrittenRelationship, write_relationship


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


class CreateRelationship(Tool[CreateRelationshipArguments]):
    """Creates a relationship."""

    name = "create_relationship"
    arguments = CreateRelationshipArguments
    result = WrittenRelationship
    destructive = False
    idempotent = True

    def description(self, ontology: Ontology) -> str:
        """The description for the model, with the words of the ontology for attitude and proximity."""
        levels = "; ".join(
            f"{definition.from_label}-{definition.to_label}: attitude {'/'.join(definition.attitude)}, "
            f"proximity {'/'.join(definition.proximity)}"
            for definition in ontology.relationships.values()
        )
        return (
            "Create a relationship between two existing nodes. If they already have one of this Neo4j type, use "
            "update_relationship or add_note_to_relationship. Searches match its type, description, levels and notes, "
            f"so give all that you know. Words for the levels 1 to 5, by labels: {levels}."
        )

    async def run(self, context: ToolContext, arguments: CreateRelationshipArguments) -> WrittenRelationship:
        """Create the relationship.

        Raises:
            InputError: a node is missing, the relationship exists, or a value is invalid.
        """
        written = await write_relationship(context, arguments.intent(context, context.writing.clock()))
        created = written.record
        ends = f"{created.from_name} and {created.to_name}"
        return WrittenRelationship.of(written, f"Created relationship {created.relationship_type} between {ends}")
