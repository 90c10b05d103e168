"""JSON schemas as surfaces send them to a model."""

import copy
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel

Schema = dict[str, Any]

_SCHEMAS_BY_NAME = ("properties", "$defs")
_LISTS_OF_SCHEMAS = ("anyOf", "oneOf", "allOf", "prefixItems")
_SINGLE_SCHEMAS = ("items", "additionalProperties")
_NULL = {"type": "null"}
_NOT_NEEDED = {"title", "minLength", "maxLength", "minItems", "maxItems"}
_REFERENCE = "#/$defs/"

RARELY_REACHED = 10
"""A maximum from here on, and the minimum beside it, are checked but not described to a model."""

COSINES = (-1.0, 1.0)
"""Limits that go without saying, because the description says that it is a cosine."""


def arguments_schema(arguments: type[BaseModel]) -> Schema:
    """The `model_schema` of a tool's arguments; the caller may change it."""
    return copy.deepcopy(_arguments_schema(arguments))


@cache
def _arguments_schema(arguments: type[BaseModel]) -> Schema:
    return model_schema(arguments.model_json_schema())


def model_schema(schema: Mapping[str, Any]) -> Schema:
    """The schema of a tool's arguments in as few characters as possible.

    It is `compact`, and a definition stands where it is used unless a reference to it is shorter. Only the arguments
    themselves say that unknown names are refused. A description of the tool has an example where a model needs one.
    """
    short = compact({key: value for key, value in schema.items() if key not in {"description", "examples"}})
    return {**_inlined(_open(short)), "additionalProperties": False}


def compact(schema: Mapping[str, Any]) -> Schema:
    """A schema without what a model does not need to call a tool.

    Titles, lengths, limits that are rarely reached, empty and false defaults, types of enumerations, and null as a
    value of optional properties are omitted. The tool accepts null still, and checks lengths and limits itself.
    """
    changed = {
        key: value
        for key, value in map_parts(schema, compact).items()
        if key not in _NOT_NEEDED and not (key == "default" and value in (None, False, "", []))
    }
    if "enum" in changed:
        changed.pop("type", None)
    if changed.get("maximum", 0) >= RARELY_REACHED or (changed.get("minimum"), changed.get("maximum")) == COSINES:
        changed = {key: value for key, value in changed.items() if key not in {"minimum", "maximum"}}
    if changed.get("minimum") in (0, 1) and "maximum" not in changed:
        del changed["minimum"]
    others = [part for part in changed.pop("anyOf", ()) if part != _NULL]
    if len(others) == 1:
        return {**others[0], **changed}
    if others and all(part.keys() == {"type"} for part in others):
        return {"type": [part["type"] for part in others], **changed}
    return {"anyOf": others, **changed} if others else changed


def _open(schema: Mapping[str, Any]) -> Schema:
    """A schema whose objects do not say that they accept no other properties."""
    changed = map_parts(schema, _open)
    return {key: value for key, value in changed.items() if not (key == "additionalProperties" and value is False)}


def _inlined(schema: Schema) -> Schema:
    """Put each definition where it is used if that is shorter, and drop unused ones."""
    while True:
        definitions: Mapping[str, Schema] = schema.get("$defs", {})
        uses = Counter(_references(schema))
        name = next((name for name, part in definitions.items() if _is_shorter_inline(name, part, uses[name])), None)
        if name is None:
            return {key: value for key, value in schema.items() if key != "$defs" or value}
        kept = {other: part for other, part in definitions.items() if other != name}
        schema = _replaced({**schema, "$defs": kept}, name, definitions[name])


def _is_shorter_inline(name: str, definition: Schema, uses: int) -> bool:
    if name in _references(definition):
        return False
    size = len(json.dumps({key: value for key, value in definition.items() if key != "description"}))
    return size * uses < size + uses * len(json.dumps({"$ref": _REFERENCE + name})) + len(json.dumps(name))


def _references(schema: Mapping[str, Any]) -> Iterator[str]:
    """The names of the definitions that a schema and its parts refer to, as often as they do."""
    found: list[str] = []

    def collect(part: Mapping[str, Any]) -> Schema:
        if "$ref" in part:
            found.append(str(part["$ref"]).removeprefix(_REFERENCE))
        return map_parts(part, collect)

    collect(schema)
    return iter(found)


def _replaced(schema: Mapping[str, Any], name: str, definition: Schema) -> Schema:
    """A schema with a definition in place of each reference to it; a property describes it better than its class."""
    if schema.get("$ref") == _REFERENCE + name:
        others = {key: value for key, value in schema.items() if key != "$ref"}
        return {**{key: value for key, value in definition.items() if key != "description"}, **others}
    return map_parts(schema, lambda part: _replaced(part, name, definition))


def map_parts(schema: Mapping[str, Any], change: Callable[[Mapping[str, Any]], Schema]) -> Schema:
    """Apply a function to the direct parts of a schema: properties, definitions, items and alternatives.

    Args:
        schema: copied; its other keywords, such as examples and defaults, hold data and stay unchanged.
        change: makes the new part.
    """
    changed: Schema = {}
    for keyword, value in schema.items():
        if keyword in _SCHEMAS_BY_NAME:
            changed[keyword] = {name: change(part) for name, part in value.items()}
        elif keyword in _LISTS_OF_SCHEMAS:
            changed[keyword] = [change(part) for part in value]
        elif keyword in _SINGLE_SCHEMAS and isinstance(value, Mapping):
            changed[keyword] = change(value)
        else:
            changed[keyword] = value
    return changed
