"""The base of observers that act when an operation ends."""

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager

from kgagent.operations import Operation, OperationOutcome


class EndObserver(ABC):
    """Waits for the end of each operation, and names the error that it raised."""

    @contextmanager
    def watch(self, operation: Operation) -> Iterator[OperationOutcome]:
        """Watch an operation and handle its end."""
        outcome = OperationOutcome()
        started = time.perf_counter()
        try:
            yield outcome
        except BaseException as error:
            outcome.error = type(error).__name__
            raise
        finally:
            self._handle(operation, outcome, time.perf_counter() - started)

    @abstractmethod
    def _handle(self, operation: Operation, outcome: OperationOutcome, seconds: float) -> None:
        """Handle the end of an operation, which took this many seconds."""
