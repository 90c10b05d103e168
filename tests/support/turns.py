"""Locks between the worker processes of a test run."""

import fcntl
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path


@contextmanager
def locked(path: Path, *, shared: bool = False) -> Iterator[None]:
    """Hold the lock of a file while the block runs.

    Args:
        path: the file; it is created if it does not exist.
        shared: whether other holders of the shared lock may run at the same time.
    """
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        yield


@contextmanager
def turn(folder: Path, *, alone: bool) -> Iterator[None]:
    """Hold a test's turn: tests run in parallel, except that a test marked `alone` runs while no
    other test does.

    Args:
        folder: the folder that the processes of the run share.
        alone: whether this test must run alone.
    """
    with ExitStack() as held:
        # A test that waits to run alone stays in the queue, which keeps later tests from starting.
        with locked(folder / "queue.lock"):
            held.enter_context(locked(folder / "running.lock", shared=not alone))
        yield
