"""An observer that keeps what it saw."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

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


class Recorder:
    """Keeps each operation, in the order of their ends.

    Attributes:
        operations: the operations.
    """

    def __init__(self) -> None:
        self.operations: list[RecordedOperation] = []

    @contextmanager
    def watch(self, operation: Operation) -> Iterator[OperationOutcome]:
        """Watch an operation, and keep it when it ends."""
        outcome = OperationOutcome()
        try:
            yield outcome
        except BaseException as error:
            outcome.error = type(error).__name__
            raise
        finally:
            self.operations.append(RecordedOperation(operation, outcome))

    def clear(self) -> None:
        """Forget the operations."""
        self.operations.clear()

    @property
    def statements(self) -> list[StatementRun]:
        """The statements that were sent to Neo4j."""
        return [
            recorded.operation
            for recorded in self.operations
            if isinstance(recorded.operation, StatementRun)
        ]

    @property
    def embeddings(self) -> list[EmbeddingRequest]:
        """The requests for embeddings."""
        return [
            recorded.operation
            for recorded in self.operations
            if isinstance(recorded.operation, EmbeddingRequest)
        ]
