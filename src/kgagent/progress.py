"""The interface through which long operations report progress."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

Advance = Callable[[int], None]
"""Receives the number of units done since the previous call."""


class Progress(Protocol):
    """Reports progress: the command line draws bars, the library is silent by default."""

    def task(self, description: str, total: int | None = None) -> AbstractContextManager[Advance]:
        """Start a task.

        Args:
            description: what is being done, for display.
            total: number of units; None if unknown.
        """
        ...


class SilentProgress:
    """Reports nothing."""

    @contextmanager
    def task(self, description: str, total: int | None = None) -> Iterator[Advance]:  # noqa: ARG002
        """Start a task without a report."""
        yield lambda _: None
