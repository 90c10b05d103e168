"""JSON schemas as surfaces send them to a model."""

from collections.abc import Callable, Mapping
from typing import Any

Schema = dict[str, Any]

_SCHEMAS_BY_NAME = ("properties", "$defs")
_LISTS_OF_SCHEMAS = ("anyOf", "oneOf", "allOf", "prefixItems")
_SINGLE_SCHEMAS = ("items", "additionalProperties")
_NULL = {"type": "null"}
_NOT_NEEDED = {"title", "minLength", "maxLength"}


def without_titles(schema: Mapping[str, Any]) -> Schema:
    """A schema without the titles that pydantic derives from names: they cost tokens and say nothing."""
    return {key: value for key, value in map_parts(schema, without_titles).items() if key != "title"}


def compact(schema: Mapping[str, Any]) -> Schema:
    """A schema without what a model does not need to call a tool.

    Titles, lengths of texts, empty defaults, and null as a value of optional properties are omitted. The tool accepts
    null still, and checks lengths itself.
    """
    changed = {
        key: value
        for key, value in map_parts(schema, compact).items()
        if key not in _NOT_NEEDED and not (key == "default" and value in (None, "", []))
    }
    alternatives = changed.get("anyOf")
    if alternatives and _NULL in alternatives:
        others = [part for part in alternatives if part != _NULL]
        del changed["anyOf"]
        changed = {**others[0], **changed} if len(others) == 1 else {"anyOf": others, **changed}
    return changed


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
