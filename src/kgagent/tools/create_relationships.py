"""create_relationships: several at once, embedded as one batch."""

from pydantic import Field

from kgagent.ontology import Ontology
from kgagent.tools.base import Arguments, Payload, Tool, ToolContext
from kgagent.tools.relationship_arguments import NewRelationship, kinds_text, write_many


class CreateRelationshipsArguments(Arguments):
    """Arguments of create_relationships."""

    relationships: list[NewRelationship] = Field(
        min_length=1, max_length=500, description="The relationships to create, each with its two nodes."
    )


class CreateRelationships(Tool[CreateRelationshipsArguments]):
    """Creates several relationships."""

    name = "create_relationships"
    arguments = CreateRelationshipsArguments
    destructive = False
    idempotent = True

    def description(self, ontology: Ontology) -> str:
        """What the model is told."""
        return (
            "Create several relationships in one call; better than many calls of "
            "create_relationship. Each is created or "
            "refused by itself, and `results` tells which, in their order. " + kinds_text(ontology)
        )

    async def run(self, context: ToolContext, arguments: CreateRelationshipsArguments) -> Payload:
        """Create them."""
        return await write_many(context, arguments.relationships, "Created")
