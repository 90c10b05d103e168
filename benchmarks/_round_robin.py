"""Two `kgagent mcp` processes, and clients each of whose requests goes to the other one."""

import asyncio
import re
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

PROGRAM = (sys.executable, "-c", "from kgagent.cli.app import main; main()")
LONGEST = 120.0
"""Seconds for a process to start, and for one request."""

_SERVING = re.compile(r"Serving MCP at (http://\S+?);? ")

Mode = Literal["legacy", "auto"]
"""A client of the handshake, as until 2025, or of revision 2026-07-28."""


class RoundRobin(httpx2.AsyncBaseTransport):
    """Sends each request of a client to the next process, as a balancer without memory does.

    Attributes:
        served: number of requests by address.
    """

    def __init__(self, urls: Sequence[str], served: Counter[str]) -> None:
        self._transport = httpx2.AsyncHTTPTransport()
        self._urls = [httpx2.URL(url) for url in urls]
        self._next = 0
        self.served = served

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request."""
        url = self._urls[self._next % len(self._urls)]
        self._next += 1
        self.served[str(url)] += 1
        request.url = request.url.copy_with(host=url.host, port=url.port)
        request.headers["Host"] = url.netloc.decode()
        return await self._transport.handle_async_request(request)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._transport.aclose()


@asynccontextmanager
async def connected(
    urls: Sequence[str], token: str, mode: Mode, served: Counter[str]
) -> AsyncIterator[Client]:
    """A client of all processes."""
    async with httpx2.AsyncClient(
        transport=RoundRobin(urls, served),
        headers={"Authorization": f"Bearer {token}"},
        timeout=LONGEST,
    ) as http:
        transport = streamable_http_client(urls[0], http_client=http)
        async with Client(transport, mode=mode, read_timeout_seconds=LONGEST) as client:
            yield client


@asynccontextmanager
async def process(environment: Mapping[str, str], folder: Path, tokens: Path) -> AsyncIterator[str]:
    """Run `kgagent mcp --http --stateless` on a free port, and give its URL."""
    running = await asyncio.create_subprocess_exec(
        *(*PROGRAM, "mcp", "--http", "--stateless", "--port", "0", "--tokens", str(tokens)),
        env=dict(environment),
        cwd=folder,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    if (stderr := running.stderr) is None:
        raise RuntimeError
    try:
        said = b""
        while (found := _SERVING.search(said.decode())) is None:
            line = await asyncio.wait_for(stderr.readline(), LONGEST)
            if not line:
                raise SystemExit(f"kgagent mcp ended: {said.decode()}")
            said += line
        draining = asyncio.create_task(stderr.read())
        yield found[1]
    finally:
        if running.returncode is None:
            running.send_signal(signal.SIGINT)
        await asyncio.wait_for(running.wait(), LONGEST)
    await draining
