"""The process of the server: starts, finds and ends it, and chooses its port."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from kgagent.errors import ServerStartError
from kgagent.extras import require_extra
from kgagent.local.config import HOST

if TYPE_CHECKING:
    import psutil

_PASSED_VARIABLES = (
    *("HOME", "USER", "LOGNAME", "PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR"),
    *("LD_LIBRARY_PATH", "SYSTEMROOT", "TEMP", "TMP"),
    *("USERPROFILE", "APPDATA", "LOCALAPPDATA"),
)
_starting: "set[psutil.Process]" = set()
"""Servers that this process starts and that are not ready."""


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
    child.returncode = 0
    return psutil.Process(child.pid)


def find_server(pid: int | None, home: Path) -> "psutil.Process | None":
    """The process `pid` if it is running and is the server of `home`, else None."""
    if pid is None:
        return None
    with require_extra("local"):
        import psutil
    try:
        process = psutil.Process(pid)
        return process if home_argument(home) in process.cmdline() else None
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return None


def wait_for_exit(process: "psutil.Process", timeout: float) -> bool:
    """Wait until the process exits, for at most `timeout` seconds; return whether it exited."""
    import psutil

    try:
        process.wait(timeout)
    except psutil.TimeoutExpired:
        return False
    return True


def terminate(process: "psutil.Process", *, timeout: float) -> None:
    """Terminate the process, and kill it if it has not exited after `timeout` seconds."""
    import psutil

    with suppress(psutil.NoSuchProcess):
        process.terminate()
        if not wait_for_exit(process, timeout):
            _kill(process)


def _kill(process: "psutil.Process") -> None:
    import psutil

    with suppress(psutil.NoSuchProcess):
        process.kill()
        process.wait()


@contextmanager
def killed_unless_ready(process: "psutil.Process") -> Iterator[None]:
    """Kill a server that starts if the block, which waits for it, fails or is interrupted."""
    _starting.add(process)
    try:
        yield
    except BaseException:
        _kill(process)
        raise
    finally:
        _starting.discard(process)


def kill_starting() -> None:
    """Kill the servers that this process starts and that are not ready, before it ends itself."""
    for process in list(_starting):
        _kill(process)


def is_free(port: int) -> bool:
    """Whether a server can listen on the port now."""
    with socket.socket() as probe:
        if sys.platform != "win32":
            # Neo4j can listen despite lingering connections of a server that has just stopped.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def choose_port(requested: int, previous: int | None) -> int:
    """Choose the requested port, else the port of the previous start, else any free port.

    Args:
        requested: 0 for any port.
        previous: port of the previous start; None if there was none.

    Raises:
        ServerStartError: the requested port is in use.
    """
    if requested and not is_free(requested):
        raise ServerStartError(
            f"Port {requested} is in use by another program. Free it, or set KGAGENT_LOCAL_PORT to "
            f"another port (0 for any free port)."
        )
    if (wanted := requested or previous) and is_free(wanted):
        return wanted
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def _detached_flags() -> int:
    if sys.platform == "win32":
        return subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP
    return 0
