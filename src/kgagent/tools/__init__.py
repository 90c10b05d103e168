"""The agent's tools, one file each."""

from kgagent.tools.base import BoundTool, Payload, ToolContext
from kgagent.tools.registry import TOOLS, Toolset

__all__ = ["TOOLS", "BoundTool", "Payload", "ToolContext", "Toolset"]
