"""The MCP server: tools, resources and a prompt, each request for one user."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from mcp.server import Server
from mcp.server.caching import CacheHint
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp.types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    GetPromptRequestParams,
    GetPromptResult,
    InputRequiredResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    TextResourceContents,
)

from kgagent.adapters.mcp.calls import Context, progress_reported, result_of
from kgagent.adapters.mcp.confirmation import confirm
from kgagent.adapters.mcp.definitions import tool_definitions
from kgagent.adapters.mcp.opening import OpeningGraph
from kgagent.adapters.mcp.prompt import PROMPT, guide, instructions
from kgagent.adapters.mcp.resources import MIME_TYPE, RESOURCES
from kgagent.errors import KgAgentError
from kgagent.knowledge_graph import KnowledgeGraph
from kgagent.tools import ToolText
from kgagent.tools.payload import dump, error_text, failure
from kgagent.tools.toolsets import why_missing
from kgagent.validation import check_user_id

if TYPE_CHECKING:
    from kgagent.adapters.mcp.graph_app import GraphApp

UserOf = Callable[[Context], str]
"""Returns the user of a request; the parameters of the request must not decide it."""

GraphOf = Callable[[str], Awaitable[KnowledgeGraph]]
"""Returns the graph of a user, such as `GraphDirectory.graph_of`."""

LISTS_STAY = CacheHint(ttl_ms=3_600_000, scope="public")
"""Tools, resources and prompts are the same for all users, and change only when the server is
started anew.
"""


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
        app: whether to offer an MCP App that shows the graph of an answer.
        confirm: whether clients that can ask their user do so before a call merges or deletes
            something.
        graph_of: returns the graph of a user, of the same ontology as the server's graph; None uses
            that one.
    """

    toolsets: str | Sequence[str] | None = None
    progress_interval: float = 1.0
    structured: bool = False
    app: bool = False
    confirm: bool = True
    graph_of: GraphOf | None = None


def make_server(
    graph: KnowledgeGraph | OpeningGraph, user_of: UserOf, options: ServerOptions | None = None
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
        instructions=instructions(graph.ontology, handlers.schemas),
        get_tool_input_schema=handlers.schemas.get,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_resource_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
        cache_hints=dict.fromkeys(
            ("tools/list", "resources/list", "prompts/list", "server/discover"), LISTS_STAY
        ),
    )
    if handlers.app is not None:
        server.extensions = handlers.app.extensions
    if isinstance(graph, KnowledgeGraph):
        graph.embedder.preload()
    return server


async def serve_stdio(
    graph: KnowledgeGraph | OpeningGraph, user_id: str, options: ServerOptions | None = None
) -> None:
    """Serve one client over stdin and stdout until stdin ends. Other output of the process goes to
    stderr meanwhile.

    Args:
        graph: an open graph, or one that opens while the server answers already.
        user_id: user whose graph is served; the client cannot choose it.
        options: what to offer.

    Raises:
        InputError: the user id is empty, or a toolset is unknown.
    """
    check_user_id(user_id)
    server = make_server(graph, lambda _: user_id, options)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


class _Handlers:
    """Request handlers; each determines the user of its request."""

    def __init__(
        self, graph: KnowledgeGraph | OpeningGraph, user_of: UserOf, options: ServerOptions
    ) -> None:
        self._graph = graph
        self._user_of = user_of
        self._options = options
        self._toolsets = graph.settings.toolsets if options.toolsets is None else options.toolsets
        self._definitions = tool_definitions(
            graph.ontology, self._toolsets, structured=options.structured
        )
        self.app = _graph_app(graph) if options.app else None
        if self.app is not None:
            self._definitions = list(map(self.app.definition, self._definitions))
        self.schemas = {tool.name: tool.input_schema for tool in self._definitions}

    async def list_tools(
        self, _context: Context, _params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return ListToolsResult(tools=self._definitions)

    async def call_tool(
        self, context: Context, params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        if params.name not in self.schemas:
            raise MCPError(INVALID_PARAMS, why_missing(params.name, self.schemas))
        user_id = self._user_of(context)
        async with progress_reported(
            params.name, context, self._options.progress_interval, self._state
        ):
            try:
                graph = await self._graph_of(user_id)
            except KgAgentError as error:
                return self._result(ToolText.failed(failure(error_text(error))))
            tool = graph.tools(user_id=user_id, toolsets=self._toolsets)[params.name]
            unconfirmed = await confirm(tool, params, context) if self._options.confirm else None
            if unconfirmed is not None:
                return (
                    self._result(unconfirmed) if isinstance(unconfirmed, ToolText) else unconfirmed
                )
            # If the client cancels its request, this task is cancelled, and with it the database
            # statement.
            answer = await tool.call_text(params.arguments)
        if self.app is None:
            return self._result(answer)
        meta = await self.app.meta_of(params, answer.payload, context, graph.retrieval, user_id)
        return result_of(answer, structured=self._options.structured, meta=meta)

    def _result(self, answer: ToolText) -> CallToolResult:
        return result_of(answer, structured=self._options.structured)

    def _state(self) -> str:
        """What a call waits for; empty if the graph is open."""
        return (
            self._graph.state
            if isinstance(self._graph, OpeningGraph) and not self._graph.is_open
            else ""
        )

    async def list_resources(
        self, _context: Context, _params: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        apps = [] if self.app is None else [self.app.resource]
        return ListResourcesResult(
            resources=[*(resource.definition() for resource in RESOURCES.values()), *apps]
        )

    async def list_resource_templates(
        self, _context: Context, _params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        return ListResourceTemplatesResult(resource_templates=[])

    async def read_resource(
        self, context: Context, params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        if self.app is not None and str(params.uri) == self.app.resource.uri:
            return self.app.read()
        resource = RESOURCES.get(str(params.uri))
        if resource is None:
            raise MCPError(
                INVALID_PARAMS,
                f"Unknown resource: {str(params.uri)[:100]}. Available: {', '.join(RESOURCES)}",
            )
        try:
            user_id = self._user_of(context)
            content = await resource.read(await self._graph_of(user_id), user_id)
        except KgAgentError as error:
            raise MCPError(INTERNAL_ERROR, str(error)) from error
        return ReadResourceResult(
            contents=[
                TextResourceContents(uri=resource.uri, mime_type=MIME_TYPE, text=dump(content))
            ]
        )

    async def list_prompts(
        self, _context: Context, _params: PaginatedRequestParams | None
    ) -> ListPromptsResult:
        return ListPromptsResult(prompts=[PROMPT])

    async def get_prompt(
        self, _context: Context, params: GetPromptRequestParams
    ) -> GetPromptResult:
        if params.name != PROMPT.name:
            raise MCPError(
                INVALID_PARAMS, f"Unknown prompt: {params.name[:100]}. Available: {PROMPT.name}"
            )
        given = params.arguments or {}
        known = [argument.name for argument in PROMPT.arguments or ()]
        for name in given:
            if name not in known:
                raise MCPError(
                    INVALID_PARAMS, f"Unknown argument: {name[:100]}. Available: {', '.join(known)}"
                )
        return guide(self._graph.ontology, self.schemas, given.get("task"))

    async def _graph_of(self, user_id: str) -> KnowledgeGraph:
        if self._options.graph_of is not None:
            return await self._options.graph_of(user_id)
        return self._graph if isinstance(self._graph, KnowledgeGraph) else await self._graph.graph()


def _graph_app(graph: KnowledgeGraph | OpeningGraph) -> "GraphApp":
    """The app; a server without it does not import what it needs."""
    from kgagent.adapters.mcp.graph_app import GraphApp

    return GraphApp(graph.ontology)
