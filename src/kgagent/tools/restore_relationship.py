"""restore_relationship: a deletion is undone."""

from kgagent.errors import KgAgentError
from kgagent.graph.relationships import RelationshipIntent
from kgagent.ontology import Ontology
from kgagent.tools.base import Payload, Tool, ToolContext
from kgagent.tools.relationship_arguments import Ends, relationship_fields, with_direction


class RestoreRelationshipArguments(Ends):
    """Arguments of restore_relationship."""


class RestoreRelationship(Tool[RestoreRelationshipArguments]):
    """Restores a relationship."""

    name = "restore_relationship"
    arguments = RestoreRelationshipArguments

    def description(self, ontology: Ontology) -> str:  # noqa: ARG002
        """What the model is told."""
        return (
            "Undo delete_relationship: bring back the relationship between two nodes as it was deleted last, notes "
            "included, in the direction that `triplet` tells. It works until the time that delete_relationship told, "
            "while the two are not joined anew."
        )

    async def run(self, context: ToolContext, arguments: RestoreRelationshipArguments) -> Payload:
        """Restore it.

        Raises:
            InputError: nothing is kept, its time is over, the two are joined anew, or a node is gone.
        """
        [restored] = await context.relationship_restorer().apply([RelationshipIntent(**arguments.model_dump())])
        if isinstance(restored, KgAgentError):
            raise restored
        now = restored.record
        message = f"Restored relationship between {now.from_name} and {now.to_name}"
        return {"message": with_direction(message, now), **relationship_fields(restored)}
