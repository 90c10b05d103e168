"""The folder of a test run, and the removal of folders that runs left behind which were killed."""

import fcntl
import os
import shutil
import tempfile
from contextlib import ExitStack
from pathlib import Path

from kgagent.local.process import find_server, terminate
from kgagent.local.server_home import ServerHome
from tests.support.turns import locked

_PREFIX = "kgagent-tests-"
_LOCK = "run.lock"
_STOP_SECONDS = 5.0


def new_run_folder(parent: Path | None, stack: ExitStack) -> Path:
    """Create a folder that counts as in use until the stack is closed or this process ends; the
    stack removes it.

    Args:
        parent: where to create it; None: in the folder of temporary files.
        stack: what ends with the run.
    """
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
    lock = folder / "new.lock"
    stack.enter_context(locked(lock))
    # Whoever finds it under its name finds it locked.
    lock.rename(folder / _LOCK)
    stack.callback(shutil.rmtree, folder, ignore_errors=True)
    return folder


def remove_ended_runs(parent: Path) -> None:
    """Stop the servers, and remove the folders, of runs of this user whose process no longer
    exists.
    """
    for path in parent.glob(f"{_PREFIX}*/{_LOCK}"):
        try:
            if path.parent.lstat().st_uid != os.getuid():
                continue
            with path.open("r+") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _stop_server(path.parent / "neo4j")
                shutil.rmtree(path.parent, ignore_errors=True)
        except OSError:
            # The run is going on, or has ended meanwhile.
            continue


def _stop_server(home: Path) -> None:
    state = ServerHome(home).read_state()
    if state and (process := find_server(state.pid, home)):
        terminate(process, timeout=_STOP_SECONDS)
