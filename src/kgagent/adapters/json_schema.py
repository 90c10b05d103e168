"""JSON schemas of arguments, as surfaces that call a model send them."""

from collections.abc import Callable, Mapping
from typing import Any

Schema = dict[str, Any]

_SCHEMAS_BY_NAME = ("properties", "$defs")
_LISTS_OF_SCHEMAS = ("anyOf", "oneOf", "allOf", "prefixItems")
_SINGLE_SCHEMAS = ("items", "additionalProperties")


def without_titles(schema: Mapping[str, Any]) -> Schema:
    """Leave out the titles that pydantic makes of names: a model pays for them and learns nothing."""
    return {key: value for key, value in with_parts(schema, without_titles).items() if key != "title"}


def with_parts(schema: Mapping[str, Any], change: Callable[[Mapping[str, Any]], Schema]) -> Schema:
    """A schema whose parts, those of properties, definitions, items and alternatives, are changed.

    Args:
        schema: itself only copied; what else its keywords hold, examples and defaults say, is data and stays as it is.
        change: makes a part anew.
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
