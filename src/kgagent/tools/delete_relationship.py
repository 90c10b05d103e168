"""delete_relationship: remove a relationship, with a time to undo it."""

from typing import ClassVar

from kgagent.graph.compare_and_set import compare_and_set_one
from kgagent.graph.deleted_relationships import DeletionStrategy
from kgagent.graph.relationships import RelationshipIntent
from kgagent.models import GraphRelationship
from kgagent.models.note import format_utc
from kgagent.ontology import Ontology
from kgagent.tools.arguments import Verbose
from kgagent.tools.base import Tool
from kgagent.tools.context import ToolContext
from kgagent.tools.relationship_arguments import RelationshipEnds
from kgagent.tools.relationship_results import DIRECTION_HINT, with_direction
from kgagent.tools.write_answer import WriteAnswer


class DeleteRelationshipArguments(RelationshipEnds):
    """Arguments of delete_relationship."""

    not_in_schema: ClassVar[frozenset[str]] = frozenset({"verbose"})

    verbose: Verbose = False


class DeletedRelationship(WriteAnswer):
    """The relationship that delete_relationship deleted.

    Attributes:
        undo_until: until when restore_relationship can restore it (ISO 8601, UTC); None if it cannot.
        triplet: the relationship in its direction, such as "Ruth mentor Me".
        relationship: the relationship, with its nodes in the order of the arguments.
    """

    undo_until: str | None = None
    triplet: str
    relationship: GraphRelationship

    def short_text(self) -> str:
        """What was deleted, and until when it can be restored."""
        undo = [] if self.undo_until is None else [f"undo_until: {self.undo_until}"]
        return "\n".join([self.message, f"triplet: {self.triplet}", *undo])


class DeleteRelationship(Tool[DeleteRelationshipArguments]):
    """Deletes a relationship."""

    name = "delete_relationship"
    arguments = DeleteRelationshipArguments
    result = DeletedRelationship

    def description(self, ontology: Ontology) -> str:  # noqa: ARG002
        """The description for the model."""
        return (
            "Delete a mistaken relationship; it can be restored until `undo_until`. If it has ended, record that with "
            "update_relationship instead. " + DIRECTION_HINT
        )

    async def run(self, context: ToolContext, arguments: DeleteRelationshipArguments) -> DeletedRelationship:
        """Delete the relationship.

        Raises:
            InputError: the relationship does not exist.
        """
        undo = (
            ". If it was deleted before, restore_relationship restores it"
            if context.offers("restore_relationship")
            else ""
        )
        intent = RelationshipIntent(
            **arguments.model_dump(exclude={"verbose"}),
            missing=f"Relationship not found between {{a}} and {{b}}{undo}",
        )
        strategy = DeletionStrategy(
            context.relationships, context.write_context, user_id=context.user_id, window=context.undo_window
        )
        deleted = await compare_and_set_one(strategy, intent, attempts=context.write_context.attempts)
        record, until = deleted.record, deleted.undo_until
        undo = context.undo_hint("restore_relationship", until)
        message = f"Deleted relationship between {record.from_name} and {record.to_name}; {undo}"
        return DeletedRelationship(
            message=with_direction(message, record),
            undo_until=None if until is None else format_utc(until),
            triplet=record.triplet,
            relationship=record,
            written=(record,),
        )
