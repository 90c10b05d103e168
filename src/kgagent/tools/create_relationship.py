"""create_relationship: two nodes are joined."""

from pydantic import ConfigDict

from kgagent.ontology import Ontology
from kgagent.tools.base import Payload, Tool, ToolContext
from kgagent.tools.relationship_arguments import NewRelationship, kinds_text, relationship_fields, write_one


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
    destructive = False
    idempotent = True

    def description(self, ontology: Ontology) -> str:
        """What the model is told."""
        return (
            "Create the relationship between two nodes that exist. There is one of a kind between "
            "two nodes; where it is "
            "there already, use update_relationship or add_note_to_relationship. Its description, type, attitude, "
            "proximity and notes are what searches find it by, so say them fully. " + kinds_text(ontology)
        )

    async def run(self, context: ToolContext, arguments: CreateRelationshipArguments) -> Payload:
        """Create it.

        Raises:
            InputError: a node is missing, the relationship exists, or a value is not one that it may be.
        """
        written = await write_one(context, arguments.intent(context, context.writing.clock()))
        made = written.record
        return {
            "message": f"Created relationship {made.relationship_type} between {made.from_name} and {made.to_name}",
            **relationship_fields(written),
        }
