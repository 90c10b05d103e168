"""A server answers while its graph is still being opened; calls wait for the graph."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from mcp import Client

from kgagent import KnowledgeGraph, Settings
from kgagent.adapters.mcp import HttpOptions, OpeningGraph, http_server
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.errors import UnreachableError
from kgagent.ontology import default_ontology
from kgagent.progress import Progress
from tests.conftest import DIMENSIONS
from tests.support.mcp_clients import MODES, Mode, over_http, text_of

ASKED = {"text_matches": ["Ada"]}


class Doors:
    """Graphs that open when the test lets them, after as many failures as it wants."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.may_open = asyncio.Event()
        self.failures = 0
        self.failure: Exception = UnreachableError("Neo4j cannot be used")
        self.attempts = 0

    async def connect(self, progress: Progress) -> KnowledgeGraph:
        """Download half of a server, wait, and open the graph."""
        self.attempts += 1
        with progress.task("Downloading Neo4j", total=10) as advance:
            advance(5)
            await self.may_open.wait()
        if self.attempts <= self.failures:
            raise self.failure
        return await KnowledgeGraph.connect(
            settings=self.settings, embedder=HashingEmbedder(DIMENSIONS)
        )


@pytest.fixture
def doors(settings: Settings) -> Iterator[Doors]:
    made = Doors(settings)
    yield made
    made.may_open.set()


@asynccontextmanager
async def served(doors: Doors, user_id: str, mode: Mode = "auto") -> AsyncIterator[Client]:
    """A client of a server whose graph is behind the doors."""
    options = HttpOptions(user_id=user_id, progress_interval=0.05)
    async with (
        OpeningGraph(doors.connect, default_ontology(), doors.settings) as graph,
        http_server(graph, options) as running,
        over_http(running.url, mode=mode) as client,
    ):
        try:
            yield client
        finally:
            doors.may_open.set()


@pytest.mark.parametrize("mode", MODES)
async def test_a_client_lists_and_a_call_waits_and_reports_what_for(
    doors: Doors, user_id: str, mode: Mode
) -> None:
    heard: asyncio.Queue[str | None] = asyncio.Queue()

    async def hear(progress: float, total: float | None, message: str | None) -> None:  # noqa: ARG001
        await heard.put(message)

    async with served(doors, user_id, mode) as client:
        assert (await client.list_tools()).tools
        calling = asyncio.create_task(client.call_tool("explore", ASKED, progress_callback=hear))
        assert await heard.get() == "Downloading Neo4j, 50%"
        doors.may_open.set()
        assert (await calling).is_error is False
    assert doors.attempts == 1


async def test_a_call_that_waits_too_long_says_what_is_going_on(
    doors: Doors, user_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kgagent.adapters.mcp.opening.PATIENCE", 0.0)
    async with served(doors, user_id) as client:
        answer = await client.call_tool("explore", ASKED)
    assert answer.is_error
    assert text_of(answer) == (
        "Error: The graph is still being opened (Downloading Neo4j, 50%); try again in half a "
        "minute"
    )


async def test_a_call_after_a_failure_opens_the_graph_again(
    doors: Doors, user_id: str, caplog: pytest.LogCaptureFixture
) -> None:
    doors.failures = 1
    async with served(doors, user_id) as client:
        calling = asyncio.create_task(client.call_tool("explore", ASKED))
        doors.may_open.set()
        first = await calling
        second = first if doors.attempts > 1 else await client.call_tool("explore", ASKED)
    assert "Neo4j cannot be used" in caplog.text
    assert (second.is_error, doors.attempts) == (False, 2)


@pytest.mark.parametrize("failure", [TimeoutError("Neo4j is slow"), RuntimeError("A mistake")])
async def test_a_graph_that_fails_to_open_in_an_unexpected_way_is_the_error_of_a_call(
    doors: Doors, user_id: str, failure: Exception
) -> None:
    doors.failure, doors.failures = failure, 2
    doors.may_open.set()
    async with served(doors, user_id) as client:
        answer = await client.call_tool("explore", ASKED)
        assert answer.is_error
        assert (
            text_of(answer)
            == "Error: The graph cannot be opened. The log of the server has the details"
        )
