"""The tools of the registry as MCP describes tools; no user is needed for that."""

import copy
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import mcp.types

from kgagent.adapters.json_schema import Schema, arguments_schema, compact, map_parts
from kgagent.ontology import Ontology
from kgagent.tools import TOOLS, Tool
from kgagent.tools.toolsets import tools_of

DIALECT = "https://json-schema.org/draft/2020-12/schema"
"""The dialect of the schemas, which strict clients require."""

_ENVELOPE: Schema = {
    "success": {"type": "boolean"},
    "error": {"type": "string", "description": "What was wrong, if it failed."},
}


def tool_definitions(
    ontology: Ontology, toolsets: str | Iterable[str] = "all", *, structured: bool = False
) -> list[mcp.types.Tool]:
    """The definitions of the tools of some toolsets, in the order of the registry.

    Args:
        ontology: descriptions name its labels, types and words.
        toolsets: names of toolsets.
        structured: whether calls return structured content, whose schema is then part of the
            definitions.

    Raises:
        InputError: a toolset is unknown.
    """
    included = tools_of(toolsets)
    return [
        mcp.types.Tool(
            name=tool.name,
            description=tool.description(ontology),
            input_schema={
                "$schema": DIALECT,
                **arguments_schema(tool.arguments, ontology.ambiguous_types),
            },
            output_schema=copy.deepcopy(_output_schema(tool)) if structured else None,
            annotations=_annotations(tool),
        )
        for tool in TOOLS
        if tool.name in included
    ]


@cache
def _output_schema(tool: Tool[Any]) -> Schema:
    """The JSON schema of the structured content of a tool: the fields of the result, or an error.

    Records inside of the result are only objects here: their fields would double the size of all
    definitions, which many clients send to the model.
    """
    envelope = dict(_ENVELOPE)
    if "format" in tool.arguments.model_fields:
        envelope["text"] = {
            "type": "string",
            "description": "All of it as text, if format is text.",
        }
    schema = compact(tool.result.model_json_schema(mode="serialization"))
    fields = {name: _without_records(part) for name, part in schema["properties"].items()}
    return {
        "type": "object",
        "properties": {**envelope, **fields},
        "required": ["success"],
        "additionalProperties": False,
    }


def _without_records(part: Mapping[str, Any]) -> Schema:
    """A part of a schema in which each record is only an object."""
    if all("properties" in alternative for alternative in part.get("anyOf", (part,))):
        return {"type": "object"}
    return map_parts(part, _without_records)


def _annotations(tool: Tool[Any]) -> mcp.types.ToolAnnotations:
    """The hints that differ from the protocol's defaults; those on writing have no meaning for a
    read-only tool.
    """
    if tool.read_only:
        return mcp.types.ToolAnnotations(read_only_hint=True, open_world_hint=False)
    return mcp.types.ToolAnnotations(
        destructive_hint=None if tool.destructive else False,
        idempotent_hint=True if tool.idempotent else None,
        open_world_hint=False,
    )
