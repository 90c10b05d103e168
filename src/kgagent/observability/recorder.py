"""Operations kept in a list, for tests and for counting what a call costs."""

from dataclasses import dataclass

from kgagent.observability.ended import EndObserver
from kgagent.observing import EmbeddingRequest, Operation, OperationOutcome, StatementRun


@dataclass(frozen=True)
class Recorded:
    """An operation that has ended.

    Attributes:
        operation: what it was.
        outcome: how it went.
    """

    operation: Operation
    outcome: OperationOutcome


class Recorder(EndObserver):
    """Keeps what it sees, in the order in which it ended, until it is told to forget.

    Attributes:
        seen: operations that have ended.
    """

    def __init__(self) -> None:
        self.seen: list[Recorded] = []

    def _ended(self, operation: Operation, outcome: OperationOutcome, seconds: float) -> None:  # noqa: ARG002
        """Keep an operation."""
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
