"""Operations that observers watch: tool calls, searches, embeddings and statements, without their
content.
"""

from dataclasses import dataclass
from typing import Literal

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
