"""The agent's tools."""

from kgagent.tools.base import BoundTool, Tool, ToolResult
from kgagent.tools.context import ToolContext
from kgagent.tools.payload import Payload, ToolText
from kgagent.tools.registry import TOOLS, Toolset

__all__ = [
    "TOOLS",
    "BoundTool",
    "Payload",
    "Tool",
    "ToolContext",
    "ToolResult",
    "ToolText",
    "Toolset",
]
