"""Starts, finds and terminates the server process."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kgagent.extras import require_extra

if TYPE_CHECKING:
    import psutil

_PASSED_VARIABLES = (
    *(
        "HOME",
        "USER",
        "LOGNAME",
        "PATH",
        "LANG",
        "LC_ALL",
        "LC_CTYPE",
        "TZ",
        "TMPDIR",
        "LD_LIBRARY_PATH",
    ),
    *("SYSTEMROOT", "TEMP", "TMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA"),
)
_COMMAND_LINE_SECONDS, _NEW_SECONDS = 1.0, 10.0
_children: dict[int, subprocess.Popen[bytes]] = {}


def server_environment() -> dict[str, str]:
    """The environment of the Java process, without the caller's keys and passwords."""
    return {name: os.environ[name] for name in _PASSED_VARIABLES if name in os.environ}


def home_argument(home: Path) -> str:
    """The argument that names the home folder of a server; it identifies the server's process."""
    return f"--home-dir={home}"


def spawn(command: Sequence[str | Path], *, folder: Path, output: Path) -> "psutil.Process":
    """Start a process that continues after this one exits.

    Args:
        command: program and arguments.
        folder: working directory.
        output: file for the output of the process; it is overwritten.

    Returns:
        The process, which may already have exited.
    """
    with require_extra("local"):
        import psutil
    with output.open("wb") as log:
        child = subprocess.Popen(  # noqa: S603 - no untrusted arguments
            command,
            cwd=folder,
            env=server_environment(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            creationflags=_detached_flags(),
        )
    # Python warns when the Popen object of a running process is deleted.
    _children[child.pid] = child
    return psutil.Process(child.pid)


def find_server(pid: int | None, home: Path) -> "psutil.Process | None":
    """The process `pid` if it is running and is the server of `home`, else None."""
    if pid is None:
        return None
    with require_extra("local"):
        import psutil
    try:
        process = psutil.Process(pid)
        return process if home_argument(home) in _command_line(process) else None
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return None


def _command_line(process: "psutil.Process") -> list[str]:
    # A process that has just been started has an empty command line until the system has filled it
    # in: some 30 ms on a busy machine. A thread of the kernel, which is older, never has one.
    deadline = time.monotonic() + _COMMAND_LINE_SECONDS
    while not (arguments := process.cmdline()) and time.monotonic() < deadline and _is_new(process):
        time.sleep(0.005)
    return arguments


def _is_new(process: "psutil.Process") -> bool:
    return abs(time.time() - process.create_time()) < _NEW_SECONDS


def wait_for_exit(process: "psutil.Process", timeout: float) -> bool:
    """Wait until the process exits, for at most `timeout` seconds; return whether it exited."""
    import psutil

    try:
        process.wait(timeout)
    except psutil.TimeoutExpired:
        return False
    child = _children.pop(process.pid, None)
    if child is not None:
        child.poll()
    return True


def terminate(process: "psutil.Process", *, timeout: float) -> None:
    """Terminate the process, and kill it if it has not exited after `timeout` seconds."""
    import psutil

    try:
        process.terminate()
        if not wait_for_exit(process, timeout):
            process.kill()
            wait_for_exit(process, timeout)
    except psutil.NoSuchProcess:
        return


def _detached_flags() -> int:
    if sys.platform == "win32":
        return subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP
    return 0
