"""Results of the tools that read and write relationships."""

from collections.abc import Sequence

from kgagent.errors import InputError, KgAgentError
from kgagent.formatting import counted
from kgagent.graph.relationships import RelationshipIntent, RelationshipWriteResult
from kgagent.models import GraphRelationship
from kgagent.models.graph import GraphModel
from kgagent.tools.base import ToolResult, error_text, one_line
from kgagent.tools.context import ToolContext
from kgagent.tools.relationship_arguments import NewRelationship, RelationshipChange

DIRECTION_HINT = "The nodes may be given in either order; `triplet` in the result shows the direction."
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
    """

    embedding_regenerated: bool
    triplet: str
    relationship: GraphRelationship

    @classmethod
    def of(cls, written: RelationshipWriteResult, message: str) -> "WrittenRelationship":
        """The result of a write."""
        return cls(
            message=written.with_warnings(message),
            embedding_regenerated=written.embedded,
            triplet=written.record.triplet,
            relationship=written.record,
        )


class BatchItem(GraphModel):
    """One relationship of a batch: a `WrittenRelationship`, or the error that rejected it."""

    success: bool
    error: str | None = None
    message: str | None = None
    embedding_regenerated: bool | None = None
    triplet: str | None = None
    relationship: GraphRelationship | None = None


class BatchResult(ToolResult):
    """Several relationships, in the order of the arguments."""

    results: tuple[BatchItem, ...]

    @property
    def error(self) -> str | None:
        """The first error, if every relationship was rejected."""
        if any(item.success for item in self.results):
            return None
        return f"{self.message}: {self.results[0].error}"


async def write_relationship(context: ToolContext, intent: RelationshipIntent) -> RelationshipWriteResult:
    """Write one relationship.

    Raises:
        KgAgentError: it could not be written.
    """
    [written] = await context.write_relationships([intent])
    if isinstance(written, KgAgentError):
        raise written
    return written


async def write_batch(
    context: ToolContext, items: Sequence[NewRelationship | RelationshipChange], verb: str
) -> BatchResult:
    """Write several relationships with one batch of embeddings; each is written or rejected on its own.

    Args:
        context: the user's graph.
        items: the relationships.
        verb: what happens to a relationship, for the message: "Created".
    """
    now = context.writing.clock()
    intents: dict[int, RelationshipIntent] = {}
    results: dict[int, BatchItem] = {}
    for position, item in enumerate(items):
        try:
            intents[position] = item.intent(context, now)
        except InputError as error:
            results[position] = _rejected(error)
    outcomes = await context.write_relationships(list(intents.values()))
    for position, outcome in zip(intents, outcomes, strict=True):
        results[position] = (
            _rejected(outcome)
            if isinstance(outcome, KgAgentError)
            else BatchItem(
                success=True,
                message=_item_message(outcome, sets_type=items[position].relationship_type is not None),
                embedding_regenerated=outcome.embedded,
                triplet=outcome.record.triplet,
                relationship=outcome.record,
            )
        )
    ordered = tuple(results[position] for position in range(len(items)))
    written = sum(item.success for item in ordered)
    return BatchResult(message=f"{verb} {written} of {counted(len(items), 'relationship')}", results=ordered)


def _item_message(written: RelationshipWriteResult, *, sets_type: bool) -> str | None:
    direction = describe_direction(written.record, sets_type=sets_type)
    return ". ".join(filter(None, (direction, *written.warnings))) or None


def _rejected(error: KgAgentError) -> BatchItem:
    return BatchItem(success=False, error=one_line(error_text(error)))


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
