import os
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from kgagent.local.process import (
    find_server,
    home_argument,
    server_environment,
    spawn,
    terminate,
    wait_for_exit,
)

WAITS = "import threading; threading.Event().wait()"


@pytest.fixture
def stand_in(tmp_path: Path) -> Iterator[psutil.Process]:
    """A process that looks like the server of `tmp_path`."""
    command = [sys.executable, "-c", WAITS, home_argument(tmp_path)]
    process = spawn(command, folder=tmp_path, output=tmp_path / "output")
    yield process
    terminate(process, timeout=10)


def test_server_is_recognised_by_the_home_that_it_serves(
    stand_in: psutil.Process, tmp_path: Path
) -> None:
    assert find_server(stand_in.pid, tmp_path) is not None
    assert find_server(stand_in.pid, tmp_path / "other") is None
    assert find_server(os.getpid(), tmp_path) is None
    assert find_server(None, tmp_path) is None
    assert not wait_for_exit(stand_in, 0.01)


def test_dead_unreaped_process_is_not_the_server(stand_in: psutil.Process, tmp_path: Path) -> None:
    stand_in.kill()
    while stand_in.status() != psutil.STATUS_ZOMBIE:
        assert stand_in.is_running()

    assert find_server(stand_in.pid, tmp_path) is None


def test_server_gets_none_of_the_callers_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.setenv("NEO4J_PASSWORD", "secret")

    assert "secret" not in server_environment().values()
    assert "PATH" in server_environment()
