"""The MCP server over stdin and stdout, for one client."""

from collections.abc import Sequence

from mcp.server.stdio import stdio_server

from kgagent.adapters.mcp.server import make_server
from kgagent.knowledge_graph import KnowledgeGraph
from kgagent.validation import check_user_id


async def serve_stdio(
    graph: KnowledgeGraph,
    user_id: str,
    *,
    toolsets: str | Sequence[str] | None = None,
    structured: bool = False,
    app: bool = False,
    confirm: bool = True,
) -> None:
    """Serve until stdin ends. Other output of the process goes to stderr meanwhile.

    Args:
        graph: an open graph.
        user_id: user whose graph is served; the client cannot choose it.
        toolsets: names of the toolsets to offer; None offers those of the graph's settings, by default "core".
        structured: see `make_server`.
        app: see `make_server`.
        confirm: see `make_server`.

    Raises:
        InputError: the user id is empty, or a toolset is unknown.
    """
    check_user_id(user_id)
    server = make_server(graph, lambda _: user_id, toolsets=toolsets, structured=structured, app=app, confirm=confirm)
    async with stdio_server() as (incoming, outgoing):
        graph.embedder.preload()
        await server.run(incoming, outgoing, server.create_initialization_options())
