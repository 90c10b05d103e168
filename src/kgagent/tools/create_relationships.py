"""create_relationships: create several relationships, embedded as one batch."""

from pydantic import Field

from kgagent.ontology import Ontology
from kgagent.tools.arguments import Arguments, Batch, Verbose
from kgagent.tools.base import Tool
from kgagent.tools.context import ToolContext
from kgagent.tools.create_relationship import NewRelationship
from kgagent.tools.relationship_batches import BatchResult, write_batch


class CreateRelationshipsArguments(Arguments):
    """Arguments of create_relationships."""

    relationships: Batch[NewRelationship] = Field(description="The relationships.")
    verbose: Verbose = False


class CreateRelationships(Tool[CreateRelationshipsArguments]):
    """Creates several relationships."""

    name = "create_relationships"
    arguments = CreateRelationshipsArguments
    result = BatchResult
    destructive = False
    idempotent = True

    def description(self, ontology: Ontology) -> str:  # noqa: ARG002
        """The description for the model."""
        return (
            "Create several relationships in one call. Each is created or rejected independently; `results` has one "
            "entry for each, in order."
        )

    async def run(self, context: ToolContext, arguments: CreateRelationshipsArguments) -> BatchResult:
        """Create the relationships."""
        return await write_batch(context, arguments.relationships, "Created")
