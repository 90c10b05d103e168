"""Results of the tools that read and write relationships."""

from kgagent.graph.compare_and_set import compare_and_set_one
from kgagent.graph.relationships import RelationshipIntent, RelationshipStrategy, RelationshipWriteResult
from kgagent.models import GraphRelationship
from kgagent.tools.base import ToolResult
from kgagent.tools.context import ToolContext
from kgagent.tools.note_expiry import NoteExpiry, new_expiries, short_answer

DIRECTION_HINT = "Give the nodes in either order."
"""Part of the description of tools that take the nodes in either order."""


class RelationshipResult(ToolResult):
    """A relationship.

    Attributes:
        triplet: the relationship in its direction, such as "Ruth mentor Me".
        relationship: the relationship, with its nodes in the order of the arguments.
    """

    triplet: str
    relationship: GraphRelationship


class WrittenRelationship(ToolResult):
    """A relationship after a write.

    Attributes:
        embedding_regenerated: whether its text changed, so that it was embedded again.
        triplet: the relationship in its direction, such as "Ruth mentor Me".
        relationship: the relationship, with its nodes in the order of the arguments.
        note_expiries: when the notes that were added expire; None if they never do.
    """

    embedding_regenerated: bool
    triplet: str
    relationship: GraphRelationship
    note_expiries: tuple[NoteExpiry, ...] | None = None

    def to_text(self) -> str:
        """What changed, the triplet, and when new notes expire; get_relationship reads the rest."""
        message = f"{self.message}\ntriplet: {self.triplet}"
        return short_answer(message, embedded=self.embedding_regenerated, note_expiries=self.note_expiries or ())

    @classmethod
    def of(cls, written: RelationshipWriteResult, message: str) -> "WrittenRelationship":
        """The result of a write."""
        return cls(
            message=". ".join((message, *written.warnings)),
            embedding_regenerated=written.embedding is not None,
            triplet=written.record.triplet,
            relationship=written.record,
            note_expiries=new_expiries(written) or None if written.record.notes else None,
        )


async def write_relationship(context: ToolContext, intent: RelationshipIntent) -> RelationshipWriteResult:
    """Write one relationship.

    Raises:
        KgAgentError: it could not be written.
    """
    strategy = RelationshipStrategy(context.relationships, context.write_context, user_id=context.user_id)
    return await compare_and_set_one(strategy, intent, attempts=context.write_context.attempts)


def with_direction(message: str, relationship: GraphRelationship, *, sets_type: bool = False) -> str:
    """A message, followed by the direction of the relationship if its nodes were given in the opposite order."""
    direction = describe_direction(relationship, sets_type=sets_type)
    return f"{message}. {direction}" if direction else message


def describe_direction(relationship: GraphRelationship, *, sets_type: bool = False) -> str | None:
    """The direction of a relationship if its nodes were given in the opposite order, else None.

    Args:
        relationship: with its nodes in the order of the arguments.
        sets_type: whether the caller also gave a `relationship_type`, which then reads in that direction.
    """
    if not relationship.ends_reversed:
        return None
    source, target = relationship.names_in_direction
    direction = f"Its direction is from {source} to {target}"
    if sets_type:
        direction += f", opposite to the order given, so its relationship_type reads: {relationship.triplet}"
    return direction
