"""A list of operations, for tests and to count what a call costs."""

from dataclasses import dataclass

from kgagent.observability.end_observer import EndObserver
from kgagent.operations import EmbeddingRequest, Operation, OperationOutcome, StatementRun


@dataclass(frozen=True)
class RecordedOperation:
    """An operation that ended.

    Attributes:
        operation: the operation.
        outcome: its outcome.
    """

    operation: Operation
    outcome: OperationOutcome


class Recorder(EndObserver):
    """Keeps each operation, in the order of their ends.

    Attributes:
        operations: the operations.
    """

    def __init__(self) -> None:
        self.operations: list[RecordedOperation] = []

    def _handle(self, operation: Operation, outcome: OperationOutcome, seconds: float) -> None:  # noqa: ARG002
        """Keep an operation."""
        self.operations.append(RecordedOperation(operation, outcome))

    def clear(self) -> None:
        """Forget the operations."""
        self.operations.clear()

    @property
    def statements(self) -> list[StatementRun]:
        """The statements that were sent to Neo4j."""
        return [one.operation for one in self.operations if isinstance(one.operation, StatementRun)]

    @property
    def embeddings(self) -> list[EmbeddingRequest]:
        """The requests for embeddings."""
        return [one.operation for one in self.operations if isinstance(one.operation, EmbeddingRequest)]
