"""How long work tells of its progress without knowing who shows it."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

Advance = Callable[[int], None]
"""Called with the number of units done since the last call."""


class Progress(Protocol):
    """Shows tasks as they move; the command line draws bars, libraries stay silent."""

    def task(self, description: str, total: int | None = None) -> AbstractContextManager[Advance]:
        """Open a task.

        Args:
            description: what is being done, for a person to read.
            total: units in all; None where it is not known.
        """
        ...


class SilentProgress:
    """Shows nothing."""

    @contextmanager
    def task(self, description: str, total: int | None = None) -> Iterator[Advance]:  # noqa: ARG002
        """Open a task that nobody sees."""
        yield lambda _: None
