"""JSON schemas of the arguments of tools, in the subset that the APIs of all model providers
accept.
"""

import copy
import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from pydantic import BaseModel

Schema = dict[str, Any]

_SCHEMAS_BY_NAME = ("properties",)
_LISTS_OF_SCHEMAS = ("anyOf", "prefixItems")
_SINGLE_SCHEMAS = ("items", "additionalProperties")
_NULL = {"type": "null"}
_NOT_NEEDED = {"$ref", "title", "minLength", "maxLength", "minItems", "maxItems"}

RARELY_REACHED = 10
"""A maximum from here on, and the minimum beside it, are checked but not described to a model."""

COSINES = (-1.0, 1.0)
"""Limits that go without saying, because the description says that it is a cosine."""

NEO4J_TYPE = "neo4j_type"
"""The property that chooses among the types that an ontology has for two labels."""

MAX_TYPES = 30
"""Types that a schema lists; of more, it has none."""

MAX_DESCRIPTION_LENGTH = 1_024
"""Characters of a function's description that OpenAI's API accepts."""


def arguments_schema(arguments: type[BaseModel], neo4j_types: tuple[str, ...] = ()) -> Schema:
    """The schema of a tool's arguments in as few characters as possible; the caller may change it.

    It is `compact`, and does not say that other properties are refused: some clients cannot read
    that, and the tool checks it. A description of the tool has an example where a model needs one.

    Args:
        arguments: the model of the arguments.
        neo4j_types: the Neo4j types between which a model must choose; without any, it is not asked
            to.
    """
    return copy.deepcopy(_arguments_schema(arguments, neo4j_types))


@cache
def _arguments_schema(arguments: type[BaseModel], neo4j_types: tuple[str, ...]) -> Schema:
    schema = _with_types(compact(arguments.model_json_schema()), neo4j_types)
    return {key: value for key, value in schema.items() if key != "description"}


def compact(schema: Mapping[str, Any]) -> Schema:
    """A schema without what a model does not need to call a tool.

    Titles, lengths, limits that are rarely reached, empty and false defaults, null as a value of
    optional properties, and the refusal of other properties are omitted; the tool checks lengths
    and limits itself. Each definition stands where it is used, with the descriptions of its
    properties where it is used first.

    Args:
        schema: a schema of pydantic whose definitions do not contain themselves.
    """
    definitions = dict(schema.get("$defs", {}))
    return _compact({key: value for key, value in schema.items() if key != "$defs"}, definitions)


def _compact(schema: Mapping[str, Any], definitions: dict[str, Mapping[str, Any]]) -> Schema:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        definition = definitions[name]
        definitions[name] = _without_descriptions(definition)
        # A property describes it better than its class.
        schema = {**definition, "description": "", **schema}
    changed = {
        key: value
        for key, value in map_parts(schema, lambda part: _compact(part, definitions)).items()
        if key not in _NOT_NEEDED
        and not (key in {"default", "description"} and value in (None, False, "", []))
        and not (key == "additionalProperties" and value is False)
    }
    if "const" in changed:
        changed["enum"] = [changed.pop("const")]
    limits = changed.get("minimum"), changed.get("maximum")
    if (
        (limits[1] or 0) >= RARELY_REACHED
        or limits == COSINES
        or (limits[0] in (0, 1) and limits[1] is None)
    ):
        changed = {
            key: value for key, value in changed.items() if key not in {"minimum", "maximum"}
        }
    alternatives = [part for part in changed.pop("anyOf", ()) if part != _NULL]
    if len(alternatives) == 1:
        return {**alternatives[0], **changed}
    return {"anyOf": alternatives, **changed} if alternatives else changed


def _with_types(schema: Mapping[str, Any], neo4j_types: tuple[str, ...]) -> Schema:
    """A schema whose properties `neo4j_type` offer these types; without types, the property is
    omitted.
    """
    changed = map_parts(schema, lambda part: _with_types(part, neo4j_types))
    properties = changed.get("properties", {})
    if (choice := properties.pop(NEO4J_TYPE, None)) is not None and neo4j_types:
        names = {"enum": list(neo4j_types)} if len(neo4j_types) <= MAX_TYPES else {}
        properties[NEO4J_TYPE] = {**choice, **names}
    return changed


def _without_descriptions(schema: Mapping[str, Any]) -> Schema:
    return map_parts(
        {key: value for key, value in schema.items() if key != "description"}, _without_descriptions
    )


def strict_schema(schema: Mapping[str, Any]) -> Schema:
    """The strict form of OpenAI's functions: every property is required, and an optional one may be
    null.

    Args:
        schema: a compact schema, in which every object has properties.
    """
    strict = map_parts(
        {key: value for key, value in schema.items() if key != "default"}, strict_schema
    )
    if "properties" in strict:
        required, given = schema.get("required", ()), schema["properties"]
        strict["properties"] = {
            name: part if name in required else _nullable(part, given[name].get("default"))
            for name, part in strict["properties"].items()
        }
        strict |= {"required": list(given), "additionalProperties": False}
    return strict


def _nullable(part: Schema, default: object) -> Schema:
    """A part that may be null; the description says the default, for which strict schemas have no
    keyword.
    """
    note = "" if default is None else f"Null means {json.dumps(default)}."
    description = " ".join(filter(None, (part.pop("description", ""), note)))
    alternatives = part.get("anyOf", [part])
    return {
        "anyOf": [*alternatives, _NULL],
        **({"description": description} if description else {}),
    }


def described_schema(description: str, parameters: Schema) -> tuple[str, Schema]:
    """The description of a function within the length that APIs accept, and its parameters.

    The rest of a longer description, from a sentence or clause on, is put into that of the last
    parameter.
    """
    if len(description) <= MAX_DESCRIPTION_LENGTH:
        return description, parameters
    kept = description[:MAX_DESCRIPTION_LENGTH]
    end = (
        max(kept.rfind(mark) + len(mark) if mark in kept else 0 for mark in (". ", "; "))
        or MAX_DESCRIPTION_LENGTH
    )
    name, last = list(parameters["properties"].items())[-1]
    described = {
        **last,
        "description": " ".join(filter(None, (last.get("description"), description[end:].strip()))),
    }
    return description[:end].rstrip(), {
        **parameters,
        "properties": {**parameters["properties"], name: described},
    }


def map_parts(schema: Mapping[str, Any], change: Callable[[Mapping[str, Any]], Schema]) -> Schema:
    """Apply a function to the direct parts of a schema: properties, definitions, items and
    alternatives.

    Args:
        schema: copied; its other keywords, such as defaults, hold data and stay unchanged.
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
