"""The agent's tools, one file each."""

from kgagent.tools.base import BoundTool, Tool, ToolResult
from kgagent.tools.context import ToolContext
from kgagent.tools.payload import Payload
from kgagent.tools.registry import TOOLS, Toolset
from kgagent.tools.tool_text import ToolText

__all__ = ["TOOLS", "BoundTool", "Payload", "Tool", "ToolContext", "ToolResult", "ToolText", "Toolset"]
