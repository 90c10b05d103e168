"""Operations kept in a list, for tests and for counting what a call costs."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from kgagent.observing import EmbeddingRequest, Operation, Outcome, StatementRun


@dataclass(frozen=True)
class Recorded:
    """An operation that has ended.

    Attributes:
        operation: what it was.
        outcome: how it went.
    """

    operation: Operation
    outcome: Outcome


class Recorder:
    """Keeps what it sees, in the order in which it ended, until it is told to forget.

    Attributes:
        seen: operations that have ended.
    """

    def __init__(self) -> None:
        self.seen: list[Recorded] = []

    @contextmanager
    def watch(self, operation: Operation) -> Iterator[Outcome]:
        """Keep an operation."""
        outcome = Outcome()
        try:
            yield outcome
        except BaseException as error:
            outcome.error = type(error).__name__
            raise
        finally:
            self.seen.append(Recorded(operation, outcome))

    def forget(self) -> None:
        """Begin anew."""
        self.seen.clear()

    @property
    def statements(self) -> list[StatementRun]:
        """Statements that were sent to Neo4j."""
        return [one.operation for one in self.seen if isinstance(one.operation, StatementRun)]

    @property
    def embeddings(self) -> list[EmbeddingRequest]:
        """Requests for embeddings."""
        return [one.operation for one in self.seen if isinstance(one.operation, EmbeddingRequest)]
