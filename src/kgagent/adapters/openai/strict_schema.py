"""JSON schemas in the form that OpenAI's `strict` functions take, and the way back from what models then say."""

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
"""Keywords that strict functions take."""

DROPPED = frozenset(
    {"title", "default", "examples", "deprecated", "readOnly", "writeOnly", "format", "pattern", "discriminator"}
    | {"minLength", "maxLength", "uniqueItems", "minProperties", "maxProperties", "contentEncoding"}
)
"""Keywords without which a schema takes more, or says less; the tool itself checks what they ask for."""

RENAMED = {"oneOf": "anyOf"}
NULL = {"type": "null"}


class _NotStrictError(KgAgentError):
    """A schema says what strict functions cannot: an object of any names, a tuple, a negation."""


def strict_schema(schema: Mapping[str, Any]) -> Schema | None:
    """Write a schema in strict form: every property is required, what may be left out may be null instead.

    Args:
        schema: as pydantic makes it.

    Returns:
        The schema, None where it cannot be written so.
    """
    try:
        strict = _strict(schema)
    except _NotStrictError:
        return None
    return strict if strict.get("type") == "object" else None


def without_nulls(arguments: str) -> str:
    """Leave out, at any depth, what a model says null for; text that is no JSON stays as it is."""
    try:
        decoded = json.loads(arguments)
        return json.dumps(given_values(decoded))
    except (ValueError, RecursionError):
        return arguments


def given_values(value: Any) -> Any:  # noqa: ANN401
    """Leave out, at any depth, what is None in a mapping."""
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
        raise _NotStrictError("a list of anything")
    if not kept.keys() & {"type", "anyOf", "enum", "const", "$defs"}:
        raise _NotStrictError("a value of any type")
    return kept


def _merged(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """An `allOf` of one is what it holds."""
    if len(schema.get("allOf", ())) != 1:
        return schema
    return {**schema["allOf"][0], **{keyword: value for keyword, value in schema.items() if keyword != "allOf"}}


def _reference(schema: Schema) -> Schema:
    """A reference stands alone; what is said beside it is said of the only alternative that it is."""
    beside = {keyword: value for keyword, value in schema.items() if keyword not in {"$ref", "$defs"}}
    alone = {"$ref": schema["$ref"]}
    return {"anyOf": [alone], **beside} if beside else alone


def _object(strict: Schema, schema: Mapping[str, Any]) -> Schema:
    """An object whose parts are strict already; what the schema at first did not require may be null."""
    if strict.get("additionalProperties", False) is not False or "properties" not in strict:
        raise _NotStrictError("an object of any names")
    required = set(schema.get("required", ()))
    properties = {
        name: part if name in required else _nullable(_with_default(part, schema["properties"][name].get("default")))
        for name, part in strict["properties"].items()
    }
    return {**strict, "properties": properties, "required": list(properties), "additionalProperties": False}


def _with_default(part: Schema, default: object) -> Schema:
    """Say in words what is taken where nothing is said, for there is no keyword for it."""
    if default in (None, "") or not isinstance(default, str | int | float):
        return part
    said = f"Null means {json.dumps(default)}."
    return {**part, "description": f"{part['description']} {said}" if "description" in part else said}


def _nullable(schema: Schema) -> Schema:
    if "anyOf" in schema:
        return schema if NULL in schema["anyOf"] else {**schema, "anyOf": [*schema["anyOf"], NULL]}
    description = {"description": schema["description"]} if "description" in schema else {}
    alone = {keyword: value for keyword, value in schema.items() if keyword != "description"}
    return {"anyOf": [alone, NULL], **description}
