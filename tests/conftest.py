"""What tests share: one real Neo4j for the whole run, and a user of their own for each test."""

import os
import shutil
import signal
import subprocess
import uuid
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr

from kgagent import KnowledgeGraph, Settings
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.local import LocalNeo4j
from kgagent.tools import Toolset
from tests.support.browser import chromium_path

DIMENSIONS = 384
"""Length of the embeddings of all tests that share the default ontology's indexes; that of the local model."""


BROWSER_TESTS_LEFT_OUT = pytest.StashKey[int]()


def pytest_configure() -> None:
    """Hear Ctrl-C where the runner was started in the background, which ignores it: programs would inherit that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@dataclass(frozen=True)
class Server:
    """Where the tests' Neo4j is."""

    uri: str
    username: str
    password: str


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **amount: float) -> None:
        self.now += timedelta(**amount)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the tests in a browser out, and say so, where there is no Chromium and none is asked for."""
    if chromium_path() is not None or os.environ.get("KGAGENT_TEST_BROWSER"):
        return
    left_out = [item for item in items if item.get_closest_marker("browser")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
        config.stash[BROWSER_TESTS_LEFT_OUT] = len(left_out)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say at the end too what was left out."""
    if count := config.stash.get(BROWSER_TESTS_LEFT_OUT, 0):
        terminalreporter.write_line(
            f"{count} tests of the page in a browser were LEFT OUT: this machine has no Chromium. "
            "Install one (Debian: apt-get install chromium); with KGAGENT_TEST_BROWSER=1 they fail without one.",
            yellow=True,
        )


def _docker_answers() -> bool:
    docker = shutil.which("docker")
    if docker is None:
        return False
    return subprocess.run([docker, "info"], capture_output=True, timeout=20, check=False).returncode == 0


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The Neo4j of NEO4J_URI; else one in Docker where KGAGENT_TEST_DOCKER asks for it; else a local one."""
    if uri := os.environ.get("NEO4J_URI"):
        yield Server(uri, os.environ.get("NEO4J_USERNAME", "neo4j"), os.environ.get("NEO4J_PASSWORD", ""))
        return
    if os.environ.get("KGAGENT_TEST_DOCKER") and _docker_answers():
        from testcontainers.community.neo4j import Neo4jContainer

        with Neo4jContainer("neo4j:2026.08.1") as container:
            yield Server(container.get_connection_url(), container.username, container.password)
        return
    version = os.environ.get("KGAGENT_TEST_NEO4J", Settings.model_fields["local_neo4j_version"].default)
    local = LocalNeo4j(tmp_path_factory.mktemp("neo4j"), version=version)
    info = local.up()
    try:
        yield Server(info.uri, info.username, info.password)
    finally:
        local.down()


@pytest.fixture(scope="session")
def settings(server: Server) -> Settings:
    """Settings that lead to the tests' Neo4j."""
    return Settings(
        _env_file=None,
        neo4j_uri=server.uri,
        neo4j_username=server.username,
        neo4j_password=SecretStr(server.password),
        embedder="hashing",
    )


@pytest.fixture(scope="session")
def embedder() -> HashingEmbedder:
    """A deterministic embedder."""
    return HashingEmbedder(DIMENSIONS)


@pytest.fixture
def clock() -> Clock:
    """A clock that the test moves."""
    return Clock()


@pytest.fixture
async def graph(settings: Settings, embedder: HashingEmbedder, clock: Clock) -> AsyncIterator[KnowledgeGraph]:
    """A graph with the default ontology and the deterministic embedder."""
    async with KnowledgeGraph.connect(settings=settings, embedder=embedder, clock=clock) as opened:
        yield opened


@pytest.fixture
def user_id() -> str:
    """A user whose graph is empty."""
    return f"user-{uuid.uuid4()}"


@pytest.fixture
def tools(graph: KnowledgeGraph, user_id: str) -> Toolset:
    """The tools of that user."""
    return graph.tools(user_id=user_id)


@pytest.fixture
def repository_root() -> Path:
    """The folder of the checkout."""
    return Path(__file__).parent.parent
