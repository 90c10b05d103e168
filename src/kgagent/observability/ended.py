"""Observers that tell of an operation when it has ended."""

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager

from kgagent.observing import Operation, OperationOutcome


class EndObserver(ABC):
    """Waits for the end of each operation and names the error that it raised."""

    @contextmanager
    def watch(self, operation: Operation) -> Iterator[OperationOutcome]:
        """Be there while an operation runs, and take it in afterwards."""
        outcome = OperationOutcome()
        begun = time.perf_counter()
        try:
            yield outcome
        except BaseException as error:
            outcome.error = type(error).__name__
            raise
        finally:
            self._ended(operation, outcome, time.perf_counter() - begun)

    @abstractmethod
    def _ended(self, operation: Operation, outcome: OperationOutcome, seconds: float) -> None:
        """Take in an operation that has ended, and how long it took."""
