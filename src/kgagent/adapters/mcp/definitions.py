"""The tools of the registry as MCP describes tools."""

from collections.abc import Iterable
from typing import Any

from mcp.types import Tool, ToolAnnotations

from kgagent.adapters.json_schema import without_titles
from kgagent.tools import BoundTool

ANSWER_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "success": {"type": "boolean", "description": "Whether the tool did what was asked."},
        "message": {"type": "string", "description": "What was done or found, in a line."},
        "error": {"type": "string", "description": "Where it was not: what was wrong, and what to do."},
    },
    "required": ["success"],
    "additionalProperties": True,
}
"""What every tool's answer has; the rest differs from tool to tool."""


def input_schema(tool: BoundTool) -> dict[str, Any]:
    """JSON Schema of a tool's arguments, with the examples that its argument model has."""
    return without_titles(tool.arguments.model_json_schema())


def definitions(tools: Iterable[BoundTool]) -> list[Tool]:
    """Describe tools to a client, in their order."""
    return [
        Tool(
            name=tool.name,
            title=tool.name.replace("_", " ").capitalize(),
            description=tool.description,
            input_schema=input_schema(tool),
            output_schema=ANSWER_SCHEMA,
            annotations=_annotations(tool),
        )
        for tool in tools
    ]


def _annotations(tool: BoundTool) -> ToolAnnotations:
    return ToolAnnotations(
        read_only_hint=tool.read_only,
        destructive_hint=tool.destructive,
        idempotent_hint=tool.idempotent,
        open_world_hint=False,
    )
