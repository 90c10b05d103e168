"""Results of the tools that read and write relationships."""

from kgagent.formatting import in_one_line
from kgagent.graph.compare_and_set import compare_and_set_one
from kgagent.graph.relationships import (
    RelationshipIntent,
    RelationshipStrategy,
    RelationshipWriteOptions,
    RelationshipWriteResult,
)
from kgagent.models import GraphRelationship
from kgagent.models.plain import triplet_of
from kgagent.tools.context import ToolContext
from kgagent.tools.note_expiry import NoteExpiry, new_expiries, short_answer
from kgagent.tools.write_results import WriteToolResult

DIRECTION_HINT = "Give the nodes in either order."
"""Part of the description of tools that take the nodes in either order."""


class WrittenRelationship(WriteToolResult):
    """A relationship after a write.

    Attributes:
        embedding_regenerated: whether its text changed, so that it was embedded again.
        triplet: the relationship in its direction, such as "Ruth mentor Me".
        relationship: the relationship, with its nodes in the order of the arguments.
        hint: what may have to be corrected too.
        note_expiries: when the notes that were added expire; None if they never do.
    """

    embedding_regenerated: bool
    triplet: str
    relationship: GraphRelationship
    hint: str | None = None
    note_expiries: tuple[NoteExpiry, ...] | None = None

    def short_text(self) -> str:
        """What changed, the triplet, and when new notes expire; get_relationship reads the rest."""
        message = "\n".join(filter(None, (self.message, f"triplet: {self.triplet}", in_one_line(self.hint or ""))))
        return short_answer(message, embedded=self.embedding_regenerated, note_expiries=self.note_expiries or ())

    @classmethod
    def of(cls, written: RelationshipWriteResult, message: str, hint: str | None = None) -> "WrittenRelationship":
        """The result of a write."""
        return cls(
            message=". ".join((message, *written.warnings)),
            embedding_regenerated=written.embedding is not None,
            triplet=triplet_of(written.record),
            relationship=written.record,
            written=(written.record,),
            hint=hint,
            note_expiries=new_expiries(written) or None if written.record.notes else None,
        )


async def write_relationship(
    context: ToolContext, intent: RelationshipIntent, options: RelationshipWriteOptions | None = None
) -> RelationshipWriteResult:
    """Write one relationship.

    Raises:
        KgAgentError: it could not be written.
    """
    strategy = RelationshipStrategy(
        context.relationships, context.write_context, user_id=context.user_id, options=options
    )
    return await compare_and_set_one(strategy, intent, attempts=context.write_context.attempts)


def with_direction(message: str, relationship: GraphRelationship) -> str:
    """A message, followed by the direction of the relationship if its nodes were given in the opposite order."""
    return ". ".join(filter(None, (message, describe_direction(relationship))))


def describe_direction(relationship: GraphRelationship) -> str | None:
    """The direction of a relationship if its nodes were given in the opposite order, else None."""
    if not relationship.ends_reversed:
        return None
    source, target = relationship.names_in_direction
    return f"Its direction is from {source} to {target}"
