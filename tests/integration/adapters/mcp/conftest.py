"""A server for the test's user, over either transport; its results are structured, so that tests
can read them.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from kgagent import KnowledgeGraph, Settings
from kgagent.adapters.mcp import HttpOptions, http_server
from kgagent.embedding.hashing import HashingEmbedder
from tests.conftest import DIMENSIONS, Server
from tests.support.mcp_clients import Mode, over_http, over_stdio
from tests.support.served import settings_for

Connect = Callable[..., AbstractAsyncContextManager[Client]]
"""Connects to the server of the test's user: `async with connect(mode="legacy", toolsets="core") as
client`.
"""


def _environment(server: Server, user_id: str) -> dict[str, str]:
    return settings_for(server, user_id) | {"KGAGENT_QUERY_TIMEOUT": "3600"}


@pytest.fixture
def environment(server: Server, user_id: str) -> dict[str, str]:
    """Settings that lead to the tests' Neo4j; statements end when they are terminated, not by a
    timeout.
    """
    return _environment(server, user_id)


@pytest.fixture(scope="session")
async def opened(settings: Settings) -> AsyncIterator[KnowledgeGraph]:
    """A graph without a timeout for statements, which stays open for the whole run."""
    patient = settings.model_copy(update={"query_timeout": 3600.0})
    async with KnowledgeGraph.connect(
        settings=patient, embedder=HashingEmbedder(DIMENSIONS)
    ) as graph:
        yield graph


@asynccontextmanager
async def serving_http(
    graph: KnowledgeGraph, user_id: str, toolsets: str | None = "all", *, structured: bool = True
) -> AsyncIterator[Connect]:
    """A server for the test's user, over HTTP."""
    options = HttpOptions(
        user_id=user_id, toolsets=toolsets, progress_interval=0.05, structured=structured
    )
    async with http_server(graph, options) as running:
        yield partial(over_http, running.url)


@pytest.fixture
def connect(graph: KnowledgeGraph, user_id: str) -> Connect:
    """Serves over HTTP as long as a client is connected; a program for each test would take
    longer.
    """

    @asynccontextmanager
    async def connected(mode: Mode = "auto", **options: Any) -> AsyncIterator[Client]:
        async with serving_http(graph, user_id, **options) as connect, connect(mode=mode) as client:
            yield client

    return connected


@pytest.fixture(params=["stdio", "http-auto", "http-legacy"])
async def served(
    request: pytest.FixtureRequest,
    server: Server,
    graph: KnowledgeGraph,
    user_id: str,
    tmp_path: Path,
) -> AsyncIterator[Connect]:
    """Serves over HTTP for clients of each mode, or starts a program that ends when its client
    disconnects.
    """
    if request.param == "stdio":
        yield partial(
            over_stdio,
            _environment(server, user_id),
            "--toolsets",
            "all",
            "--structured",
            folder=tmp_path,
        )
    else:
        async with serving_http(graph, user_id) as connect:
            yield partial(connect, mode=request.param.removeprefix("http-"))
