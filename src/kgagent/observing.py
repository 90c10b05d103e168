"""Operations that observers watch: tool calls, searches, embeddings and statements, without their content."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal, Protocol

APP = "kgagent"

Access = Literal["read", "write", "schema"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool.

    Attributes:
        name: name of the tool.
        user_id: owner of the graph.
    """

    name: str
    user_id: str


@dataclass(frozen=True, slots=True)
class Search:
    """A search.

    Attributes:
        name: name of the search.
    """

    name: str


@dataclass(frozen=True, slots=True)
class EmbeddingRequest:
    """A request for embeddings; cached query embeddings need none.

    Attributes:
        provider: provider of the model.
        model: name of the model.
        dimensions: length of each embedding.
        texts: number of texts.
    """

    provider: str
    model: str
    dimensions: int
    texts: int


@dataclass(frozen=True, slots=True)
class StatementRun:
    """A statement that is sent to Neo4j, its retries included.

    Attributes:
        name: name of the statement.
        access: whether it reads, writes or changes the schema.
        uri: address of the server.
        database: None is the user's home database.
    """

    name: str
    access: Access
    uri: str
    database: str | None


Operation = ToolCall | Search | EmbeddingRequest | StatementRun


@dataclass(slots=True)
class OperationOutcome:
    """The outcome of an operation.

    Attributes:
        error: class of the error that the operation raised, or that a tool call returned.
        rows: number of rows that a statement returned.
    """

    error: str | None = None
    rows: int | None = None


class Observer(Protocol):
    """Watches operations.

    An operation that contains others stays open while they run, in the same context of `contextvars`.
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
