"""update_relationships: several at once, embedded as one batch."""

from pydantic import Field

from kgagent.ontology import Ontology
from kgagent.tools.base import Arguments, Payload, Tool, ToolContext
from kgagent.tools.relationship_arguments import TOLD, RelationshipChange, kinds_text, write_many


class UpdateRelationshipsArguments(Arguments):
    """Arguments of update_relationships."""

    relationships: list[RelationshipChange] = Field(
        min_length=1, max_length=500, description="The relationships to change, each with its two nodes."
    )


class UpdateRelationships(Tool[UpdateRelationshipsArguments]):
    """Changes several relationships."""

    name = "update_relationships"
    arguments = UpdateRelationshipsArguments
    idempotent = True

    def description(self, ontology: Ontology) -> str:
        """What the model is told."""
        return (
            "Change several relationships in one call; better than many calls of "
            "update_relationship. Each is changed or "
            "refused by itself, and `results` tells which, in their order. " + TOLD + " " + kinds_text(ontology)
        )

    async def run(self, context: ToolContext, arguments: UpdateRelationshipsArguments) -> Payload:
        """Change them."""
        return await write_many(context, arguments.relationships, "Updated")
