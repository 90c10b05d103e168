import json
import os
import socket
import stat
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from neo4j import GraphDatabase

from kgagent.errors import ServerStartError
from kgagent.local import LocalNeo4j, ServerInfo
from tests.integration.local.conftest import VERSION
from tests.support.shared_server import JAVA_OPTIONS

UP_IN_A_PROCESS = """
import sys
from contextlib import suppress
from pathlib import Path
from kgagent.local import LocalNeo4j
local = LocalNeo4j(Path(sys.argv[1]), version=sys.argv[2], java_options=sys.argv[3:])
print(local.up().pid, flush=True)
"""


BEGIN = (
    b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": '
    b'"2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}\n'
    b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n'
    b'{"jsonrpc": "2.0", "id": 2, "method": "tools/list"}\n'
)


def _up_in_a_process(home: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", UP_IN_A_PROCESS, str(home), VERSION, *JAVA_OPTIONS]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def _ask(info: ServerInfo, statement: str) -> list[object]:
    with GraphDatabase.driver(info.uri, auth=(info.username, info.password)) as driver:
        return [record[0] for record in driver.execute_query(statement, database_="neo4j").records]


def _kill(pid: int) -> None:
    process = psutil.Process(pid)
    process.kill()
    process.wait(30)


def _write_state(home: Path, **values: object) -> None:
    home.mkdir(exist_ok=True)
    (home / "kgagent.json").write_text(json.dumps({"version": VERSION} | values))


def test_concurrent_processes_get_the_same_server(local: LocalNeo4j, home: Path) -> None:
    starting = [_up_in_a_process(home), _up_in_a_process(home)]

    pids = {int(process.communicate(timeout=180)[0]) for process in starting}

    assert len(pids) == 1
    assert local.up().pid == pids.pop()


def test_a_running_server_is_ready_private_and_on_the_loopback_address(
    local: LocalNeo4j, home: Path
) -> None:
    info = local.up()
    status = local.status()

    assert (status.running, status.ready, status.info, status.version) == (
        True,
        True,
        info,
        VERSION,
    )
    assert _ask(
        info,
        "CALL dbms.components() YIELD name, versions WHERE name = 'Neo4j Kernel' RETURN "
        "versions[0]",
    ) == [VERSION]
    assert stat.S_IMODE((home / "password").stat().st_mode) == 0o600
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert info.password not in repr(info)
    assert info.password not in " ".join(psutil.Process(info.pid).cmdline())
    assert not list(home.glob("password.args"))
    connections = psutil.Process(info.pid).net_connections("tcp")
    listening = {
        c.laddr.ip.removeprefix("::ffff:") for c in connections if c.status == psutil.CONN_LISTEN
    }
    assert listening == {"127.0.0.1"}


def test_another_port_than_that_of_the_running_server_is_refused(
    local: LocalNeo4j, home: Path
) -> None:
    port = int(local.up().uri.rpartition(":")[2])

    with pytest.raises(ServerStartError, match=f"running on port {port}"):
        LocalNeo4j(home, version=VERSION, port=port + 1).up()


def test_a_killed_server_starts_again_with_its_data_on_its_port_and_is_stopped_once(
    local: LocalNeo4j,
) -> None:
    first = local.up()
    _ask(first, "CREATE (:Survivor {name: 'Ada'})")
    _kill(first.pid)
    assert not local.status().running

    second = local.up()

    assert second.pid != first.pid
    assert second.uri == first.uri
    assert _ask(second, "MATCH (s:Survivor) RETURN s.name") == ["Ada"]
    assert local.down()
    assert not local.down()
    assert not psutil.pid_exists(second.pid)


def test_process_id_of_another_program_is_not_stopped(tmp_path: Path) -> None:
    _write_state(tmp_path, pid=os.getpid(), port=1)
    local = LocalNeo4j(tmp_path, version=VERSION)

    assert not local.status().running
    assert not local.down()


def test_start_that_was_killed_midway_is_repeated_on_another_port_if_its_own_is_in_use(
    fresh: LocalNeo4j, tmp_path: Path
) -> None:
    starting = _up_in_a_process(tmp_path / "home")
    while (begun := fresh.status().info) is None:
        assert starting.poll() is None
    starting.kill()
    starting.communicate()
    _kill(begun.pid)
    port = int(begun.uri.rpartition(":")[2])
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", port))
        taken.listen()

        info = fresh.up()

        assert not info.uri.endswith(f":{port}")
        assert _ask(info, "RETURN 1") == [1]


@pytest.mark.parametrize("how", ["the client leaves", "SIGTERM"])
def test_a_program_that_ends_while_it_starts_the_server_ends_at_once_and_takes_it_along(
    fresh: LocalNeo4j, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    command = [sys.executable, "-c", "from kgagent.cli.app import main; main()", "mcp"]
    monkeypatch.delenv("NEO4J_URI", raising=False)
    monkeypatch.setenv("KGAGENT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("KGAGENT_LOCAL_NEO4J_VERSION", VERSION)
    monkeypatch.setenv("KGAGENT_EMBEDDER", "hashing")
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        assert program.stdin is not None
        program.stdin.write(BEGIN)
        program.stdin.flush()
        while (begun := fresh.status().info) is None:
            assert program.poll() is None
            time.sleep(0.05)
        if how == "SIGTERM":
            program.terminate()
        else:
            program.stdin.close()
        program.wait(timeout=5)
    with suppress(psutil.NoSuchProcess):
        psutil.Process(begun.pid).wait(timeout=1)
    assert not fresh.status().running


def test_failed_start_says_why(fresh: LocalNeo4j, tmp_path: Path) -> None:
    data = tmp_path / "home" / "data"
    data.mkdir(parents=True)
    (data / "databases").write_text("a file where a folder should be")

    with pytest.raises(ServerStartError, match=r"(?s)exited during startup.*databases"):
        fresh.up()

    assert not fresh.status().running


def test_start_without_the_database_says_why_and_what_to_do(
    fresh: LocalNeo4j, tmp_path: Path
) -> None:
    store = tmp_path / "home" / "data" / "databases" / "neo4j"
    store.mkdir(parents=True)
    (store / "neostore").write_bytes(b"damaged" * 100)

    with pytest.raises(ServerStartError) as raised:
        fresh.up()

    error = str(raised.value)
    assert error.startswith("The local Neo4j could not start the database 'neo4j'. It says: ")
    assert "kgagent import" in error
    assert not fresh.status().running


@pytest.mark.parametrize("version", ["9999.1.1", "4.4.0"])
def test_data_of_a_newer_or_another_release_line_is_not_opened(
    tmp_path: Path, version: str
) -> None:
    _write_state(tmp_path, version=version, port=1)

    with pytest.raises(ServerStartError, match=f"last used by Neo4j {version}"):
        LocalNeo4j(tmp_path, version=VERSION).up()
