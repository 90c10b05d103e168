"""Constraints on the properties along a path, and the base classes of the models of a pattern
query.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, ClassVar, Literal, Self

from pydantic import (
    AliasChoices,
    AliasGenerator,
    AllowInfNan,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    StringConstraints,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic.json_schema import JsonSchemaValue
from typing_extensions import TypeAliasType

from kgagent.models.request import RequestModel, parsed_json

MAX_STEPS = 8
"""Maximum number of steps of a pattern, and of relationships on a path."""

MAX_VALUES = 10_000
"""Maximum number of values of PROPERTY_IN and NOT_IN."""

MAX_TEXT_LENGTH = 10_000

Value = (
    Annotated[bool, Strict()]
    | Annotated[int, Strict(), Field(ge=-(2**63), lt=2**63)]
    | Annotated[float, Strict(), AllowInfNan(False)]
    | Annotated[str, Field(max_length=MAX_TEXT_LENGTH)]
)
"""A value that the database can store, and so compare with."""

_OneOrMoreValues = TypeAliasType(
    "_OneOrMoreValues", Value | Annotated[list[Value], Field(max_length=MAX_VALUES, fail_fast=True)]
)

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]
RelationTypes = Annotated[tuple[Name, ...], Field(max_length=100)]


class LenientEnum(StrEnum):
    """An enumeration whose names are accepted in any letter case, with spaces and hyphens, and with
    synonyms.
    """

    @classmethod
    def synonyms(cls) -> Mapping[str, str]:
        """For each name, the other words for it, separated by spaces."""
        return {}

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        word = value.strip().upper() if isinstance(value, str) else ""
        if any(map(str.isalpha, word)):
            word = word.replace("-", "_").replace(" ", "_")
        meant = next(
            (name for name, words in cls.synonyms().items() if word in words.split()), word
        )
        return cls.__members__.get(meant)


def accepts(*names: str) -> AliasChoices:
    """Names under which a field is accepted, each in snake_case and in camelCase; the first is its
    own.
    """
    return AliasChoices(
        *dict.fromkeys(spelling for name in names for spelling in (name, to_camel(name)))
    )


class PatternModel(RequestModel):
    """Base class of the models of a query: field names in snake_case or camelCase; unknown names
    are errors.
    """

    model_config = ConfigDict(
        populate_by_name=True,
        alias_generator=AliasGenerator(validation_alias=accepts),
    )


class ConstraintType(LenientEnum):
    """How a constraint compares a property."""

    PROPERTY_EQUALS = "PROPERTY_EQUALS"
    PROPERTY_IN = "PROPERTY_IN"
    NOT_IN = "NOT_IN"
    GREATER_THAN = "GREATER_THAN"
    LESS_THAN = "LESS_THAN"
    GREATER_THAN_EQUALS = "GREATER_THAN_EQUALS"
    LESS_THAN_EQUALS = "LESS_THAN_EQUALS"
    CONTAINS = "CONTAINS"
    STARTS_WITH = "STARTS_WITH"
    ENDS_WITH = "ENDS_WITH"
    REGEX_MATCH = "REGEX_MATCH"

    @classmethod
    def synonyms(cls) -> Mapping[str, str]:
        """See `LenientEnum`."""
        return {
            "PROPERTY_EQUALS": "= == EQ EQUAL EQUALS IS",
            "PROPERTY_IN": "IN ONE_OF ANY_OF",
            "NOT_IN": "NONE_OF PROPERTY_NOT_IN",
            "GREATER_THAN": "> GT",
            "LESS_THAN": "< LT",
            "GREATER_THAN_EQUALS": ">= GTE GREATER_THAN_EQUAL "
            "GREATER_THAN_OR_EQUAL GREATER_THAN_OR_EQUALS AT_LEAST",
            "LESS_THAN_EQUALS": "<= LTE LESS_THAN_EQUAL "
            "LESS_THAN_OR_EQUAL LESS_THAN_OR_EQUALS AT_MOST",
            "REGEX_MATCH": "=~ REGEX MATCHES REGEX_MATCHES",
        }


LIST_TYPES = frozenset({ConstraintType.PROPERTY_IN, ConstraintType.NOT_IN})
EQUALITY_TYPES = frozenset({ConstraintType.PROPERTY_EQUALS, *LIST_TYPES})
ORDER_OPERATORS: Mapping[ConstraintType, str] = {
    ConstraintType.GREATER_THAN: ">",
    ConstraintType.LESS_THAN: "<",
    ConstraintType.GREATER_THAN_EQUALS: ">=",
    ConstraintType.LESS_THAN_EQUALS: "<=",
}
TEXT_OPERATORS: Mapping[ConstraintType, str] = {
    ConstraintType.CONTAINS: "CONTAINS",
    ConstraintType.STARTS_WITH: "STARTS WITH",
    ConstraintType.ENDS_WITH: "ENDS WITH",
}
_OF_TEXT = frozenset(
    {ConstraintType.STARTS_WITH, ConstraintType.ENDS_WITH, ConstraintType.REGEX_MATCH}
)

_NUMBER_OR_WORD: JsonSchemaValue = {"anyOf": [{"type": "integer"}, {"type": "string"}]}
"""Schema of a place on a path: what the numbers and words mean is said in a description."""

_VALUE: list[JsonSchemaValue] = [{"type": "string"}, {"type": "number"}, {"type": "boolean"}]
_ONE_OR_MORE_VALUES: JsonSchemaValue = {
    "anyOf": [*_VALUE, {"type": "array", "items": {"anyOf": _VALUE[:2]}}]
}

Position = TypeAliasType(
    "Position",
    Annotated[
        Annotated[int, Field(ge=0, lt=MAX_STEPS)] | Literal["start", "end"],
        WithJsonSchema(_NUMBER_OR_WORD),
        Field(description="i (from 0) for the node at which step i arrives, or start or end."),
    ],
)
"""A node of a path: i is the node at which step i arrives (from 0), or "start" or "end"."""


def _part_of_path(value: object) -> object:
    return "relationship" if value in ("edge", "rel", "relation", "relationships") else value


class PropertyReference(PatternModel):
    """A property of another node of the path."""

    at_step: Position = Field(description="The node.")
    property_path: Name = Field(
        validation_alias=accepts("property_path", "property", "field", "key"),
        description="Its property.",
    )


class Constraint(PatternModel):
    """A condition on a property. A missing property satisfies no constraint."""

    not_in_schema: ClassVar[frozenset[str]] = frozenset({"value_from", "node_label"})

    type: ConstraintType = Field(
        validation_alias=accepts("type", "operator", "op"),
        description=(
            "How to compare. REGEX_MATCH (RE2) matches the whole text; CONTAINS also finds an item "
            "of a list."
        ),
    )
    property_path: Name = Field(
        validation_alias=accepts(
            "property_path", "property", "property_name", "field", "key", "attribute"
        ),
        description='Property; "budget.approved" for a value inside JSON.',
    )
    value: Annotated[_OneOrMoreValues | None, WithJsonSchema(_ONE_OR_MORE_VALUES)] = Field(
        None,
        validation_alias=accepts("value", "values"),
        description="Value to compare with; a list for PROPERTY_IN and NOT_IN.",
    )
    value_from: PropertyReference | None = Field(
        None, description="Compares with a property of another node instead of value."
    )
    node_label: Name | None = Field(
        None, description="Applies the constraint only to nodes with this label."
    )
    at_step: Annotated[
        Annotated[int, Field(ge=-1, lt=MAX_STEPS)] | Literal["start", "end"],
        WithJsonSchema(_NUMBER_OR_WORD),
    ] = Field(
        -1,
        validation_alias=accepts("at_step", "step", "step_index", "at"),
        description="i (from 0): relationship of step i, or the node at which it arrives; start; "
        "end; -1: all of the "
        "path.",
    )
    on: Annotated[Literal["node", "relationship"], BeforeValidator(_part_of_path)] = Field(
        "node", description="What has the property: node or relationship."
    )

    @field_validator("value", mode="before")
    @classmethod
    def _list_as_text(cls, value: object, info: ValidationInfo) -> object:
        """A list may be JSON text where the type takes a list; elsewhere, such a text is compared
        as it is.
        """
        return parsed_json(value) if info.data.get("type") in LIST_TYPES else value

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        if (self.value is None) == (self.value_from is None):
            raise ValueError(
                f"{self.type} on {self.property_path!r} needs either a value (not null) or "
                f"value_from"
            )
        if self.on == "relationship" and (self.at_step == "start" or self.node_label is not None):
            raise ValueError(
                f"a constraint on relationships takes no at_step 'start' and no node_label, got "
                f"{self.at_step!r} and "
                f"{self.node_label!r}"
            )
        if self.value_from is None:
            _check_value(self.type, self.value)
        elif (
            self.on == "relationship"
            or self.type is ConstraintType.REGEX_MATCH
            or "." in self.property_path
        ):
            raise ValueError(
                "value_from works only on a node's own property, and not with REGEX_MATCH"
            )
        return self

    @property
    def compared_values(self) -> Sequence[Value | None]:
        """The value, or the values of a list."""
        return self.value if isinstance(self.value, list) else [self.value]

    @classmethod
    def property_equals(cls, label: str | None, name: str, value: Value, step: int) -> Self:
        """The property equals the value."""
        return cls(
            type=ConstraintType.PROPERTY_EQUALS,
            node_label=label,
            property_path=name,
            value=value,
            at_step=step,
        )

    @classmethod
    def property_in(cls, label: str | None, name: str, values: Sequence[Value], step: int) -> Self:
        """The property is one of the values."""
        return cls(
            type=ConstraintType.PROPERTY_IN,
            node_label=label,
            property_path=name,
            value=list(values),
            at_step=step,
        )

    @classmethod
    def not_in(cls, label: str | None, name: str, values: Sequence[Value], step: int) -> Self:
        """The property exists and is none of the values."""
        return cls(
            type=ConstraintType.NOT_IN,
            node_label=label,
            property_path=name,
            value=list(values),
            at_step=step,
        )


def _check_value(kind: ConstraintType, value: Value | list[Value] | None) -> None:
    needed = None
    if kind in LIST_TYPES and not isinstance(value, list):
        needed = "a list of values"
    elif kind not in LIST_TYPES and isinstance(value, list):
        needed = "one value: text, a number, true or false"
    elif kind in _OF_TEXT and not isinstance(value, str):
        needed = "text"
    elif kind in ORDER_OPERATORS and isinstance(value, bool):
        needed = "a number, text, or a date as text"
    if needed is not None:
        raise ValueError(f"{kind} needs {needed}, got {value!r:.80}")
