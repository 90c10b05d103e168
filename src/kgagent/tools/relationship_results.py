"""Results of the tools that read and write relationships, and what a write replaced or kept."""

from collections.abc import Mapping

from kgagent.formatting import beginning, in_one_line
from kgagent.graph.compare_and_set import compare_and_set_one
from kgagent.graph.property_names import LEVEL_FIELDS
from kgagent.graph.relationships import (
    RelationshipIntent,
    RelationshipStrategy,
    RelationshipWriteOptions,
    RelationshipWriteResult,
)
from kgagent.models import GraphRelationship
from kgagent.models.plain import triplet_of
from kgagent.ontology import Ontology
from kgagent.tools.context import ToolContext
from kgagent.tools.note_expiry import NoteExpiry, new_expiries, short_answer
from kgagent.tools.write_results import WriteToolResult

DIRECTION_HINT = "Give the nodes in either order."
"""Part of the description of tools that take the nodes in either order."""

MAX_KEPT = 200
"""Characters of a description that a hint repeats."""


class WrittenRelationship(WriteToolResult):
    """A relationship after a write.

    Attributes:
        embedding_regenerated: whether its text changed, so that it was embedded again.
        triplet: the relationship in its direction, such as "Ruth mentor Me".
        relationship: the relationship, with its nodes in the order of the arguments.
        replaced: what was replaced, by field; None if nothing was.
        hint: what may have to be corrected too.
        note_expiries: when the notes that were added expire; None if they never do.
    """

    embedding_regenerated: bool
    triplet: str
    relationship: GraphRelationship
    replaced: dict[str, str] | None = None
    hint: str | None = None
    note_expiries: tuple[NoteExpiry, ...] | None = None

    def short_text(self) -> str:
        """What changed, the triplet, and when new notes expire; get_relationship reads the rest."""
        hints = (in_one_line(replaced_text(self.replaced or {})), in_one_line(self.hint or ""))
        message = "\n".join(filter(None, (self.message, f"triplet: {self.triplet}", *hints)))
        return short_answer(message, embedded=self.embedding_regenerated, note_expiries=self.note_expiries or ())

    @classmethod
    def of(
        cls,
        written: RelationshipWriteResult,
        message: str,
        hint: str | None = None,
        replaced: dict[str, str] | None = None,
    ) -> "WrittenRelationship":
        """The result of a write."""
        return cls(
            message=". ".join((message, *written.warnings)),
            embedding_regenerated=written.embedding is not None,
            triplet=triplet_of(written.record),
            relationship=written.record,
            written=(written.record,),
            replaced=replaced or None,
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


def replaced_in_words(written: RelationshipWriteResult, ontology: Ontology) -> dict[str, str]:
    """The type, the levels and the beginning of the description that a write replaced, which nothing else keeps."""
    old = fields_in_words(written, ontology)
    description = written.stored.text("description") if written.stored else ""
    return old if description in {"", written.record.description} else old | {"description": description[:MAX_KEPT]}


def fields_in_words(written: RelationshipWriteResult, ontology: Ontology) -> dict[str, str]:
    """What `replaced_fields` returns, levels as words."""
    return {
        name: value if isinstance(value, str) else ontology.word(written.record.neo4j_type, name, value) or str(value)
        for name, value in replaced_fields(written).items()
    }


def replaced_text(replaced: Mapping[str, str]) -> str:
    """A hint about what was replaced; empty if nothing was."""
    said = ", ".join(f"{name} {value!r}" for name, value in replaced.items())
    return f"Replaced: {said}. Add it as a note if it may matter later" if said else ""


def kept_description(written: RelationshipWriteResult) -> str | None:
    """A hint that the type or a level changed but not the description, which the caller did not give."""
    description = written.record.description
    if not description or not replaced_fields(written):
        return None
    return f"Kept description: {beginning(description, MAX_KEPT)!r}; check that it still holds"


def replaced_fields(written: RelationshipWriteResult) -> dict[str, str | int]:
    """The type, and the levels as numbers, that a write replaced or removed, as they were."""
    if written.stored is None:
        return {}
    levels = {field: written.stored.level(field) for field in LEVEL_FIELDS}
    old = {"relationship_type": written.stored.text("relationship_type"), **levels}
    return {field: value for field, value in old.items() if value and value != getattr(written.record, field)}
