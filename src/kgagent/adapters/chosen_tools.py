"""The tools that a surface offers to a model."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from kgagent.errors import ConfigurationError
from kgagent.sync import SyncToolset
from kgagent.tools import BoundTool, Toolset
from kgagent.tools.toolsets import why_missing

ToolT = TypeVar("ToolT")


def choose_tools(
    tools: Mapping[str, ToolT], names: Sequence[str] | None = None
) -> dict[str, ToolT]:
    """Choose the tools to offer.

    Args:
        tools: tools of a user.
        names: names of the tools; None: the toolsets with which `tools` was made, else those of the
            graph's settings.

    Raises:
        ConfigurationError: a name is unknown.
    """
    if names is None:
        names = tools.offered if isinstance(tools, Toolset | SyncToolset) else list(tools)
    for name in names:
        if name not in tools:
            raise ConfigurationError(why_missing(name, tools))
    return {name: tools[name] for name in names}


def offered_together(tools: Mapping[str, BoundTool]) -> dict[str, BoundTool]:
    """The tools for a model that has no others: what they answer names no others."""
    return {name: tool.beside(tools) for name, tool in tools.items()}
