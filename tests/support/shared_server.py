"""One Neo4j for a whole test run, shared by all of its worker processes."""

import os
import shutil
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgagent import Settings
from kgagent.local import LocalNeo4j
from tests.support.class_archive import archive_options

NEO4J_VERSION = os.environ.get(
    "KGAGENT_TEST_NEO4J", str(Settings.model_fields["local_neo4j_version"].default)
)
"""The release that the tests run on."""


PLAIN_JAVA_OPTIONS = (
    "-XX:TieredStopAtLevel=1",
    "-XX:ReservedCodeCacheSize=240m",
    "-XX:+UseSerialGC",
    "-XX:MetaspaceSize=256m",
    "-XX:+UnlockDiagnosticVMOptions",
    "-XX:-BytecodeVerificationRemote",
)
"""A server that a test starts lives for seconds: optimized code costs more than it saves. Without
it Java reserves only 48 MB for compiled code, which that of a run fills. The serial collector takes
less CPU than the default one, whose short pauses nobody needs here. A quarter of the CPU of a start
is for checking the classes of jars whose checksums are known, and for collections while the space
of classes grows."""

JAVA_OPTIONS = (*PLAIN_JAVA_OPTIONS, *archive_options(NEO4J_VERSION))
"""The same, with the archive of classes, if it was created."""

RUN_JAVA_OPTIONS = (
    *(option for option in JAVA_OPTIONS if option != "-XX:TieredStopAtLevel=1"),
    "-XX:Tier4InvocationThreshold=20000",
    "-XX:Tier4MinInvocationThreshold=2400",
    "-XX:Tier4CompileThreshold=60000",
    "-XX:Tier4BackEdgeThreshold=160000",
)
"""The server of a run lives for minutes: code that runs four times as often as Java requires is
worth optimizing. With these limits, a run took 409 s of the server's CPU; with Java's 455 s;
without optimized code 491 s."""

_NEO4J_SETTINGS = {
    "internal.cypher.use_parameter_size": "false",
    "internal.cypher.expression_engine": "INTERPRETED",
    "dbms.cypher.min_replan_interval": "1d",
    "server.memory.query_cache.per_db_cache_num_entries": "5000",
    "internal.dbms.index.lucene.merge_factor": "50",
    "internal.dbms.index.lucene.nocfs.ratio": "0.0",
}
"""Most of the server's work would be planning the same statements again: for each order of
magnitude of the length of each text and list among the parameters, after ten runs for faster
expressions, whenever counts have changed, and because the whole run has more statements than the
cache holds. Full-text indexes would merge the segments of any two transactions, in files that are
written twice."""


class QuickLocalNeo4j(LocalNeo4j):
    """A local server that compiles and plans as that of a run does, for commands and examples that
    start one.
    """

    def __init__(self, home: Path | None = None, **options: Any) -> None:
        super().__init__(
            home, **{"java_options": JAVA_OPTIONS, "neo4j_settings": _NEO4J_SETTINGS, **options}
        )


MEMORY = Path("/dev/shm")
_NEEDED_IN_MEMORY = 4 << 30


@dataclass(frozen=True)
class Server:
    """Address and credentials of the Neo4j that the tests use."""

    uri: str
    username: str
    password: str


def server_of_environment() -> Server | None:
    """The server of NEO4J_URI, or None where it is not set."""
    if uri := os.environ.get("NEO4J_URI"):
        return Server(
            uri, os.environ.get("NEO4J_USERNAME", "neo4j"), os.environ.get("NEO4J_PASSWORD", "")
        )
    return None


def start_container(stack: ExitStack) -> Server | None:
    """Start Neo4j in Docker if KGAGENT_TEST_DOCKER asks for it and Docker works; the stack stops
    it.
    """
    if not os.environ.get("KGAGENT_TEST_DOCKER") or server_of_environment() or not _docker_works():
        return None
    from testcontainers.community.neo4j import Neo4jContainer

    container = stack.enter_context(Neo4jContainer("neo4j:2026.08.1"))
    return Server(container.get_connection_url(), container.username, container.password)


def shared_local_server(folder: Path) -> LocalNeo4j:
    """The local server of a test run. Starting it is safe from several processes: all get the same
    server.

    Args:
        folder: the folder that the processes of the run share.
    """
    return LocalNeo4j(
        folder / "neo4j",
        version=NEO4J_VERSION,
        java_options=RUN_JAVA_OPTIONS,
        neo4j_settings=_NEO4J_SETTINGS,
    )


def start_in_own_process(folder: Path) -> subprocess.Popen[bytes]:
    """Start the server of a test run meanwhile; the first test that needs it reports what fails.

    Not in a thread, since tests change the environment and replace functions of their process.
    """
    return subprocess.Popen(
        [sys.executable, "-m", __name__, str(folder)],
        cwd=Path(__file__).parents[2],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def folder_in_memory() -> Path | None:
    """A file system in memory with room for the server of a run, where each commit need not wait
    for a disk.
    """
    if not os.access(MEMORY, os.W_OK) or shutil.disk_usage(MEMORY).free < _NEEDED_IN_MEMORY:
        return None
    return MEMORY


def _docker_works() -> bool:
    docker = shutil.which("docker")
    if docker is None:
        return False
    return (
        subprocess.run([docker, "info"], capture_output=True, timeout=20, check=False).returncode
        == 0
    )


if __name__ == "__main__":
    shared_local_server(Path(sys.argv[1])).up()
