"""All tools, in the order in which a model sees them; every surface reads them from here."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from kgagent.tools.base import BoundTool, Tool
from kgagent.tools.context import ToolContext
from kgagent.tools.deletion_tools import DeleteNode, DeleteRelationship
from kgagent.tools.describe_graph import DescribeGraph
from kgagent.tools.explore import Explore
from kgagent.tools.find_duplicates import FindDuplicates
from kgagent.tools.find_paths import FindPaths
from kgagent.tools.get_relationship import GetRelationship
from kgagent.tools.hybrid_search import HybridSearch
from kgagent.tools.merge_nodes import MergeNodes
from kgagent.tools.query_patterns import QueryPatterns
from kgagent.tools.read_source import ReadSource
from kgagent.tools.remember import Remember
from kgagent.tools.restore import Restore
from kgagent.tools.toolsets import tools_of, why_missing
from kgagent.tools.traverse import Traverse
from kgagent.tools.write_tools import (
    AddNoteToRelationship,
    CreateNode,
    CreateRelationship,
    DeleteNote,
    UpdateNode,
    UpdateNote,
    UpdateRelationship,
)
from kgagent.validation import check_user_id

TOOLS: tuple[Tool[Any], ...] = (
    Remember(),
    Explore(),
    DescribeGraph(),
    HybridSearch(),
    QueryPatterns(),
    GetRelationship(),
    Traverse(),
    FindPaths(),
    FindDuplicates(),
    ReadSource(),
    CreateNode(),
    UpdateNode(),
    CreateRelationship(),
    UpdateRelationship(),
    AddNoteToRelationship(),
    UpdateNote(),
    DeleteNote(),
    DeleteRelationship(),
    DeleteNode(),
    MergeNodes(),
    Restore(),
)


class Toolset(Mapping[str, BoundTool]):
    """The agent's tools, bound to one user: `await tools.explore(queries=[{"query": "mentors"}])`.

    Each tool is an item (`tools["explore"]`) and an attribute.
    """

    def __init__(
        self,
        context: ToolContext,
        toolsets: str | Iterable[str] | None = None,
        *,
        offered: str | Iterable[str] = "core",
        reading: ToolContext | None = None,
    ) -> None:
        """Bind the tools.

        Args:
            context: what they work on.
            toolsets: names of toolsets, to which the tools are restricted; None: all tools.
            offered: the toolsets that a surface offers to a model if the tools are not restricted.
            reading: what tools that read work on, if they read other owners too.

        Raises:
            InputError: the user id is empty, or a toolset is unknown.
        """
        check_user_id(context.user_id)
        included = tools_of("all" if toolsets is None else toolsets)
        tools = [tool for tool in TOOLS if tool.name in included]
        others = {tool.name: tool.arguments for tool in tools}
        own = replace(context, offered=included)
        shared = own if reading is None else replace(reading, offered=included)
        self._tools = {
            tool.name: BoundTool(
                tool, shared if tool.read_only and tool.reads_shared else own, others
            )
            for tool in tools
        }
        self._offered = included if toolsets is not None else tools_of(offered)
        self._user_id = context.user_id

    @property
    def user_id(self) -> str:
        """The user whose graph the tools read and write."""
        return self._user_id

    @property
    def offered(self) -> list[str]:
        """Names of the tools that a surface offers to a model by default."""
        return [name for name in self._tools if name in self._offered]

    def __getitem__(self, name: str) -> BoundTool:
        """The tool with that name."""
        if name not in self._tools:
            raise KeyError(why_missing(name, self._tools))
        return self._tools[name]

    def __getattr__(self, name: str) -> BoundTool:
        """The tool with that name."""
        if name.startswith("_") or name not in self._tools:
            raise AttributeError(why_missing(name, self._tools))
        return self._tools[name]

    def __iter__(self) -> Iterator[str]:
        """The names of the tools."""
        return iter(self._tools)

    def __len__(self) -> int:
        """The number of tools."""
        return len(self._tools)
