"""get_relationship: all that is known of how two nodes stand to each other."""

from kgagent.ontology import Ontology
from kgagent.tools.base import Payload, Tool, ToolContext
from kgagent.tools.relationship_arguments import TOLD, Ends, as_told, with_direction


class GetRelationshipArguments(Ends):
    """Arguments of get_relationship."""


class GetRelationship(Tool[GetRelationshipArguments]):
    """Reads a relationship."""

    name = "get_relationship"
    arguments = GetRelationshipArguments
    read_only = True

    def description(self, ontology: Ontology) -> str:  # noqa: ARG002
        """What the model is told."""
        return "Read the relationship between two nodes, notes included, in whichever order they are named. " + TOLD

    async def run(self, context: ToolContext, arguments: GetRelationshipArguments) -> Payload:
        """Read it.

        Raises:
            NotFoundError: a node or the relationship does not exist.
        """
        found = await context.relationships.get(
            context.user_id, arguments.from_entity_key, arguments.to_entity_key, arguments.neo4j_type
        )
        return {
            "message": with_direction(f"Relationship between {found.from_name} and {found.to_name}", found),
            **as_told(found),
        }
