"""The port of a server, and why a database did not start, which its log says in the form of each release line."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from kgagent.errors import ServerStartError
from kgagent.local.launch import choose_port, is_free, why_not_started
from kgagent.local.server_home import ServerHome

TRACE = """java.lang.RuntimeException: java.io.IOException: Disk quota exceeded
\tat org.neo4j.kernel.database.Database.start(Database.java:221)
Caused by: java.io.IOException: Disk quota exceeded
\t... 12 more
Caused by: java.lang.IllegalStateException: Failed to load data
\t... 15 more"""
FAILED = "Failed to start DatabaseId{33566c90[%s]}"


def as_json(database: str, trace: str) -> str:
    return json.dumps({"level": "ERROR", "message": FAILED % database, "stacktrace": trace})


def as_text(database: str, trace: str) -> str:
    return f"2026-11-23 03:50:00.000+0000 ERROR [o.n.d.d.DatabaseLifecycles] {FAILED % database}\n{trace}"


@pytest.mark.parametrize(
    "lines",
    [
        [as_json("neo4j", TRACE), as_json("other", "x.OtherException: other")],
        [
            as_text("neo4j", TRACE),
            "2026-11-23 03:50:01.000+0000 INFO  [o.n.d.d.DatabaseLifecycles] x.OtherException: other",
            "x.OtherException: other",
        ],
        [as_json("neo4j", "x.EarlierException: earlier"), as_json("neo4j", TRACE)],
    ],
    ids=["JSON", "text", "the last start"],
)
def test_the_messages_of_the_exceptions_are_found(tmp_path: Path, lines: list[str]) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "debug.log").write_text("\n".join(["Started.", *lines, ""]))
    assert why_not_started(ServerHome(tmp_path), "neo4j") == "Disk quota exceeded <- Failed to load data"


def test_a_log_that_does_not_say_it_gives_no_reason(tmp_path: Path) -> None:
    assert why_not_started(ServerHome(tmp_path), "neo4j") == ""


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield listening.getsockname()[1]


@pytest.fixture
def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_requested_port_is_chosen(free_port: int) -> None:
    assert choose_port(free_port, None) == free_port


def test_requested_port_in_use_is_an_error_that_names_it(taken_port: int) -> None:
    with pytest.raises(ServerStartError, match=f"Port {taken_port} is in use"):
        choose_port(taken_port, None)


def test_previous_port_is_chosen_again(free_port: int) -> None:
    assert choose_port(0, free_port) == free_port


def test_previous_port_in_use_is_replaced(taken_port: int) -> None:
    port = choose_port(0, taken_port)

    assert port != taken_port
    assert is_free(port)
