"""Measures how long hostile calls hold the event loop, which all users of a server share.

Each attack is sent to every tool that it fits, from Python and over HTTP, while a probe takes the longest time in
which the loop served nothing else:

    python -m tests.adversarial.loop_lag [--only TEXT] [--limit MILLISECONDS]

It uses the Neo4j of NEO4J_URI and fails if one attack holds the loop longer than the limit. Figures are of a quiet
machine: the probe's wall clock also counts other processes.
"""

import argparse
import asyncio
import http.client
import json
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from kgagent import KnowledgeGraph, Settings
from kgagent.adapters.mcp.http import HttpOptions, http_server
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.gc_pauses import short_gc_pauses
from kgagent.tools import Toolset
from tests.adversarial.hostile_calls import Call, hostile_calls

USER = "loop-lag"
TICK = 0.001


@dataclass
class Probe:
    """The longest time between two turns of the loop.

    Attributes:
        wall: in seconds.
        processor: in seconds of this thread's processor time.
    """

    wall: float = 0.0
    processor: float = 0.0
    _task: asyncio.Task[None] | None = field(default=None, repr=False)

    async def _watch(self) -> None:
        while True:
            wall, processor = time.perf_counter(), time.thread_time()
            await asyncio.sleep(TICK)
            self.wall = max(self.wall, time.perf_counter() - wall - TICK)
            self.processor = max(self.processor, time.thread_time() - processor)

    @classmethod
    @asynccontextmanager
    async def watching(cls) -> AsyncIterator["Probe"]:
        """Watch the loop while the block runs."""
        probe = cls()
        task = asyncio.create_task(probe._watch())
        await asyncio.sleep(5 * TICK)
        probe.wall = probe.processor = 0.0
        try:
            yield probe
            await asyncio.sleep(2 * TICK)
        finally:
            task.cancel()


class HttpClient:
    """Sends calls over HTTP as a client of another process would: the answer is awaited in a thread."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=300)
        self._path = parts.path
        self._headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
        version = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "probe", "version": "1"}}
        response, _ = self._post({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": version})
        self._headers["mcp-session-id"] = str(response.getheader("mcp-session-id"))
        self._headers["mcp-protocol-version"] = "2025-06-18"
        self._post({"jsonrpc": "2.0", "method": "notifications/initialized"})

    @staticmethod
    def body(call: Call) -> bytes:
        """The request, made before the measurement."""
        request = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": call.tool}}
        start = json.dumps(request)[:-2]
        return f'{start}, "arguments": {call.json()}}}}}'.encode()

    def send(self, body: bytes) -> str:
        """The answer as sent."""
        try:
            self._connection.request("POST", self._path, body, self._headers)
        except ConnectionError:
            # The server refuses a body that is too large before it has read it.
            self._connection.close()
            return "closed"
        response = self._connection.getresponse()
        return f"{response.status} {response.read()[:300].decode(errors='replace')}"

    def _post(self, request: object) -> tuple[http.client.HTTPResponse, bytes]:
        self._connection.request("POST", self._path, json.dumps(request), self._headers)
        response = self._connection.getresponse()
        return response, response.read()


async def measure(limit: float, only: str, surfaces: str) -> int:
    """Run the attacks; the number of those that hold the loop too long."""
    settings = Settings(toolsets=("all",))
    async with (
        KnowledgeGraph.connect(settings=settings, embedder=HashingEmbedder(384)) as graph,
        http_server(graph, HttpOptions(user_id=USER)) as server,
    ):
        tools = graph.tools(user_id=USER)
        client = await asyncio.to_thread(HttpClient, server.url)
        with short_gc_pauses():
            held = [
                await _held(call, tools, client if surface == "http" else None)
                for call in hostile_calls(tools)
                if only in f"{call.tool} {call.name}"
                for surface in surfaces.split(",")
                if surface == "http" or call.arguments is not None
            ]
    return sum(seconds > limit for seconds in held)


async def _held(call: Call, tools: Toolset, client: HttpClient | None) -> float:
    """Seconds of processor time for which a call from Python, or over HTTP if there is a client, holds the loop."""
    body = HttpClient.body(call)
    async with Probe.watching() as probe:
        if client is None:
            answer = (await tools[call.tool].call_text(call.arguments)).text
        else:
            answer = await asyncio.to_thread(client.send, body)
    held = f"{probe.processor * 1000:8.1f} ms processor {probe.wall * 1000:8.1f} ms wall"
    title = f"{'http' if client else 'python':6} {call.tool} {call.name} ({len(body):,} bytes)"
    print(f"{held} {title}: {' '.join(answer.split())[:110]}", flush=True)
    return probe.processor


def main() -> None:
    """Parse the options and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="only calls whose tool and name contain this text")
    parser.add_argument("--limit", type=float, default=50.0, help="milliseconds")
    parser.add_argument("--surfaces", default="python,http", help="python, http, or both")
    options = parser.parse_args()
    slow = asyncio.run(measure(options.limit / 1000, options.only, options.surfaces))
    print(f"{slow} calls held the loop longer than {options.limit:g} ms")
    sys.exit(1 if slow else 0)


if __name__ == "__main__":
    main()
