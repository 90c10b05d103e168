"""update_relationship: change a relationship."""

from pydantic import ConfigDict

from kgagent.ontology import Ontology
from kgagent.tools.base import Tool
from kgagent.tools.context import ToolContext
from kgagent.tools.relationship_arguments import RelationshipChange
from kgagent.tools.relationship_results import (
    DIRECTION_HINT,
    WrittenRelationship,
    with_direction,
    write_relationship,
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
    result = WrittenRelationship
    idempotent = True

    def description(self, ontology: Ontology) -> str:  # noqa: ARG002
        """The description for the model."""
        return (
            "Change the type, description, attitude or proximity of the relationship between two nodes. Omitted fields "
            "stay unchanged. Record events with add_note_to_relationship instead. " + DIRECTION_HINT
        )

    async def run(self, context: ToolContext, arguments: UpdateRelationshipArguments) -> WrittenRelationship:
        """Change the relationship.

        Raises:
            InputError: the relationship does not exist, or a value is invalid.
        """
        written = await write_relationship(context, arguments.intent(context, context.writing.clock()))
        updated = written.record
        ends = f"{updated.from_name} and {updated.to_name}"
        message = f"Updated relationship between {ends}" if written.changed else "Nothing changed"
        sets_type = arguments.relationship_type is not None
        return WrittenRelationship.of(written, with_direction(message, updated, sets_type=sets_type))
