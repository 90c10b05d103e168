"""restore_relationship: undo a deletion."""

from typing import ClassVar

from pydantic import Field

from kgagent.graph.compare_and_set import compare_and_set_one
from kgagent.graph.deleted_relationships import RestorationStrategy
from kgagent.graph.relationships import RelationshipIntent
from kgagent.ontology import Ontology
from kgagent.tools.arguments import Verbose
from kgagent.tools.base import Tool
from kgagent.tools.context import ToolContext
from kgagent.tools.relationship_arguments import RelationshipEnds
from kgagent.tools.relationship_results import WrittenRelationship, with_direction


class RestoreRelationshipArguments(RelationshipEnds):
    """Arguments of restore_relationship."""

    not_in_schema: ClassVar[frozenset[str]] = frozenset({"neo4j_type", "skip"})

    skip: int = Field(0, ge=0, le=1_000, description="Number of later deletions to skip.")
    verbose: Verbose = False


class RestoreRelationship(Tool[RestoreRelationshipArguments]):
    """Restores a relationship."""

    name = "restore_relationship"
    arguments = RestoreRelationshipArguments
    result = WrittenRelationship

    def description(self, ontology: Ontology) -> str:  # noqa: ARG002
        """The description for the model."""
        return (
            "Undo delete_relationship, before `undo_until`, unless the two nodes have a new relationship of the same "
            "Neo4j type."
        )

    async def run(self, context: ToolContext, arguments: RestoreRelationshipArguments) -> WrittenRelationship:
        """Restore the relationship.

        Raises:
            InputError: there is nothing to restore, it is too late, a new relationship exists, or a node is missing.
        """
        intent = RelationshipIntent(**arguments.model_dump(exclude={"verbose", "skip"}))
        strategy = RestorationStrategy(
            context.relationships, context.write_context, user_id=context.user_id, skip=arguments.skip
        )
        restored = await compare_and_set_one(strategy, intent, attempts=context.write_context.attempts)
        record = restored.record
        message = f"Restored relationship between {record.from_name} and {record.to_name}"
        return WrittenRelationship.of(restored, with_direction(message, record))
