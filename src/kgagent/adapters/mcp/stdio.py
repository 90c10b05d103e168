"""Serving one client over stdin and stdout."""

from mcp.server.stdio import stdio_server

from kgagent.adapters.mcp.server import make_server
from kgagent.errors import InputError
from kgagent.knowledge_graph import KnowledgeGraph


async def serve_stdio(graph: KnowledgeGraph, user_id: str) -> None:
    """Serve until stdin ends; meanwhile whatever else is printed goes to stderr.

    Args:
        graph: an open graph.
        user_id: whose graph; the client cannot choose it.

    Raises:
        InputError: the user id is empty.
    """
    if not user_id:
        raise InputError("user_id must not be empty: the tools are one user's")
    server = make_server(graph, lambda _: user_id)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())
