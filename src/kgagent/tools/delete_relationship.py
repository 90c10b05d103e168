"""delete_relationship: remove a relationship, with a time to undo it."""

from typing import ClassVar

from kgagent.graph.compare_and_set import compare_and_set_one
from kgagent.graph.deleted_relationships import DeletionStrategy
from kgagent.graph.relationships import RelationshipIntent
from kgagent.models import GraphRelationship
from kgagent.models.note import format_utc
from kgagent.ontology import Ontology
from kgagent.tools.arguments import Verbose
from kgagent.tools.base import Tool, ToolResult
from kgagent.tools.context import ToolContext
from kgagent.tools.question import Question, plan_one, quoted, undo
from kgagent.tools.relationship_arguments import RelationshipEnds
from kgagent.tools.relationship_results import DIRECTION_HINT, with_direction
from kgagent.tools.write_results import WriteToolResult


class DeleteRelationshipArguments(RelationshipEnds):
    """Arguments of delete_relationship."""

    not_in_schema: ClassVar[frozenset[str]] = frozenset({"verbose"})

    verbose: Verbose = False


class DeletedRelationship(WriteToolResult):
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


class DeleteRelationshipQuestion(Question[DeleteRelationshipArguments]):
    """Says which relationship would be deleted."""

    name = "delete_relationship.question"
    arguments = DeleteRelationshipArguments

    async def run(self, context: ToolContext, arguments: DeleteRelationshipArguments) -> ToolResult:
        """Ask.

        Raises:
            InputError: the relationship does not exist.
        """
        record = (await plan_one(_strategy(context), _intent(context, arguments))).record
        text = ": ".join(filter(None, (record.triplet, record.description)))
        return ToolResult(message=f"Delete the relationship {quoted(text)}? {undo(context.undo_window)}")


class DeleteRelationship(Tool[DeleteRelationshipArguments]):
    """Deletes a relationship."""

    name = "delete_relationship"
    arguments = DeleteRelationshipArguments
    result = DeletedRelationship
    question = DeleteRelationshipQuestion()

    def description(self, ontology: Ontology) -> str:  # noqa: ARG002
        """The description for the model."""
        return (
            "Delete a wrong relationship; the user can restore it until `undo_until`. If it has ended, "
            "record that with update_relationship instead. " + DIRECTION_HINT
        )

    async def run(self, context: ToolContext, arguments: DeleteRelationshipArguments) -> DeletedRelationship:
        """Delete the relationship.

        Raises:
            InputError: the relationship does not exist.
        """
        attempts = context.write_context.attempts
        deleted = await compare_and_set_one(_strategy(context), _intent(context, arguments), attempts=attempts)
        record, until = deleted.record, deleted.undo_until
        hint = context.undo_hint("restore_relationship", until)
        message = f"Deleted relationship between {record.from_name} and {record.to_name}; {hint}"
        return DeletedRelationship(
            message=with_direction(message, record),
            undo_until=None if until is None else format_utc(until),
            triplet=record.triplet,
            relationship=record,
            written=(record,),
        )


def _intent(context: ToolContext, arguments: DeleteRelationshipArguments) -> RelationshipIntent:
    offered = context.offers("restore_relationship")
    hint = ". If it was deleted before, restore_relationship restores it" if offered else ""
    return RelationshipIntent(**arguments.model_dump(exclude={"verbose"}), missing=RelationshipIntent.missing + hint)


def _strategy(context: ToolContext) -> DeletionStrategy:
    return DeletionStrategy(
        context.relationships, context.write_context, user_id=context.user_id, window=context.undo_window
    )
