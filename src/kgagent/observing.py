"""What can be watched, and by whom: tool calls, searches, embeddings and statements, without what they are about."""

from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, Literal, ParamSpec, Protocol, TypeVar

APP = "kgagent"

Access = Literal["read", "write", "schema"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool is called.

    Attributes:
        name: of the tool.
        user_id: whose graph.
    """

    name: str
    user_id: str


@dataclass(frozen=True, slots=True)
class Search:
    """A search is made.

    Attributes:
        name: of the search.
    """

    name: str


@dataclass(frozen=True, slots=True)
class EmbeddingRequest:
    """Texts are embedded; queries whose embeddings are still in memory are not among them.

    Attributes:
        provider: who computes the embeddings.
        model: name of the model.
        dimensions: length of each embedding.
        texts: how many.
    """

    provider: str
    model: str
    dimensions: int
    texts: int


@dataclass(frozen=True, slots=True)
class StatementRun:
    """A statement is sent to Neo4j; trying again what failed in passing is part of it.

    Attributes:
        name: of the statement.
        access: what it does.
        uri: the server.
        database: None is the user's home database.
    """

    name: str
    access: Access
    uri: str
    database: str | None


Operation = ToolCall | Search | EmbeddingRequest | StatementRun


@dataclass(slots=True)
class OperationOutcome:
    """How an operation went; what it raises is seen as well.

    Attributes:
        error: class of the error of a tool call, which is answered and not raised.
        rows: rows that a statement gave.
    """

    error: str | None = None
    rows: int | None = None


class Observer(Protocol):
    """Watches operations; one that contains others is open while they run, in the same context of `contextvars`."""

    def watch(self, operation: Operation) -> AbstractContextManager[OperationOutcome]:
        """Be there while an operation runs; it fills in the outcome. Neither raises an error nor holds one back."""
        ...


class NullObserver:
    """Watches nothing."""

    def watch(self, operation: Operation) -> AbstractContextManager[OperationOutcome]:  # noqa: ARG002
        """Let the operation run."""
        return nullcontext(OperationOutcome())


NULL_OBSERVER: Observer = NullObserver()

_tool: ContextVar[str | None] = ContextVar("kgagent_tool", default=None)


@contextmanager
def within_tool(name: str) -> Iterator[None]:
    """Say for a block of code, and for the tasks that it starts, on behalf of which tool it runs."""
    token = _tool.set(name)
    try:
        yield
    finally:
        _tool.reset(token)


def current_tool() -> str | None:
    """The tool on whose behalf this code runs."""
    return _tool.get()


def statement_tags(name: str) -> dict[str, str]:
    """What the server is told of a statement beside its text; `SHOW TRANSACTIONS` and the query log show it."""
    tool = current_tool()
    return {"app": APP, "statement": name} | ({"tool": tool} if tool else {})


class Observed(Protocol):
    """Has an observer."""

    @property
    def observer(self) -> Observer:
        """Watches its searches."""
        ...


ObservedT = TypeVar("ObservedT", bound=Observed)
ParametersT = ParamSpec("ParametersT")
ResultT = TypeVar("ResultT")
SearchMethod = Callable[Concatenate[ObservedT, ParametersT], Awaitable[ResultT]]
WatchedMethod = Callable[Concatenate[ObservedT, ParametersT], Coroutine[Any, Any, ResultT]]


def observed(
    name: str,
) -> Callable[[SearchMethod[ObservedT, ParametersT, ResultT]], WatchedMethod[ObservedT, ParametersT, ResultT]]:
    """Have a method that searches watched by its object's observer, under a name."""

    def wrap(
        method: SearchMethod[ObservedT, ParametersT, ResultT],
    ) -> WatchedMethod[ObservedT, ParametersT, ResultT]:
        @wraps(method)
        async def watched(self: ObservedT, /, *args: ParametersT.args, **kwargs: ParametersT.kwargs) -> ResultT:
            with self.observer.watch(Search(name)):
                found = await method(self, *args, **kwargs)
            return found  # noqa: RET504 - a context manager may hold errors back, as far as mypy knows

        return watched

    return wrap
