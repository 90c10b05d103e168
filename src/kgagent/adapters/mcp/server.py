"""The MCP server: the tools, each call for one user."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from mcp.server import Server
from mcp.server.caching import CacheHint
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    InputRequiredResult,
    ListToolsResult,
    PaginatedRequestParams,
    Tool,
)

from kgagent.adapters.mcp.calls import Context, progress_reported, result_of
from kgagent.adapters.mcp.confirmation import confirm
from kgagent.adapters.mcp.instructions import instructions
from kgagent.adapters.mcp.opening import OpeningGraph
from kgagent.errors import KgAgentError
from kgagent.tools.payload import ToolText, error_text, failure
from kgagent.tools.toolsets import tools_of, why_missing
from kgagent.validation import check_user_id

if TYPE_CHECKING:
    from kgagent.knowledge_graph import KnowledgeGraph

UserOf = Callable[[Context], str]
"""Returns the user of a request; the parameters of the request must not decide it."""

GraphOf = Callable[[str], Awaitable["KnowledgeGraph"]]
"""Returns the graph of a user, such as `GraphDirectory.graph_of`."""

TOOLS_STAY = CacheHint(ttl_ms=3_600_000, scope="public")
"""The tools are the same for all users, and change only when the server is started anew."""


@dataclass(frozen=True, kw_only=True)
class ServerOptions:
    """What a server offers.

    Attributes:
        toolsets: names of the toolsets to offer; None offers those of the graph's settings, by
            default "core".
        progress_interval: seconds between two progress notifications of a call, if the client asks
            for them.
        structured: whether results also have structured content, and tools an output schema; for
            clients that are programs. Clients that hand all of it to a model would send it twice.
        confirm: whether clients that can ask their user do so before a call merges or deletes
            something.
        readable: other owners whose records each user can read too.
        graph_of: returns the graph of a user, of the same ontology as the server's graph; None uses
            that one.
    """

    toolsets: str | Sequence[str] | None = None
    progress_interval: float = 1.0
    structured: bool = False
    confirm: bool = True
    readable: Sequence[str] = ()
    graph_of: GraphOf | None = None

    def __post_init__(self) -> None:
        """Check the owners, which no later call could."""
        for owner in self.readable:
            check_user_id(owner)


def make_server(
    graph: "KnowledgeGraph | OpeningGraph", user_of: UserOf, options: ServerOptions | None = None
) -> Server[Any]:
    """Create an MCP server of the agent's tools, for any transport of the SDK.

    Args:
        graph: an open graph, or one that opens while the server answers already.
        user_of: returns the user of a request.
        options: what to offer.

    Raises:
        InputError: a toolset is unknown.
    """
    handlers = _Handlers(graph, user_of, options or ServerOptions())
    server: Server[Any] = Server(
        "kgagent",
        version=version("kgagent"),
        title="Knowledge graph",
        instructions=instructions(graph.ontology, handlers.names),
        get_tool_input_schema=handlers.schema_of,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        cache_hints=dict.fromkeys(("tools/list", "server/discover"), TOOLS_STAY),
    )
    if not isinstance(graph, OpeningGraph):
        graph.embedder.preload()
    return server


class _Handlers:
    """Request handlers; each determines the user of its request.

    What they need of the graph is imported by the first request that needs it, so that a client
    soon gets the answer to its handshake.
    """

    def __init__(
        self, graph: "KnowledgeGraph | OpeningGraph", user_of: UserOf, options: ServerOptions
    ) -> None:
        self._graph = graph
        self._user_of = user_of
        self._options = options
        self._toolsets = graph.settings.toolsets if options.toolsets is None else options.toolsets
        self.names = tools_of(self._toolsets)

    @cached_property
    def _definitions(self) -> list[Tool]:
        from kgagent.adapters.mcp.definitions import tool_definitions

        return tool_definitions(
            self._graph.ontology, self._toolsets, structured=self._options.structured
        )

    def schema_of(self, name: str) -> dict[str, Any] | None:
        """The schema of a tool's arguments; None if the tool is not offered."""
        return next((tool.input_schema for tool in self._definitions if tool.name == name), None)

    async def list_tools(
        self, _context: Context, _params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        if isinstance(self._graph, OpeningGraph):
            self._graph.begin()
        return ListToolsResult(tools=self._definitions)

    async def call_tool(
        self, context: Context, params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        if params.name not in self.names:
            offered = [tool.name for tool in self._definitions]
            raise MCPError(INVALID_PARAMS, why_missing(params.name, offered))
        user_id = self._user_of(context)
        async with progress_reported(
            params.name, context, self._options.progress_interval, self._state
        ):
            answer = await self._answer(user_id, params, context)
        if isinstance(answer, InputRequiredResult):
            return answer
        return result_of(answer, structured=self._options.structured)

    async def _answer(
        self, user_id: str, params: CallToolRequestParams, context: Context
    ) -> ToolText | InputRequiredResult:
        try:
            graph = await self._graph_of(user_id)
        except KgAgentError as error:
            return ToolText.failed(failure(error_text(error)))
        readable = self._options.readable
        tools = graph.tools(user_id=user_id, toolsets=self._toolsets, readable=readable)
        tool = tools[params.name]
        unconfirmed = await confirm(tool, params, context) if self._options.confirm else None
        # If the client cancels its request, this task is cancelled, and with it the statement.
        return unconfirmed or await tool.call_text(params.arguments)

    def _state(self) -> str:
        """What a call waits for; empty if the graph is open."""
        return self._graph.state if isinstance(self._graph, OpeningGraph) else ""

    async def _graph_of(self, user_id: str) -> "KnowledgeGraph":
        if self._options.graph_of is not None:
            return await self._options.graph_of(user_id)
        return await self._graph.graph() if isinstance(self._graph, OpeningGraph) else self._graph
