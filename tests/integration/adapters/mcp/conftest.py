"""A server for the test's user, over either transport; its results are structured, so that tests can read them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from uuid import uuid4

import pytest
from mcp import Client

from kgagent import KnowledgeGraph, Settings
from kgagent.adapters.mcp import HttpOptions, http_server
from kgagent.embedding.hashing import HashingEmbedder
from tests.conftest import DIMENSIONS, Server
from tests.support.mcp_clients import Mode, over_http, over_stdio
from tests.support.served import settings_for

Connect = Callable[..., AbstractAsyncContextManager[Client]]
"""Connects to the server of the test's user: `async with connect(mode="legacy", toolsets="core") as client`."""

Serving = Callable[..., AbstractAsyncContextManager[Connect]]
"""Serves toolsets, by default all, while its block runs, whether or not clients are connected."""


def _environment(server: Server, user_id: str) -> dict[str, str]:
    return settings_for(server, user_id) | {"KGAGENT_QUERY_TIMEOUT": "3600"}


@pytest.fixture
def environment(server: Server, user_id: str) -> dict[str, str]:
    """Settings that lead to the tests' Neo4j; statements end when they are terminated, not by a timeout."""
    return _environment(server, user_id)


@pytest.fixture(scope="session")
async def opened(settings: Settings) -> AsyncIterator[KnowledgeGraph]:
    """A graph without a timeout for statements, which stays open for the whole run."""
    patient = settings.model_copy(update={"query_timeout": 3600.0})
    async with KnowledgeGraph.connect(settings=patient, embedder=HashingEmbedder(DIMENSIONS)) as graph:
        yield graph


@pytest.fixture
def http(graph: KnowledgeGraph, user_id: str) -> Serving:
    """A server for the test's user, over HTTP."""

    @asynccontextmanager
    async def serving(toolsets: str | None = "all", *, structured: bool = True) -> AsyncIterator[Connect]:
        options = HttpOptions(user_id=user_id, toolsets=toolsets, progress_interval=0.05, structured=structured)
        async with http_server(graph, options) as running:

            def connect(mode: Mode = "auto") -> AbstractAsyncContextManager[Client]:
                return over_http(running.url, mode=mode)

            yield connect

    return serving


@pytest.fixture
def connect(http: Serving) -> Connect:
    """Serves over HTTP as long as a client is connected; a program for each test would take longer."""
    return _connecting(http)


@pytest.fixture(scope="module")
def program_user() -> str:
    """The user of the programs that the tests of a module share."""
    return f"user-{uuid4()}"


class Programs:
    """Programs `kgagent mcp` of one user, each with its client; one for each mode, as a start takes seconds of CPU."""

    def __init__(self, start: Callable[[Mode], AbstractAsyncContextManager[Client]]) -> None:
        self._start = start
        self._clients: dict[Mode, Client] = {}
        self._running: dict[Mode, asyncio.Task[None]] = {}
        self._ended: dict[Mode, asyncio.Event] = {}

    async def client(self, mode: Mode) -> Client:
        """The client of a program, which is started unless it runs."""
        if mode not in self._running:
            started, self._ended[mode] = asyncio.Event(), asyncio.Event()
            # In a task of its own: a client is left by the task that entered it, and each test is another one.
            self._running[mode] = asyncio.create_task(self._run(mode, started, self._ended[mode]))
            self._running[mode].add_done_callback(lambda _: started.set())
            await started.wait()
        if self._running[mode].done():
            self._running[mode].result()
        return self._clients[mode]

    async def end(self, mode: Mode) -> None:
        """Disconnect the client, which ends the program."""
        self._ended[mode].set()
        await self._running.pop(mode)

    async def end_all(self) -> None:
        """Disconnect all clients."""
        for mode in list(self._running):
            await self.end(mode)

    async def _run(self, mode: Mode, started: asyncio.Event, ended: asyncio.Event) -> None:
        async with self._start(mode) as self._clients[mode]:
            started.set()
            await ended.wait()


@pytest.fixture(scope="module")
async def programs(
    server: Server, program_user: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Programs]:
    """The programs that the tests of a module share."""
    folder = tmp_path_factory.mktemp("programs")

    def start(mode: Mode) -> AbstractAsyncContextManager[Client]:
        chosen = ("--toolsets", "all", "--structured")
        return over_stdio(_environment(server, program_user), *chosen, folder=folder, mode=mode)

    running = Programs(start)
    yield running
    await running.end_all()


@pytest.fixture(params=["stdio", "http"])
def connect_over_either(request: pytest.FixtureRequest) -> Connect:
    """Connects over each transport in turn: to the program that the module shares, or to a server over HTTP."""
    if request.param == "http":
        return _connecting(request.getfixturevalue("http"))
    programs: Programs = request.getfixturevalue("programs")

    @asynccontextmanager
    async def connected(mode: Mode = "auto") -> AsyncIterator[Client]:
        yield await programs.client(mode)

    return connected


@pytest.fixture(params=["stdio", "http"])
def serving(request: pytest.FixtureRequest) -> Serving:
    """Serves over each transport in turn; what the module shares ends when its client disconnects."""
    if request.param == "http":
        chosen: Serving = request.getfixturevalue("http")
        return chosen
    programs: Programs = request.getfixturevalue("programs")

    @asynccontextmanager
    async def connected(mode: Mode = "auto") -> AsyncIterator[Client]:
        try:
            yield await programs.client(mode)
        finally:
            await programs.end(mode)

    @asynccontextmanager
    async def served() -> AsyncIterator[Connect]:
        yield connected

    return served


def _connecting(serving: Serving) -> Connect:
    @asynccontextmanager
    async def connected(
        mode: Mode = "auto", toolsets: str | None = "all", *, structured: bool = True
    ) -> AsyncIterator[Client]:
        async with serving(toolsets, structured=structured) as connect, connect(mode=mode) as client:
            yield client

    return connected
