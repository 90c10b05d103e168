"""Models of the lines of a file to load, which FORMAT.md describes."""

import math
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)

from kgagent.errors import InputError
from kgagent.graph.aliases import MAX_ALIASES
from kgagent.graph.identifiers import Identifier
from kgagent.graph.property_names import INTERNAL_PROPERTIES
from kgagent.models.fields import EntityKey, FilledText, ShortText, Text
from kgagent.models.note import UtcTime
from kgagent.ontology.model import Scalar

RESERVED = INTERNAL_PROPERTIES | {
    *("entity_key", "name", "aliases", "description", "notes", "relationship_type", "attitude", "proximity"),
    *("created_at", "updated_at"),
}
"""Names that `properties` must not contain: a line has fields for them, or kgagent maintains them."""

_LARGEST_INTEGER = 2**63


def _property_name(name: str) -> str:
    if name in RESERVED:
        raise ValueError("the name is reserved; it is a field of the line, or kgagent maintains it")
    try:
        Identifier(name)
    except InputError as error:
        raise ValueError(str(error)) from None
    return name


def _scalar(value: object) -> object:
    if not isinstance(value, Scalar):
        raise ValueError("must be text, a number, true, false or null")  # noqa: TRY004 - pydantic requires ValueError
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("must be a finite number")
    if isinstance(value, int) and not -_LARGEST_INTEGER <= value < _LARGEST_INTEGER:
        raise ValueError("must fit into 64 bits")
    return value


def _level(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int | str | None):
        raise ValueError("must be 1 to 5, or a word of the relationship's type")  # noqa: TRY004 - pydantic requires ValueError
    if isinstance(value, int) and not 1 <= value <= 5:  # noqa: PLR2004 - the same for all types
        raise ValueError("must be 1 to 5")
    return value


def _note(value: object) -> object:
    if isinstance(value, str):
        return {"content": value}
    if not isinstance(value, dict):
        raise ValueError("must be text, or an object with content")  # noqa: TRY004 - pydantic requires ValueError
    return value


Level = Annotated[int | str | None, BeforeValidator(_level)]
Properties = dict[Annotated[str, BeforeValidator(_property_name)], Annotated[Scalar, BeforeValidator(_scalar)]]


class LineModel(BaseModel):
    """Base of the line models; unknown fields are errors, so that typing errors are noticed."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class NoteLine(LineModel):
    """A note; plain text is a note that never expires.

    Attributes:
        content: text of the note.
        added_by: author; None for the owner of the graph.
        date_added: when it was written; None for the time of the load.
        source_entity_key: `id` or `entity_key` of its Source.
        expires_at: when it expires.
        lifetime: a lifetime of the ontology, from `date_added`, instead of `expires_at`.
    """

    content: FilledText
    added_by: EntityKey | None = None
    date_added: UtcTime | None = None
    source_entity_key: EntityKey | None = None
    expires_at: UtcTime | None = None
    lifetime: str | None = None

    @model_validator(mode="after")
    def _validate_lifetime(self) -> "NoteLine":
        if self.lifetime is not None and self.expires_at is not None:
            raise ValueError("give lifetime or expires_at, not both")
        if self.lifetime is not None and self.date_added is None:
            raise ValueError("lifetime needs date_added, which is missing")
        return self


Notes = Annotated[list[Annotated[NoteLine, BeforeValidator(_note)]], Field(max_length=1_000)]


class NodeLine(LineModel):
    """A node.

    Attributes:
        id: identifier in this file, which relationships refer to.
        entity_key: key of the node in the graph; None derives a key that is the same at every load.
        aliases: other names to add.
        created_at: creation time; part of the key if the rule of the label includes it.
    """

    kind: Literal["node"]
    label: FilledText
    id: EntityKey | None = None
    entity_key: EntityKey | None = None
    name: FilledText
    aliases: list[FilledText] = Field(default_factory=list, max_length=MAX_ALIASES)
    description: Text | None = None
    notes: Notes = Field(default_factory=list)
    created_at: UtcTime | None = None
    properties: Properties = Field(default_factory=dict)


class RelationshipLine(LineModel):
    """A relationship; each end is an `id` of the file or an `entity_key` of the graph."""

    kind: Literal["relationship"]
    from_: EntityKey = Field(alias="from")
    to: EntityKey
    relationship_type: ShortText
    description: Text | None = None
    attitude: Level = None
    proximity: Level = None
    notes: Notes = Field(default_factory=list)
    neo4j_type: FilledText | None = None
    properties: Properties = Field(default_factory=dict)


Line = NodeLine | RelationshipLine
LINES: Mapping[str, type[Line]] = {"node": NodeLine, "relationship": RelationshipLine}
"""The model of each kind of line."""
