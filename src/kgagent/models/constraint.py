"""What must hold of the properties along a path."""

import math
import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from inspect import cleandoc
from typing import Annotated, Literal, Self

from pydantic import (
    AliasChoices,
    AliasGenerator,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    JsonValue,
    StringConstraints,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from kgagent.models.request import RequestModel

MAX_STEPS = 8
"""Steps of a pattern, and relationships of a path, at the most."""

MAX_VALUES = 10_000
"""Values that PROPERTY_IN and NOT_IN compare with at the most."""

MAX_TEXT_LENGTH = 10_000
MAX_EXPRESSION_LENGTH = 1_000
_WHOLE_NUMBERS = range(-(2**63), 2**63)

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]
RelationTypes = Annotated[tuple[Name, ...], Field(max_length=100)]


def upper(value: object) -> object:
    """Text in capitals, so that a name of an enumeration is known in any letter case."""
    return value.upper() if isinstance(value, str) else value


class PatternModel(RequestModel):
    """Base of what a query is made of: JSON in and out, names in snake_case or camelCase, and no unknown ones."""

    model_config = ConfigDict(
        populate_by_name=True,
        alias_generator=AliasGenerator(validation_alias=lambda name: AliasChoices(name, to_camel(name))),
    )

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """The schema that a model is shown, with what the docstring says of each field."""
        made = handler(schema)
        shown = handler.resolve_ref_schema(made)
        told = {name: text for kind in reversed(cls.__mro__) for name, text in _told_of_fields(kind.__doc__).items()}
        for name, field in shown.get("properties", {}).items():
            field.setdefault("description", told[name])
        shown["description"] = (cls.__doc__ or "").partition("\n\n")[0].strip()
        return made


def _told_of_fields(docstring: str | None) -> dict[str, str]:
    """What the section `Attributes:` of a docstring says of each."""
    _, _, section = cleandoc(docstring or "").partition("Attributes:\n")
    entries = re.findall(r"^    (\w+): (.*(?:\n {8,}.*)*)", section, re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in entries}


class ConstraintType(StrEnum):
    """What a constraint asks of a property."""

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


LISTS = frozenset({ConstraintType.PROPERTY_IN, ConstraintType.NOT_IN})
ORDERS: Mapping[ConstraintType, str] = {
    ConstraintType.GREATER_THAN: ">",
    ConstraintType.LESS_THAN: "<",
    ConstraintType.GREATER_THAN_EQUALS: ">=",
    ConstraintType.LESS_THAN_EQUALS: "<=",
}
TEXTS: Mapping[ConstraintType, str] = {
    ConstraintType.CONTAINS: "CONTAINS",
    ConstraintType.STARTS_WITH: "STARTS WITH",
    ConstraintType.ENDS_WITH: "ENDS WITH",
}

Position = Annotated[int, Field(ge=0, lt=MAX_STEPS)] | Literal["start", "end"]
"""A node of a path: the one that step i arrives at (from 0), the start, or the end."""


class PropertyReference(PatternModel):
    """A property of another node of the same path.

    Attributes:
        at_step: which node.
        property_path: its property.
    """

    at_step: Position
    property_path: Name


class Constraint(PatternModel):
    """What must hold of a property; one that is missing satisfies no constraint.

    Attributes:
        type: how the property is compared.
        property_path: name of the property; after a dot, names inside one that holds JSON ("budget.approved").
        value: what it is compared with; a list for PROPERTY_IN and NOT_IN. REGEX_MATCH takes the syntax of RE2 and
            matches the whole text. CONTAINS on a property that is a list looks for an equal item.
        value_from: takes the value from another node of the path instead.
        node_label: holds only for nodes with that label.
        at_step: the node that this step arrives at, from 0; -1 is every node of the path, the start too; or "start",
            "end". For a relationship, that of the step; -1 is every one.
        on: whether a node's property is meant, or a relationship's.
    """

    type: Annotated[ConstraintType, BeforeValidator(upper)]
    property_path: Name
    value: JsonValue = None
    value_from: PropertyReference | None = None
    node_label: Name | None = None
    at_step: Annotated[int, Field(ge=-1, lt=MAX_STEPS)] | Literal["start", "end"] = -1
    on: Literal["node", "relationship"] = "node"

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if (self.value is None) == (self.value_from is None):
            raise ValueError(
                f"{self.type} on {self.property_path!r} needs a value (not null), or value_from; one of them"
            )
        if self.on == "relationship" and (self.at_step == "start" or self.node_label is not None):
            raise ValueError(f"a constraint on a relationship takes no at_step 'start' and no node_label, got {self!r}")
        if self.value_from is None:
            _check_value(self.type, self.value)
        elif self.on == "relationship" or self.type is ConstraintType.REGEX_MATCH or "." in self.property_path:
            raise ValueError("value_from works on a node's own property, for all types but REGEX_MATCH")
        return self

    @classmethod
    def property_equals(cls, label: str | None, name: str, value: JsonValue, step: int) -> Self:
        """A property that must equal a value."""
        return cls(type=ConstraintType.PROPERTY_EQUALS, node_label=label, property_path=name, value=value, at_step=step)

    @classmethod
    def property_in(cls, label: str | None, name: str, values: Sequence[JsonValue], step: int) -> Self:
        """A property that must be among values."""
        return cls(
            type=ConstraintType.PROPERTY_IN, node_label=label, property_path=name, value=list(values), at_step=step
        )

    @classmethod
    def not_in(cls, label: str | None, name: str, values: Sequence[JsonValue], step: int) -> Self:
        """A property that must be there and not among values."""
        return cls(type=ConstraintType.NOT_IN, node_label=label, property_path=name, value=list(values), at_step=step)


def _check_value(kind: ConstraintType, value: JsonValue) -> None:
    if kind in LISTS:
        if not isinstance(value, list) or len(value) > MAX_VALUES:
            raise ValueError(f"{kind} needs a list of at most {MAX_VALUES:,} values, got {_told(value)}")
        for item in value:
            _check_scalar(kind, item)
    elif isinstance(value, list | dict):
        raise ValueError(f"{kind} needs one value, got {_told(value)}; PROPERTY_IN and NOT_IN take lists")
    else:
        _check_scalar(kind, value)
    if (kind in TEXTS and kind is not ConstraintType.CONTAINS) or kind is ConstraintType.REGEX_MATCH:
        longest = MAX_EXPRESSION_LENGTH if kind is ConstraintType.REGEX_MATCH else MAX_TEXT_LENGTH
        if not isinstance(value, str) or len(value) > longest:
            raise ValueError(f"{kind} needs text of at most {longest:,} characters, got {_told(value)}")
    if kind in ORDERS and isinstance(value, bool):
        raise ValueError(f"{kind} needs a number, a text or a date as text, got {_told(value)}")


def _check_scalar(kind: ConstraintType, value: JsonValue) -> None:
    if isinstance(value, list | dict) or value is None:
        raise ValueError(f"{kind} compares with texts, numbers, true and false, got {_told(value)}")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{kind} needs a finite number, got {value}")
    if isinstance(value, int) and value not in _WHOLE_NUMBERS:
        raise ValueError(f"{kind} needs a whole number of 64 bits, got one of {value.bit_length()} bits")
    if isinstance(value, str) and any("\ud800" <= c <= "\udfff" for c in value):
        raise ValueError(f"{kind} needs text without halves of surrogate pairs, got {_told(value)}")
    if isinstance(value, str) and len(value) > MAX_TEXT_LENGTH:
        raise ValueError(f"{kind} needs text of at most {MAX_TEXT_LENGTH:,} characters, got {len(value):,}")


def _told(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."  # noqa: PLR2004 - as much as a line bears
