"""JSON schemas in the strict form of OpenAI's functions, and the arguments that models then write."""

import json
from collections.abc import Mapping
from typing import Any

from kgagent.adapters.json_schema import Schema, map_parts
from kgagent.errors import KgAgentError

KEPT = frozenset(
    {"type", "properties", "required", "additionalProperties", "items", "anyOf", "$ref", "$defs", "enum", "const"}
    | {"description", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
    | {"minItems", "maxItems"}
)
"""Keywords that strict functions support."""

DROPPED = frozenset(
    {"title", "default", "examples", "deprecated", "readOnly", "writeOnly", "format", "pattern", "discriminator"}
    | {"minLength", "maxLength", "uniqueItems", "minProperties", "maxProperties", "contentEncoding"}
)
"""Keywords that are removed: the schema then accepts or says less, and the tool still checks the arguments."""

RENAMED = {"oneOf": "anyOf"}
NULL = {"type": "null"}


class _NotStrictError(KgAgentError):
    """A schema has no strict form: an object with any names, a tuple, a negation."""


def strict_schema(schema: Mapping[str, Any]) -> Schema | None:
    """Convert a schema to strict form: every property is required, and an optional one may be null.

    Args:
        schema: a schema of pydantic.

    Returns:
        The strict schema, or None if there is none.
    """
    try:
        strict = _strict(schema)
    except _NotStrictError:
        return None
    return strict if strict.get("type") == "object" else None


def without_nulls(arguments: str) -> str:
    """Remove null properties at any depth; text that is not JSON stays as it is."""
    try:
        decoded = json.loads(arguments)
        return json.dumps(given_values(decoded))
    except (ValueError, RecursionError):
        return arguments


def given_values(value: Any) -> Any:  # noqa: ANN401
    """Remove properties that are None, at any depth."""
    if isinstance(value, dict):
        return {key: given_values(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [given_values(item) for item in value]
    return value


def _strict(schema: Mapping[str, Any]) -> Schema:
    named = {RENAMED.get(keyword, keyword): value for keyword, value in _merged(schema).items()}
    if foreign := named.keys() - KEPT - DROPPED:
        raise _NotStrictError(", ".join(sorted(foreign)))
    kept = map_parts({keyword: value for keyword, value in named.items() if keyword in KEPT}, _strict)
    if "$ref" in kept:
        return _reference(kept)
    if kept.get("type") == "object" or "properties" in kept:
        return _object(kept, schema)
    if kept.get("type") == "array" and "items" not in kept:
        raise _NotStrictError("a list without a type of its items")
    if not kept.keys() & {"type", "anyOf", "enum", "const", "$defs"}:
        raise _NotStrictError("a value without a type")
    return kept


def _merged(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Replace an `allOf` of one schema by that schema."""
    if len(schema.get("allOf", ())) != 1:
        return schema
    return {**schema["allOf"][0], **{keyword: value for keyword, value in schema.items() if keyword != "allOf"}}


def _reference(schema: Schema) -> Schema:
    """Wrap a reference with other keywords in an `anyOf`: a reference must be the only keyword."""
    others = {keyword: value for keyword, value in schema.items() if keyword not in {"$ref", "$defs"}}
    alone = {"$ref": schema["$ref"]}
    return {"anyOf": [alone], **others} if others else alone


def _object(strict: Schema, schema: Mapping[str, Any]) -> Schema:
    """Require all properties of an object with strict parts; optional ones may be null."""
    if strict.get("additionalProperties", False) is not False or "properties" not in strict:
        raise _NotStrictError("an object with any names")
    required = set(schema.get("required", ()))
    properties = {
        name: part if name in required else _nullable(_with_default(part, schema["properties"][name].get("default")))
        for name, part in strict["properties"].items()
    }
    return {**strict, "properties": properties, "required": list(properties), "additionalProperties": False}


def _with_default(part: Schema, default: object) -> Schema:
    """Describe the default in words: strict schemas have no keyword for it."""
    if default in (None, "") or not isinstance(default, str | int | float):
        return part
    note = f"Null means {json.dumps(default)}."
    return {**part, "description": f"{part['description']} {note}" if "description" in part else note}


def _nullable(schema: Schema) -> Schema:
    if "anyOf" in schema:
        return schema if NULL in schema["anyOf"] else {**schema, "anyOf": [*schema["anyOf"], NULL]}
    description = {"description": schema["description"]} if "description" in schema else {}
    alone = {keyword: value for keyword, value in schema.items() if keyword != "description"}
    return {"anyOf": [alone, NULL], **description}
