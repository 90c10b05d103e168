"""Models of the lines of a file to load, which FORMAT.md describes."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self, cast

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    StrictStr,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)

from kgagent.errors import InputError
from kgagent.graph.aliases import MAX_ALIASES
from kgagent.graph.identifiers import Identifier
from kgagent.graph.node_name import NodeName
from kgagent.graph.property_names import INTERNAL_PROPERTIES
from kgagent.graph.sources import SourceWords
from kgagent.models.fields import EntityKey, FilledText, ShortText, Text
from kgagent.models.note import UtcTime
from kgagent.models.when import When
from kgagent.validation import explain_validation_error

RESERVED = INTERNAL_PROPERTIES | {
    "entity_key",
    "name",
    "aliases",
    "description",
    "notes",
    "relationship_type",
    "attitude",
    "proximity",
    "when",
    "created_at",
    "updated_at",
}
"""Names that `properties` must not contain: a line has fields for them, or kgagent maintains
them.
"""


def _property_name(name: str) -> str:
    if name in RESERVED:
        raise ValueError("the name is reserved; it is a field of the line, or kgagent maintains it")
    try:
        Identifier(name)
    except InputError as error:
        raise ValueError(str(error)) from None
    return name


Level = StrictInt | StrictStr | None
Properties = dict[
    Annotated[str, BeforeValidator(_property_name)],
    StrictStr
    | StrictBool
    | Annotated[StrictInt, Field(ge=-(2**63), lt=2**63)]
    | Annotated[float, Field(strict=True, allow_inf_nan=False)]
    | None,
]


def _or_dropped(
    when: object, read: ValidatorFunctionWrapHandler, info: ValidationInfo
) -> str | None:
    """A time; None for an invalid one, of which the context of the line then has the reason."""
    try:
        return cast("str | None", read(when))
    except ValidationError as error:
        if not isinstance(info.context, dict):
            raise
        reason = explain_validation_error(error, noun="field")
        info.context[f"{info.field_name} of a note is not stored: {reason}"] = None
        return None


NoteTime = Annotated[When | None, WrapValidator(_or_dropped)]
"""A time of a note, which does not cost the note if it is invalid."""


class LineModel(BaseModel):
    """Base of the line models; unknown fields are errors, so that typing errors are noticed."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class NoteLine(LineModel):
    """A note.

    Attributes:
        content: text of the note.
        when: when it happened or held, in EDTF.
        said_on: when it was said, in EDTF; without it, a note is known since `date_added`.
        added_by: author; None for the owner of the graph.
        date_added: when it was written; None for the time of the load.
        source_entity_key: `id` or `entity_key` of its Source.
        quote: the words of its Source that say it.
        expires_at: when it expires.
        lifetime: a lifetime of the ontology, from `date_added`, instead of `expires_at`.
    """

    content: FilledText
    when: NoteTime = None
    said_on: NoteTime = None
    added_by: EntityKey | None = None
    date_added: UtcTime | None = None
    source_entity_key: EntityKey | None = None
    quote: FilledText | None = None
    expires_at: UtcTime | None = None
    lifetime: str | None = None

    @model_validator(mode="after")
    def _validate_lifetime(self) -> Self:
        if self.lifetime is not None and self.expires_at is not None:
            raise ValueError("give lifetime or expires_at, not both")
        if self.lifetime is not None and self.date_added is None:
            raise ValueError("lifetime needs date_added, which is missing")
        return self


Notes = list[NoteLine | FilledText]
"""Notes; plain text is a note that never expires."""


class NodeLine(LineModel):
    """A node.

    Attributes:
        id: identifier in this file, which relationships refer to.
        entity_key: key of the node in the graph; None derives a key that is the same at every load.
        aliases: other names to add.
        created_at: creation time; part of the key if the rule of the label includes it.
        source_text: all that was said or written, of a source.
        said_on: date of it, in EDTF.
    """

    kind: Literal["node"]
    label: FilledText
    id: EntityKey | None = None
    entity_key: EntityKey | None = None
    name: NodeName
    aliases: list[NodeName] = Field(default_factory=list, max_length=MAX_ALIASES)
    description: Text | None = None
    notes: Notes = Field(default_factory=list)
    created_at: UtcTime | None = None
    source_text: SourceWords | None = None
    said_on: When | None = None
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
    when: When | None = None
    notes: Notes = Field(default_factory=list)
    neo4j_type: FilledText | None = None
    properties: Properties = Field(default_factory=dict)


Line = NodeLine | RelationshipLine
LINES: Mapping[str, type[Line]] = {"node": NodeLine, "relationship": RelationshipLine}
"""The model of each kind of line."""
