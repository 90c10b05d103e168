"""Sizes of the tool definitions that a model is sent."""

import json
from collections.abc import Iterable

from mcp.types import Tool

from kgagent.adapters.mcp.definitions import tool_definitions
from kgagent.ontology import default_ontology
from kgagent.tools.toolsets import ALL, TOOLSETS


def characters(definitions: Iterable[Tool]) -> dict[str, int]:
    """Characters of the JSON of each definition, as an MCP client receives it in `tools/list`."""
    return {
        one.name: len(
            json.dumps(
                one.model_dump(mode="json", by_alias=True, exclude_none=True), ensure_ascii=False
            )
        )
        for one in definitions
    }


def toolset_sizes() -> dict[str, tuple[int, int]]:
    """The number of tools of each toolset, and of all, and the characters of their definitions."""
    sizes = {
        name: characters(tool_definitions(default_ontology(), name)) for name in (*TOOLSETS, ALL)
    }
    return {name: (len(tools), sum(tools.values())) for name, tools in sizes.items()}
