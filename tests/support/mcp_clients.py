"""The SDK's own client, connected to the server over either transport."""

import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.session import ElicitationFnT
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult, TextContent

from kgagent.tools import Payload

Mode = Literal["legacy", "auto"]
MODES: tuple[Mode, ...] = ("legacy", "auto")
"""How a client agrees on the protocol: by a handshake, as all did until 2025, or by a version in
each request.
"""

PROGRAM = (
    *(sys.executable, "-c"),
    "import sys; sys.modules['pandas'] = None; from kgagent.cli.app import main; main()",
)
"""The command line. The driver imports pandas where it is installed, as for Ray here, which takes
half a second.
"""

LONGEST = 120.0
"""Seconds after which a client gives up; none of the tests comes near."""


def plain_client(**options: Any) -> httpx2.AsyncClient:
    """A client for servers on the loopback; to read the certificates of authorities takes longer
    than a request.
    """
    return httpx2.AsyncClient(verify=False, **options)


@asynccontextmanager
async def over_http(
    url: str, *, token: str | None = None, mode: Mode = "auto", asked: ElicitationFnT | None = None
) -> AsyncIterator[Client]:
    """Connect to a server that runs; `asked` answers what it asks the user."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with plain_client(headers=headers, timeout=LONGEST) as http:
        transport = streamable_http_client(url, http_client=http)
        async with Client(
            transport, mode=mode, read_timeout_seconds=LONGEST, elicitation_callback=asked
        ) as client:
            yield client


@asynccontextmanager
async def over_stdio(
    environment: Mapping[str, str],
    *arguments: str,
    folder: Path,
    mode: Mode = "auto",
    asked: ElicitationFnT | None = None,
) -> AsyncIterator[Client]:
    """Start `kgagent mcp` as a program of its own and connect to it; it ends with the block."""
    command, *rest = PROGRAM
    server = StdioServerParameters(
        command=command, args=[*rest, "mcp", *arguments], env=dict(environment), cwd=folder
    )
    async with Client(
        server, mode=mode, read_timeout_seconds=LONGEST, elicitation_callback=asked
    ) as client:
        yield client


def payload_of(result: CallToolResult) -> Payload:
    """What a tool of a structured server answered; an error is marked as one, and the text says it
    too.
    """
    text = text_of(result)
    payload = result.structured_content
    assert isinstance(payload, dict)
    assert result.is_error is not payload["success"]
    if result.is_error:
        assert text == f"Error: {payload['error']}"
    return payload


def text_of(result: CallToolResult) -> str:
    """What a model reads."""
    [content] = result.content
    assert isinstance(content, TextContent)
    return content.text


async def call(client: Client, tool: str, /, **arguments: Any) -> Payload:
    """Call a tool of a structured server and give what it answered."""
    return payload_of(await client.call_tool(tool, arguments))
