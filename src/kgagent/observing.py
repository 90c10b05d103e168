"""Observers of operations, and the tool that the running code works for."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Protocol

from kgagent.operations import Operation, OperationOutcome

APP = "kgagent"


class Observer(Protocol):
    """Watches operations.

    An operation that contains others stays open while they run, in the same context of
    `contextvars`.
    """

    def watch(self, operation: Operation) -> AbstractContextManager[OperationOutcome]:
        """Watch an operation, which fills in the outcome; raise nothing and suppress nothing."""
        ...


class NullObserver:
    """Does nothing."""

    def watch(self, operation: Operation) -> AbstractContextManager[OperationOutcome]:  # noqa: ARG002
        """Return an outcome that nobody reads."""
        return nullcontext(OperationOutcome())


NULL_OBSERVER: Observer = NullObserver()

_tool: ContextVar[str | None] = ContextVar("kgagent_tool", default=None)


@contextmanager
def within_tool(name: str) -> Iterator[None]:
    """Name the tool that a block of code, and the tasks that it starts, run for."""
    token = _tool.set(name)
    try:
        yield
    finally:
        _tool.reset(token)


def current_tool() -> str | None:
    """Return the name of the tool that this code runs for."""
    return _tool.get()


def statement_tags(name: str) -> dict[str, str]:
    """Return the metadata of a statement, which `SHOW TRANSACTIONS` and the query log show."""
    tool = current_tool()
    return {"app": APP, "statement": name} | ({"tool": tool} if tool else {})
