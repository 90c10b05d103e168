"""A server for the test's user, over either transport; its results are structured, so that tests can read them."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from mcp import Client

from kgagent import KnowledgeGraph, Settings
from kgagent.adapters.mcp import HttpOptions, http_server
from kgagent.embedding.hashing import HashingEmbedder
from tests.conftest import Clock, Server
from tests.support.mcp_clients import Mode, over_http, over_stdio
from tests.support.served import settings_for

Connect = Callable[..., AbstractAsyncContextManager[Client]]
"""Connects to the server of the test's user: `async with connect(mode="legacy", toolsets="core") as client`."""

Serving = Callable[..., AbstractAsyncContextManager[Connect]]
"""Serves toolsets, by default all, while its block runs, whether or not clients are connected."""


@pytest.fixture
def environment(server: Server, user_id: str) -> dict[str, str]:
    """Settings that lead to the tests' Neo4j; statements end when they are terminated, not by a timeout."""
    return settings_for(server, user_id) | {"KGAGENT_QUERY_TIMEOUT": "3600"}


@pytest.fixture
async def graph(settings: Settings, embedder: HashingEmbedder, clock: Clock) -> AsyncIterator[KnowledgeGraph]:
    """A graph without a timeout for statements."""
    patient = settings.model_copy(update={"query_timeout": 3600.0})
    async with KnowledgeGraph.connect(settings=patient, embedder=embedder, clock=clock) as opened:
        yield opened


@pytest.fixture
def stdio(environment: dict[str, str], tmp_path: Path) -> Serving:
    """Clients start `kgagent mcp` for the test's user, each its own."""

    @asynccontextmanager
    async def serving(toolsets: str | None = "all", *, structured: bool = True) -> AsyncIterator[Connect]:
        chosen = [*(("--toolsets", toolsets) if toolsets else ()), *(["--structured"] if structured else [])]

        def connect(mode: Mode = "auto") -> AbstractAsyncContextManager[Client]:
            return over_stdio(environment, *chosen, folder=tmp_path, mode=mode)

        yield connect

    return serving


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


@pytest.fixture(params=["stdio", "http"])
def serving(request: pytest.FixtureRequest) -> Serving:
    """Serves over each transport in turn."""
    chosen: Serving = request.getfixturevalue(request.param)
    return chosen


@pytest.fixture
def connect(http: Serving) -> Connect:
    """Serves over HTTP as long as a client is connected; a program for each test would take longer."""
    return _connecting(http)


@pytest.fixture
def connect_over_either(serving: Serving) -> Connect:
    """Serves over each transport in turn, as long as a client is connected."""
    return _connecting(serving)


def _connecting(serving: Serving) -> Connect:
    @asynccontextmanager
    async def connected(
        mode: Mode = "auto", toolsets: str | None = "all", *, structured: bool = True
    ) -> AsyncIterator[Client]:
        async with serving(toolsets, structured=structured) as connect, connect(mode=mode) as client:
            yield client

    return connected
