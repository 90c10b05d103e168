"""Several observers as one."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from kgagent.observing import Observer, Operation, OperationOutcome


class Observers:
    """Has several observers watch each operation, the first one outermost."""

    def __init__(self, *observers: Observer) -> None:
        self._observers = observers

    @contextmanager
    def watch(self, operation: Operation) -> Iterator[OperationOutcome]:
        """Have each of them watch an operation."""
        with ExitStack() as stack:
            outcomes = [stack.enter_context(one.watch(operation)) for one in self._observers]
            outcome = OperationOutcome()
            yield outcome
            for one in outcomes:
                one.error, one.rows = outcome.error, outcome.rows
