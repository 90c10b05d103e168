"""The MCP server: tools, resources and a prompt, each request for one user."""

from collections.abc import Awaitable, Callable, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from mcp.server import Server
from mcp.server.caching import CacheHint
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
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    TextResourceContents,
)

from kgagent.adapters.mcp.calls import Context, MetaOf, call, result_of
from kgagent.adapters.mcp.confirmation import confirm as confirm_call
from kgagent.adapters.mcp.definitions import tool_definitions
from kgagent.adapters.mcp.prompt import PROMPT, guide, instructions
from kgagent.adapters.mcp.resources import MIME_TYPE, RESOURCES
from kgagent.errors import KgAgentError
from kgagent.knowledge_graph import KnowledgeGraph
from kgagent.tools import ToolText
from kgagent.tools.payload import dump, error_text, failure
from kgagent.tools.toolsets import why_missing

if TYPE_CHECKING:
    from kgagent.adapters.mcp.graph_app import GraphApp

UserOf = Callable[[Context], str]
"""Returns the user of a request; the parameters of the request must not decide it."""

GraphOf = Callable[[str], Awaitable[KnowledgeGraph]]
"""Returns the graph of a user, such as `GraphDirectory.graph_of`."""

PROGRESS_INTERVAL = 1.0
"""Seconds between two progress notifications of a call."""


LISTS_STAY = CacheHint(ttl_ms=3_600_000, scope="public")
"""Tools, resources and prompts are the same for all users, and change only when the server is started anew."""


def make_server(
    graph: KnowledgeGraph,
    user_of: UserOf,
    *,
    toolsets: str | Sequence[str] | None = None,
    progress_interval: float = PROGRESS_INTERVAL,
    structured: bool = False,
    app: bool = False,
    confirm: bool = True,
    graph_of: GraphOf | None = None,
) -> Server[Any]:
    """Create an MCP server of the agent's tools, for any transport of the SDK.

    Args:
        graph: an open graph.
        user_of: returns the user of a request.
        toolsets: names of the toolsets to offer; None offers those of the graph's settings, by default "core".
        progress_interval: seconds between two progress notifications of a call, if the client asks for them.
        structured: whether results also have structured content, and tools an output schema; for clients that are
            programs. Clients that hand all of it to a model would send it twice.
        app: whether to offer an MCP App that shows the graph of an answer.
        confirm: whether clients that can ask their user do so before a call merges or deletes something.
        graph_of: returns the graph of a user, of the same ontology as `graph`; None uses `graph` for all users.

    Raises:
        InputError: a toolset is unknown.
    """
    chosen = graph.settings.toolsets if toolsets is None else toolsets
    handlers = _Handlers(
        graph,
        user_of,
        chosen,
        progress_interval=progress_interval,
        structured=structured,
        app=app,
        confirm=confirm,
        graph_of=graph_of,
    )
    server: Server[Any] = Server(
        "kgagent",
        version=version("kgagent"),
        title="Knowledge graph",
        instructions=instructions(graph.ontology, handlers.schemas),
        get_tool_input_schema=handlers.schemas.get,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
        cache_hints=dict.fromkeys(("tools/list", "resources/list", "prompts/list", "server/discover"), LISTS_STAY),
    )
    if app:
        from kgagent.adapters.mcp.graph_app import EXTENSIONS

        server.extensions = EXTENSIONS
    return server


class _Handlers:
    """Request handlers; each determines the user of its request."""

    def __init__(
        self,
        graph: KnowledgeGraph,
        user_of: UserOf,
        toolsets: str | Sequence[str],
        *,
        progress_interval: float,
        structured: bool,
        app: bool,
        confirm: bool,
        graph_of: GraphOf | None,
    ) -> None:
        self._graph = graph
        self._graph_of = graph_of
        self._toolsets = toolsets
        self._user_of = user_of
        self._progress_interval = progress_interval
        self._structured = structured
        self._confirm = confirm
        self._app = _graph_app(graph) if app else None
        self._definitions = tool_definitions(graph.ontology, toolsets, structured=structured)
        if self._app is not None:
            self._definitions = list(map(self._app.definition, self._definitions))
        self.schemas = {tool.name: tool.input_schema for tool in self._definitions}

    async def list_tools(self, _context: Context, _params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=self._definitions)

    async def call_tool(self, context: Context, params: CallToolRequestParams) -> CallToolResult | InputRequiredResult:
        user_id = self._user_of(context)
        try:
            graph = await self._of_user(user_id)
        except KgAgentError as error:
            return result_of(ToolText.failed(failure(error_text(error))), structured=self._structured)
        tools = graph.tools(user_id=user_id, toolsets=self._toolsets)
        if params.name not in tools:
            raise MCPError(INVALID_PARAMS, why_missing(params.name, tools))
        tool = tools[params.name]
        unconfirmed = await confirm_call(tool, params, context) if self._confirm else None
        if isinstance(unconfirmed, ToolText):
            return result_of(unconfirmed, structured=self._structured)
        if unconfirmed is not None:
            return unconfirmed
        return await call(
            tool,
            params.arguments or {},
            context,
            progress_interval=self._progress_interval,
            structured=self._structured,
            meta_of=self._meta_of(context, params, graph, user_id),
        )

    def _meta_of(
        self, context: Context, params: CallToolRequestParams, graph: KnowledgeGraph, user_id: str
    ) -> MetaOf | None:
        if self._app is None:
            return None
        app = self._app
        return lambda payload: app.meta_of(params, payload, context, graph.retrieval, user_id)

    async def list_resources(self, _context: Context, _params: PaginatedRequestParams | None) -> ListResourcesResult:
        apps = [] if self._app is None else [self._app.resource]
        return ListResourcesResult(resources=[*(resource.definition() for resource in RESOURCES.values()), *apps])

    async def read_resource(self, context: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        if self._app is not None and str(params.uri) == self._app.resource.uri:
            return self._app.read()
        resource = RESOURCES.get(str(params.uri))
        if resource is None:
            raise MCPError(
                INVALID_PARAMS, f"Unknown resource: {str(params.uri)[:100]}. Available: {', '.join(RESOURCES)}"
            )
        try:
            user_id = self._user_of(context)
            content = await resource.read(await self._of_user(user_id), user_id)
        except KgAgentError as error:
            raise MCPError(INTERNAL_ERROR, str(error)) from error
        return ReadResourceResult(
            contents=[TextResourceContents(uri=resource.uri, mime_type=MIME_TYPE, text=dump(content))]
        )

    async def list_prompts(self, _context: Context, _params: PaginatedRequestParams | None) -> ListPromptsResult:
        return ListPromptsResult(prompts=[PROMPT])

    async def get_prompt(self, _context: Context, params: GetPromptRequestParams) -> GetPromptResult:
        if params.name != PROMPT.name:
            raise MCPError(INVALID_PARAMS, f"Unknown prompt: {params.name[:100]}. Available: {PROMPT.name}")
        given = params.arguments or {}
        known = [argument.name for argument in PROMPT.arguments or ()]
        for name in given:
            if name not in known:
                raise MCPError(INVALID_PARAMS, f"Unknown argument: {name[:100]}. Available: {', '.join(known)}")
        return guide(self._graph.ontology, self.schemas, given.get("task"))

    async def _of_user(self, user_id: str) -> KnowledgeGraph:
        return self._graph if self._graph_of is None else await self._graph_of(user_id)


def _graph_app(graph: KnowledgeGraph) -> "GraphApp":
    """The app; a server without it does not import what it needs."""
    from kgagent.adapters.mcp.graph_app import GraphApp

    return GraphApp(graph)
