"""Argument types that several tools share."""

import unicodedata
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, ClassVar, Literal, TypeVar

from pydantic import (
    AfterValidator,
    Field,
    StringConstraints,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
    model_validator,
)
from pydantic_core import PydanticCustomError, PydanticKnownError

from kgagent.errors import InputError
from kgagent.graph.aliases import MAX_ALIASES
from kgagent.graph.reference_forms import MAX_REFERENCE_LENGTH, is_too_long
from kgagent.models import Note
from kgagent.models.fields import EntityKey, FilledText, ShortText
from kgagent.models.request import RequestModel
from kgagent.ontology import Ontology
from kgagent.plain_names import without_zero_width
from kgagent.tools.context import ToolContext

ItemT = TypeVar("ItemT")


def _clean_name(name: str) -> str:
    if is_too_long(name):
        raise PydanticCustomError(
            "long_name",
            "must have at most {limit} characters, got {length}: no tool finds a node by a longer name; put the rest "
            "into its description",
            {"limit": MAX_REFERENCE_LENGTH, "length": max(len(name), len(unicodedata.normalize("NFKC", name)))},
        )
    if any(unicodedata.category(c) == "Cc" and c not in "\t\n\r" for c in name):
        raise PydanticCustomError("control", "must not contain control characters other than tabs and line breaks")
    if not (visible := without_zero_width(name).strip()):
        raise PydanticCustomError("invisible", "must contain a visible character")
    return visible


NodeName = Annotated[FilledText, AfterValidator(_clean_name)]
"""A name. Tabs and line breaks are allowed because copied text contains them; characters of no width are removed."""


Aliases = Annotated[list[NodeName], Field(max_length=MAX_ALIASES)]
"""Other names of a node."""

Format = Annotated[Literal["json", "text"] | None, Field(description="How to answer. Default: text.")]
"""Form of an answer of a tool that reads. None is text for a model, and a dictionary for Python."""


class Arguments(RequestModel):
    """Base of the arguments of all tools; unknown arguments are rejected, so that a misspelled name is noticed.

    A model reads text, so its schema has no `format`, with which a program asks for JSON.

    Attributes:
        other_names: names under which models give an argument, with the name that an error suggests.
    """

    not_in_schema: ClassVar[frozenset[str]] = frozenset({"format"})
    other_names: ClassVar[Mapping[str, str]] = {}


IdempotencyKey = Annotated[
    str | None,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=200),
    Field(
        description="Calls with the same key create each node once. For programs that repeat a call after a failure."
    ),
]


DATE_NAMES = frozenset({"date", "time", "when", "occurred_at", "happened_at", "timestamp"})
"""Names under which models give the time of a note."""


def without_date(given: object) -> object:
    """The arguments of a note.

    Raises:
        InputError: they have a date.
    """
    for name in DATE_NAMES.intersection(given) if isinstance(given, Mapping) else ():
        raise InputError(f"A note has no {name}: state in its content when it happened")
    return given


class NewNote(Arguments):
    """A note to add; it has no date of its own."""

    content: FilledText = Field(description="One fact, as a sentence.")
    lifetime: ShortText | None = Field(None, description="How long it is kept.")
    source_entity_key: EntityKey | None = Field(None, description="entity_key of the source of the fact.")

    _without_date = model_validator(mode="before")(without_date)


Verbose = Annotated[bool, Field(description="Show the record.")]
"""Whether the answer of a tool that writes has the record, and not only what changed."""


VALIDATED_AT_ONCE = 10
"""Items of a list that are validated together; only the errors of the first invalid ones are described."""


def _in_parts(given: object, validate: ValidatorFunctionWrapHandler) -> object:
    """Validate a list part by part, up to the first part with an error: many errors take long to make."""
    if not isinstance(given, list):
        return validate(given)
    if len(given) > MAX_BATCH:
        raise PydanticKnownError(
            "too_long", {"field_type": "List", "max_length": MAX_BATCH, "actual_length": len(given)}
        )
    valid: list[object] = []
    for start in range(0, len(given) or 1, VALIDATED_AT_ONCE):
        part = given[start : start + VALIDATED_AT_ONCE]
        try:
            valid += validate(part)
        except ValidationError:
            # Once more with the items before, so that the positions in the errors are right.
            return validate(given[: start + VALIDATED_AT_ONCE])
    return valid


MAX_BATCH = 500
"""Maximum number of relationships of one call."""

Batch = Annotated[list[ItemT], WrapValidator(_in_parts), Field(min_length=1, max_length=MAX_BATCH)]
"""A list of relationships to write."""

Notes = Annotated[
    list[NewNote | FilledText],
    Field(max_length=100),
    WithJsonSchema({"type": "array", "items": {"type": "string"}}),
]
"""Notes to add: objects, or only their texts, which is all that the schema of a model has."""


def describe_lifetimes(ontology: Ontology) -> str:
    """The lifetimes of notes, for the description of a tool."""
    return f"Lifetimes: {', '.join(ontology.note_lifetimes_in_days)} (default {ontology.default_note_lifetime})."


def build_notes(notes: Sequence[NewNote | str], context: ToolContext, now: datetime) -> tuple[Note, ...]:
    """Make stored notes of given ones.

    Args:
        notes: the notes as given.
        context: provides the author, the source and the lifetimes.
        now: when they are added.

    Raises:
        InputError: the ontology has no such lifetime.
    """
    given = (NewNote(content=note) if isinstance(note, str) else note for note in notes)
    return tuple(
        Note(
            content=note.content,
            added_by=context.user_id,
            date_added=now,
            source_entity_key=context.source_entity_key or note.source_entity_key,
            expires_at=context.ontology.note_expiry(note.lifetime, now),
        )
        for note in given
    )
