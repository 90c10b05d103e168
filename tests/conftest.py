"""What all tests share: one real Neo4j for the whole run, and a separate user for each test."""

import copy
import gc
import os
import signal
import subprocess
import tempfile
import uuid
from collections.abc import AsyncIterator, Generator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest
from pydantic import SecretStr

from kgagent import KnowledgeGraph, Settings
from kgagent.embedding.base import Embedder
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.knowledge_graph import services_of
from kgagent.tools import Toolset
from tests.support import planner_statistics
from tests.support.browser import chromium_path
from tests.support.event_loops import choose_event_loop
from tests.support.ordering import in_parts
from tests.support.run_folders import new_run_folder, remove_ended_runs
from tests.support.shared_server import (
    MEMORY,
    Server,
    folder_in_memory,
    server_of_environment,
    shared_local_server,
    start_container,
    start_in_own_process,
)
from tests.support.turns import locked, turn

if TYPE_CHECKING:
    from xdist.remote import Producer
    from xdist.workermanage import WorkerController

    from tests.support.scheduling import LastTestsScheduling

__all__ = ["DIMENSIONS", "Clock", "Server"]

hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")

DIMENSIONS = 384
"""Length of the embeddings in all tests that share the default ontology's indexes, as in the local
model.
"""

WORKERS = 3
"""Worker processes of a run of many tests: more than two cores, as tests often wait for the
database.
"""

FIRST_WORKER = "gw0"
UNIT_TESTS = Path(__file__).parent / "unit"

LAST_TESTS = "last-tests"
"""File with the number of tests that change the schema; each worker collects the same, and none if
a path is wrong.
"""

BROWSER_TESTS_OMITTED = pytest.StashKey[int]()
RUN_FOLDER = pytest.StashKey[Path]()
CONTAINER = pytest.StashKey[Server | None]()
STARTING_SERVER = pytest.StashKey[subprocess.Popen[bytes]]()
CLEAN_UP = pytest.StashKey[ExitStack]()


def pytest_configure(config: pytest.Config) -> None:
    """Give all processes of the run one folder, and handle Ctrl-C even where the runner was started
    to ignore it.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # A job that a shell starts in the background ignores the signal, and so would the programs
        # under test.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    choose_event_loop()
    worker: dict[str, str] | None = getattr(config, "workerinput", None)
    if worker is not None or not config.getoption("numprocesses", None):
        gc.disable()  # until all tests are collected, which the process that distributes them does not do
    if worker is not None:
        config.stash[RUN_FOLDER] = Path(worker["run_folder"])
        config.stash[CONTAINER] = Server(*worker["container"]) if worker["container"] else None
        return
    config.stash[CLEAN_UP] = clean_up = ExitStack()
    for parent in {MEMORY, Path(tempfile.gettempdir())}:
        remove_ended_runs(parent)
    config.stash[RUN_FOLDER] = folder = new_run_folder(folder_in_memory(), clean_up)
    config.stash[CONTAINER] = start_container(clean_up)
    clean_up.callback(shared_local_server(folder).down)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop what the run started, when its workers have ended; after Ctrl-C too."""
    if CLEAN_UP in config.stash:
        config.stash[CLEAN_UP].close()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: "WorkerController") -> None:
    """Tell a worker process what it shares with the others."""
    container = node.config.stash[CONTAINER]
    node.workerinput["run_folder"] = str(node.config.stash[RUN_FOLDER])
    node.workerinput["container"] = container and (
        container.uri,
        container.username,
        container.password,
    )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Run folders of tests in parallel, and a few files in this process, where that is faster."""
    if chosen := os.environ.get("PYTEST_XDIST_AUTO_NUM_WORKERS"):
        return int(chosen)
    started_in = config.invocation_params.dir
    return WORKERS if any((started_in / argument).is_dir() for argument in config.args) else 0


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(
    config: pytest.Config, log: "Producer"
) -> "LastTestsScheduling | None":
    """Run the tests that change the schema when the workers have finished all others."""
    if config.getvalue("dist") != "worksteal":
        return None
    from tests.support.scheduling import LastTestsScheduling

    counted = config.stash[RUN_FOLDER] / LAST_TESTS
    return LastTestsScheduling(
        config, log, lambda: int(counted.read_text()) if counted.exists() else 0
    )


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Run a test that is marked `alone` while no other worker runs a test."""
    with turn(item.config.stash[RUN_FOLDER], alone=item.get_closest_marker("alone") is not None):
        return (yield)


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **amount: float) -> None:
        self.now += timedelta(**amount)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the tests that change the schema last; omit those in a browser if there is no Chromium,
    unless asked for.

    Each worker begins with unit tests, while the server of the run starts.
    """
    last = [item for item in items if _changes_schema(item)]
    (config.stash[RUN_FOLDER] / LAST_TESTS).write_text(str(len(last)))
    others = [item for item in items if not _changes_schema(item)]
    units, rest = (
        [item for item in others if _is_unit_test(item) == unit] for unit in (True, False)
    )
    worker: dict[str, Any] = getattr(config, "workerinput", {})
    items[:] = [*in_parts(units, rest, parts=worker.get("workercount", 1)), *last]
    if worker.get("workerid") == FIRST_WORKER and rest and not _given_server(config):
        config.stash[STARTING_SERVER] = start_in_own_process(config.stash[RUN_FOLDER])
    if chromium_path() is not None or os.environ.get("KGAGENT_TEST_BROWSER"):
        return
    omitted = [item for item in items if item.get_closest_marker("browser")]
    if omitted:
        config.hook.pytest_deselected(items=omitted)
        items[:] = [item for item in items if item not in omitted]
        config.stash[BROWSER_TESTS_OMITTED] = len(omitted)


def pytest_collection_finish() -> None:
    """Exclude from garbage collection what exists before the first test; most of it stays until the
    end.
    """
    gc.enable()
    gc.freeze()


def _changes_schema(item: pytest.Item) -> bool:
    fixtures: Sequence[str] = getattr(item, "fixturenames", ())
    return item.get_closest_marker("schema") is not None or "lent_ontology" in fixtures


def _is_unit_test(item: pytest.Item) -> bool:
    return item.path.is_relative_to(UNIT_TESTS)


def _given_server(config: pytest.Config) -> Server | None:
    return server_of_environment() or config.stash[CONTAINER]


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Report from a worker how many tests it omitted, and let a server that still starts be
    found.
    """
    if STARTING_SERVER in session.config.stash:
        session.config.stash[STARTING_SERVER].wait()
    output: dict[str, int] | None = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["browser_tests_omitted"] = session.config.stash.get(BROWSER_TESTS_OMITTED, 0)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: "WorkerController") -> None:
    """Keep what a worker reported; all workers collect the same tests."""
    output: dict[str, int] = getattr(node, "workeroutput", {})
    node.config.stash[BROWSER_TESTS_OMITTED] = output.get("browser_tests_omitted", 0)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Report in the last lines too which tests were omitted."""
    if count := config.stash.get(BROWSER_TESTS_OMITTED, 0):
        terminalreporter.write_line(
            f"{count} tests of the page in a browser were OMITTED: this machine has no Chromium. "
            "Install one (Debian: apt-get install chromium); with KGAGENT_TEST_BROWSER=1 they fail "
            "without one.",
            yellow=True,
        )


@pytest.fixture(scope="session")
def run_folder(pytestconfig: pytest.Config) -> Path:
    """A folder that all processes of the run share."""
    return pytestconfig.stash[RUN_FOLDER]


@pytest.fixture(scope="session")
def server(pytestconfig: pytest.Config, run_folder: Path) -> Server:
    """The Neo4j of NEO4J_URI; otherwise the run's own, in Docker if KGAGENT_TEST_DOCKER is set;
    stopped at the end.
    """
    if chosen := _given_server(pytestconfig):
        return chosen
    info = shared_local_server(run_folder).up()
    found = Server(info.uri, info.username, info.password)
    filled = run_folder / "filled"
    with locked(run_folder / "fill.lock"):
        if not filled.exists():
            planner_statistics.fill(found, _settings_of(found), run_folder, DIMENSIONS)
            filled.touch()
    return found


def _settings_of(server: Server) -> Settings:
    # A deletion purges what has expired by its own clock, of any user; tests have different clocks,
    # so nothing expires.
    return Settings(
        _env_file=None,
        neo4j_uri=server.uri,
        neo4j_username=server.username,
        neo4j_password=SecretStr(server.password),
        embedder="hashing",
        undo_days=36_500,
    )


@pytest.fixture(scope="session")
def settings(server: Server) -> Settings:
    """Settings that lead to the tests' Neo4j."""
    return _settings_of(server)


@pytest.fixture(scope="session")
def embedder() -> HashingEmbedder:
    """A deterministic embedder."""
    return HashingEmbedder(DIMENSIONS)


@pytest.fixture
def clock() -> Clock:
    """A clock that the test moves."""
    return Clock()


@pytest.fixture(scope="session")
async def opened(settings: Settings) -> AsyncIterator[KnowledgeGraph]:
    """A graph with the default ontology that stays open for the whole run, its schema made.

    To connect, log in and check the schema takes as much CPU as several calls of tools.
    """
    async with KnowledgeGraph.connect(
        settings=settings, embedder=HashingEmbedder(DIMENSIONS)
    ) as graph:
        yield graph


@pytest.fixture
async def graph(opened: KnowledgeGraph, embedder: Embedder, clock: Clock) -> KnowledgeGraph:
    """That graph with an embedder and a clock of the test's own."""
    store = copy.copy(
        services_of(opened).store
    )  # a method that a test replaces must stay the test's own
    return KnowledgeGraph(store, opened.ontology, embedder, opened.settings, clock=clock)


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
