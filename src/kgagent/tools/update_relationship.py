"""update_relationship: what is known of a relationship changes."""

from pydantic import ConfigDict

from kgagent.ontology import Ontology
from kgagent.tools.base import Payload, Tool, ToolContext
from kgagent.tools.relationship_arguments import (
    TOLD,
    RelationshipChange,
    kinds_text,
    relationship_fields,
    with_direction,
    write_one,
)


class UpdateRelationshipArguments(RelationshipChange):
    """Arguments of update_relationship."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "from_entity_key": "5b0c…",
                    "to_entity_key": "91fe…",
                    "relationship_type": "former mentor",
                    "proximity": 2,
                },
            ]
        }
    )


class UpdateRelationship(Tool[UpdateRelationshipArguments]):
    """Changes a relationship."""

    name = "update_relationship"
    arguments = UpdateRelationshipArguments
    idempotent = True

    def description(self, ontology: Ontology) -> str:
        """What the model is told."""
        return (
            "Change the description, type, attitude or proximity of the relationship between two nodes, in whichever "
            "order they are named. What is left out stays as it is. " + TOLD + " " + kinds_text(ontology)
        )

    async def run(self, context: ToolContext, arguments: UpdateRelationshipArguments) -> Payload:
        """Change it.

        Raises:
            InputError: the relationship does not exist, or a value is not one that it may be.
        """
        written = await write_one(context, arguments.intent(context, context.writing.clock()))
        now = written.record
        message = (
            f"Updated relationship between {now.from_name} and {now.to_name}" if written.changed else "Nothing changed"
        )
        says_what = arguments.relationship_type is not None
        return {"message": with_direction(message, now, says_what=says_what), **relationship_fields(written)}
