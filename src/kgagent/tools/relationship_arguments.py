"""What the tools for relationships have in common: arguments, intents and answers."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from pydantic import Field, StrictInt, ValidationError, ValidatorFunctionWrapHandler, WrapValidator
from pydantic_core import PydanticCustomError

from kgagent.errors import InputError, KgAgentError
from kgagent.formatting import counted
from kgagent.graph.relationship_writer import RelationshipWriteResult
from kgagent.graph.relationships import RelationshipIntent
from kgagent.models import GraphRelationship
from kgagent.ontology import Ontology
from kgagent.tools.base import (
    Arguments,
    EntityKey,
    FilledText,
    Payload,
    ShortText,
    Text,
    ToolContext,
    failure,
    refusal,
)
from kgagent.tools.notes import NewNote, made


def _level(given: object, check: ValidatorFunctionWrapHandler) -> object:
    """Check a level, and say once what it may be instead of once for each kind of value."""
    try:
        return check(given)
    except ValidationError:
        raise PydanticCustomError("level", "must be 1 to 5 or the kind's word for it") from None


AttitudeArgument = Annotated[
    StrictInt | ShortText | None,
    WrapValidator(_level),
    Field(description="How warm or favourable it is: 1 (worst) to 5 (best), or the kind's word for it."),
]
ProximityArgument = Annotated[
    StrictInt | ShortText | None,
    WrapValidator(_level),
    Field(description="How close or well-known it is: 1 (least) to 5 (most), or the kind's word for it."),
]
TOLD = "`triplet` in the answer tells which end its relationship_type is said of; the order of the arguments does not."
"""What a model is told of direction by tools that take the ends in either order."""

Share = Annotated[float, Field(ge=0.0, le=1.0)]


class Ends(Arguments):
    """The two nodes of a relationship."""

    from_entity_key: EntityKey = Field(description="entity_key of the first node.")
    to_entity_key: EntityKey = Field(description="entity_key of the second node.")
    neo4j_type: ShortText | None = Field(
        None, description="Only where several kinds of relationship join these labels: which of them."
    )


class NewRelationship(Ends):
    """A relationship to create."""

    relationship_type: ShortText = Field(
        description='What it is in a word or two: "mentor", "friend", "works at", "believes in".'
    )
    description: Text = Field("", description="The relationship in one sentence, names and circumstances included.")
    attitude: AttitudeArgument = None
    proximity: ProximityArgument = None
    notes: list[NewNote | FilledText] = Field(
        default_factory=list, max_length=100, description="Facts about the relationship: texts, or objects."
    )
    confidence: Share | None = Field(None, description="How sure it is, 0 to 1.")
    salience: Share | None = Field(None, description="How much it matters to the user, 0 to 1.")

    def intent(self, context: ToolContext, now: datetime) -> RelationshipIntent:
        """What is wanted of the store.

        Raises:
            InputError: a note's lifetime is not one of the ontology's.
        """
        given = self.model_dump(exclude={*Ends.model_fields, "notes"}, exclude_none=True)
        return RelationshipIntent(
            from_entity_key=self.from_entity_key,
            to_entity_key=self.to_entity_key,
            neo4j_type=self.neo4j_type,
            create=True,
            values=given,
            notes=made(self.notes, context, now),
        )


class RelationshipChange(Ends):
    """A relationship to change."""

    relationship_type: ShortText | None = Field(None, description="New word for what it is.")
    description: Text | None = Field(None, description="New sentence; leave out to keep it, empty to clear it.")
    attitude: AttitudeArgument = None
    proximity: ProximityArgument = None
    confidence: Share | None = Field(None, description="How sure it is, 0 to 1.")
    salience: Share | None = Field(None, description="How much it matters to the user, 0 to 1.")
    clear: list[ShortText] = Field(
        default_factory=list, max_length=2, description='Fields to make unknown again: "attitude", "proximity".'
    )

    def intent(self, context: ToolContext, now: datetime) -> RelationshipIntent:  # noqa: ARG002
        """What is wanted of the store.

        Raises:
            InputError: nothing was named to change, or a field was named that cannot be cleared.
        """
        given = self.model_dump(exclude={*Ends.model_fields, "clear"}, exclude_none=True)
        for field in self.clear:
            if field not in {"attitude", "proximity"}:
                raise InputError(f"clear takes attitude and proximity, got {field!r}")
            if field in given:
                raise InputError(f"{field} cannot be both set and cleared")
            given[field] = None
        if not given:
            raise InputError(
                "Nothing to change: give description, relationship_type, attitude, proximity, confidence or salience. "
                "add_note_to_relationship adds notes"
            )
        return RelationshipIntent(
            from_entity_key=self.from_entity_key,
            to_entity_key=self.to_entity_key,
            neo4j_type=self.neo4j_type,
            values=given,
        )


async def write_one(context: ToolContext, intent: RelationshipIntent) -> RelationshipWriteResult:
    """Carry out one intent.

    Raises:
        KgAgentError: it could not be done.
    """
    [written] = await context.relationship_writer().apply([intent])
    if isinstance(written, KgAgentError):
        raise written
    return written


async def write_many(context: ToolContext, items: Sequence[NewRelationship | RelationshipChange], done: str) -> Payload:
    """Carry out several intents with one batch of embeddings; each is kept or refused by itself.

    Args:
        context: whose graph.
        items: what is wanted.
        done: what has happened to a relationship that was written, for the message.
    """
    now = context.writing.clock()
    intents: dict[int, RelationshipIntent] = {}
    results: dict[int, Payload] = {}
    for position, item in enumerate(items):
        try:
            intents[position] = item.intent(context, now)
        except InputError as error:
            results[position] = failure(str(error))
    outcomes = await context.relationship_writer().apply(list(intents.values()))
    for position, outcome in zip(intents, outcomes, strict=True):
        if isinstance(outcome, KgAgentError):
            results[position] = refusal(outcome)
        else:
            told = direction(outcome.record, says_what=items[position].relationship_type is not None)
            results[position] = {"success": True, **({"message": told} if told else {}), **relationship_fields(outcome)}
    answers = [results[position] for position in range(len(items))]
    good = sum(answer["success"] for answer in answers)
    message = f"{done} {good} of {counted(len(items), 'relationship')}"
    if not good:
        return {**failure(f"{message}: {answers[0]['error']}"), "results": answers}
    return {"success": True, "message": message, "results": answers}


def relationship_fields(written: RelationshipWriteResult) -> Payload:
    """A written relationship as a tool answers it."""
    return {"embedding_regenerated": written.embedded, **as_told(written.record)}


def as_told(relationship: GraphRelationship) -> Payload:
    """A relationship with its ends as asked, and as the sentence that searches tell."""
    return {"triplet": relationship.triplet, "relationship": relationship.to_dict()}


def with_direction(message: str, relationship: GraphRelationship, *, says_what: bool = False) -> str:
    """A message, and the direction of the relationship where its ends were named the other way round."""
    told = direction(relationship, says_what=says_what)
    return f"{message}. {told}" if told else message


def direction(relationship: GraphRelationship, *, says_what: bool = False) -> str:
    """Say from which end a relationship is told where its ends were named the other way round; else nothing.

    Args:
        relationship: with its ends as they were named.
        says_what: whether the caller also gave a `relationship_type`, which is then read in that direction.
    """
    if not relationship.ends_reversed:
        return ""
    source, target = relationship.names_in_direction
    told = f"It is told from {source} to {target}"
    if says_what:
        told += f", not the way round that the ends were named, and so is its relationship_type: {relationship.triplet}"
    return told


def kinds_text(ontology: Ontology) -> str:
    """The kinds of relationship and their words, for a model to read."""
    lines = (
        f"{kind.from_label}-{kind.to_label}: attitude {'/'.join(kind.attitude)}, proximity {'/'.join(kind.proximity)}"
        for kind in ontology.relationships.values()
    )
    return "Pairs of labels with their words from 1 to 5: " + "; ".join(lines) + "."
