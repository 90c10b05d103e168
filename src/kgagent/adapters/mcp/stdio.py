"""The MCP server over stdin and stdout; what cannot be read is answered too."""

import json
from typing import TYPE_CHECKING

import anyio
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError

from kgagent.adapters.mcp.server import ServerOptions, make_server
from kgagent.formatting import has_unpaired_surrogates
from kgagent.validation import check_user_id

if TYPE_CHECKING:
    from kgagent.adapters.mcp.opening import OpeningGraph
    from kgagent.knowledge_graph import KnowledgeGraph


async def serve_stdio(
    graph: "KnowledgeGraph | OpeningGraph", user_id: str, options: ServerOptions | None = None
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
    into_server, messages = anyio.create_memory_object_stream[SessionMessage | Exception]()

    async with stdio_server() as (incoming, outgoing), anyio.create_task_group() as group:

        async def forward() -> None:
            async with into_server, incoming:
                async for message in incoming:
                    if isinstance(message, SessionMessage):
                        await into_server.send(message)
                    elif (refusal := _refusal(message)) is not None:
                        await outgoing.send(SessionMessage(refusal))

        group.start_soon(forward)
        await server.run(messages, outgoing, server.create_initialization_options())


def _refusal(error: Exception) -> JSONRPCError | None:
    """The answer to a line that is no message; the SDK sends none. None for a blank line.

    It has the id of the request where that can be read and sent, because a client waits for it.
    """
    problem = error.errors()[0] if isinstance(error, ValidationError) else None
    given = problem["input"] if problem else None
    if isinstance(given, str):
        if not given.strip():
            return None
        try:
            # Unlike the parser of the SDK, this one reads a text with half of a surrogate pair.
            given = json.loads(given)
        except (ValueError, RecursionError):
            given = None
    request_id = given.get("id") if isinstance(given, dict) else None
    if isinstance(request_id, str) and has_unpaired_surrogates(request_id):
        request_id = None
    is_json = problem is not None and problem["type"] != "json_invalid"
    return JSONRPCError(
        jsonrpc="2.0",
        id=request_id if isinstance(request_id, str | int) else None,
        error=ErrorData(
            code=INVALID_REQUEST if is_json else PARSE_ERROR,
            message="Not a message of JSON-RPC 2.0"
            if is_json
            else f"Parse error: {problem['msg'] if problem else error}",
        ),
    )
