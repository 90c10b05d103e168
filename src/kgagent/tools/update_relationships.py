"""update_relationships: change several relationships, embedded as one batch."""

from pydantic import Field

from kgagent.ontology import Ontology
from kgagent.tools.arguments import Arguments, Batch, Verbose
from kgagent.tools.base import Tool
from kgagent.tools.context import ToolContext
from kgagent.tools.relationship_batches import BatchResult, write_batch
from kgagent.tools.relationship_results import DIRECTION_HINT
from kgagent.tools.update_relationship import RelationshipChange


class UpdateRelationshipsArguments(Arguments):
    """Arguments of update_relationships."""

    relationships: Batch[RelationshipChange] = Field(description="The changes.")
    verbose: Verbose = False


class UpdateRelationships(Tool[UpdateRelationshipsArguments]):
    """Changes several relationships."""

    name = "update_relationships"
    arguments = UpdateRelationshipsArguments
    result = BatchResult
    idempotent = True

    def description(self, ontology: Ontology) -> str:  # noqa: ARG002
        """The description for the model."""
        return (
            "Change several relationships in one call. Each is changed or rejected independently; `results` has one "
            "entry for each, in order. " + DIRECTION_HINT
        )

    async def run(self, context: ToolContext, arguments: UpdateRelationshipsArguments) -> BatchResult:
        """Change the relationships."""
        return await write_batch(context, arguments.relationships, "Updated")
