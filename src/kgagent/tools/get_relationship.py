"""get_relationship: read the relationship between two nodes."""

from kgagent.ontology import Ontology
from kgagent.tools.base import Tool
from kgagent.tools.context import ToolContext
from kgagent.tools.relationship_arguments import RelationshipEnds
from kgagent.tools.relationship_results import DIRECTION_HINT, RelationshipResult, with_direction


class GetRelationshipArguments(RelationshipEnds):
    """Arguments of get_relationship."""


class GetRelationship(Tool[GetRelationshipArguments]):
    """Reads a relationship."""

    name = "get_relationship"
    arguments = GetRelationshipArguments
    result = RelationshipResult
    read_only = True

    def description(self, ontology: Ontology) -> str:  # noqa: ARG002
        """The description for the model."""
        return "Read the relationship between two nodes, with its notes. " + DIRECTION_HINT

    async def run(self, context: ToolContext, arguments: GetRelationshipArguments) -> RelationshipResult:
        """Read the relationship.

        Raises:
            NotFoundError: a node or the relationship does not exist.
        """
        relationship = await context.relationships.get(
            context.user_id, arguments.from_entity_key, arguments.to_entity_key, arguments.neo4j_type
        )
        message = f"Relationship between {relationship.from_name} and {relationship.to_name}"
        return RelationshipResult(
            message=with_direction(message, relationship), triplet=relationship.triplet, relationship=relationship
        )
