"""Start, recognise and end the server's process."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kgagent.extras import require_extra

if TYPE_CHECKING:
    import psutil

_KEPT_ENVIRONMENT = (
    *("HOME", "USER", "LOGNAME", "PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "LD_LIBRARY_PATH"),
    *("SYSTEMROOT", "TEMP", "TMP", "USERPROFILE", "APPDATA", "LOCALAPPDATA"),
)
_children: dict[int, subprocess.Popen[bytes]] = {}


def server_environment() -> dict[str, str]:
    """The environment for Java: no keys and no passwords of the caller's."""
    return {name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ}


def home_argument(home: Path) -> str:
    """The argument that says which folder a server serves; its process is recognised by it."""
    return f"--home-dir={home}"


def spawn(command: Sequence[str | Path], *, folder: Path, output: Path) -> "psutil.Process":
    """Start a process that lives on when this one ends.

    Args:
        command: program and arguments.
        folder: to run in.
        output: file that takes what the process prints; what it held is lost.

    Returns:
        The process, which may have ended already.
    """
    with require_extra("local"):
        import psutil
    with output.open("wb") as log:
        child = subprocess.Popen(  # noqa: S603 - Java, found by us
            command,
            cwd=folder,
            env=server_environment(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            creationflags=_detached(),
        )
    # Dropping the object would warn about a process that is still running: it is meant to be.
    _children[child.pid] = child
    return psutil.Process(child.pid)


def find_server(pid: int | None, home: Path) -> "psutil.Process | None":
    """The process `pid` if it lives and is the server of `home`; None if it is gone or another program."""
    if pid is None:
        return None
    with require_extra("local"):
        import psutil
    try:
        process = psutil.Process(pid)
        return process if home_argument(home) in process.cmdline() else None
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return None


def ended_within(process: "psutil.Process", seconds: float) -> bool:
    """Whether the process ends in that time; returns as soon as it does."""
    import psutil

    try:
        process.wait(seconds)
    except psutil.TimeoutExpired:
        return False
    child = _children.pop(process.pid, None)
    if child is not None:
        child.poll()
    return True


def end(process: "psutil.Process", *, patience: float) -> None:
    """Ask the process to end, and make it end when it has not after `patience` seconds."""
    import psutil

    try:
        process.terminate()
        if not ended_within(process, patience):
            process.kill()
            ended_within(process, patience)
    except psutil.NoSuchProcess:
        return


def _detached() -> int:
    if sys.platform == "win32":
        return subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP
    return 0
