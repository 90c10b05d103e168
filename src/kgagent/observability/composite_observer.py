"""Several observers as one."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from kgagent.observing import Observer
from kgagent.operations import Operation, OperationOutcome


class CompositeObserver:
    """Lets several observers watch each operation; the first one is outermost."""

    def __init__(self, *observers: Observer) -> None:
        self._observers = observers

    @contextmanager
    def watch(self, operation: Operation) -> Iterator[OperationOutcome]:
        """Let each observer watch an operation."""
        with ExitStack() as stack:
            outcomes = [stack.enter_context(observer.watch(operation)) for observer in self._observers]
            outcome = OperationOutcome()
            yield outcome
            for observed in outcomes:
                observed.error, observed.rows = outcome.error, outcome.rows
