"""Observers: several as one, a log of operations, a list of them, and the one that the settings
name.
"""

import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from kgagent.extras import require_extra
from kgagent.observing import NULL_OBSERVER, Observer
from kgagent.operations import (
    EmbeddingRequest,
    Operation,
    OperationOutcome,
    Search,
    StatementRun,
    ToolCall,
)
from kgagent.settings import Settings

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider

_OPERATION_NAMES: dict[type[Operation], str] = {
    ToolCall: "tool",
    Search: "search",
    EmbeddingRequest: "embedding",
    StatementRun: "statement",
}


class CompositeObserver:
    """Lets several observers watch each operation; the first one is outermost."""

    def __init__(self, *observers: Observer) -> None:
        self._observers = observers

    @contextmanager
    def watch(self, operation: Operation) -> Iterator[OperationOutcome]:
        """Let each observer watch an operation."""
        with ExitStack() as stack:
            outcomes = [
                stack.enter_context(observer.watch(operation)) for observer in self._observers
            ]
            outcome = OperationOutcome()
            yield outcome
            for observed in outcomes:
                observed.error, observed.rows = outcome.error, outcome.rows


class EndObserver(ABC):
    """Waits for the end of each operation, and names the error that it raised."""

    @contextmanager
    def watch(self, operation: Operation) -> Iterator[OperationOutcome]:
        """Watch an operation and handle its end."""
        outcome = OperationOutcome()
        started = time.perf_counter()
        try:
            yield outcome
        except BaseException as error:
            outcome.error = type(error).__name__
            raise
        finally:
            self._handle(operation, outcome, time.perf_counter() - started)

    @abstractmethod
    def _handle(self, operation: Operation, outcome: OperationOutcome, seconds: float) -> None:
        """Handle the end of an operation, which took this many seconds."""


class LogObserver(EndObserver):
    """Logs each operation when it ends: tool calls at INFO, searches, embeddings and statements at
    DEBUG.

    Fields: `operation` (tool, search, embedding or statement), a field of that name with the
    operation's name, `seconds`, `error_type` if it failed, `rows`, and the attributes of the
    operation except the user.
    """

    def __init__(self, logger: logging.Logger | None = None) -> None:
        """Log to a logger; the default is `kgagent.operations`."""
        self._log = logger or logging.getLogger("kgagent.operations")

    def _handle(self, operation: Operation, outcome: OperationOutcome, seconds: float) -> None:
        """Log an operation."""
        level = logging.INFO if isinstance(operation, ToolCall) else logging.DEBUG
        if not self._log.isEnabledFor(level):
            return
        attributes = {
            key: value for key, value in asdict(operation).items() if key not in {"name", "user_id"}
        }
        kind = _OPERATION_NAMES[type(operation)]
        name = operation.model if isinstance(operation, EmbeddingRequest) else operation.name
        attributes |= {"operation": kind, kind: name, "seconds": round(seconds, 6)}
        attributes |= {"rows": outcome.rows, "error_type": outcome.error}
        fields = {key: value for key, value in attributes.items() if value is not None}
        self._log.log(
            level, "%s %s %s", kind, name, "failed" if outcome.error else "done", extra=fields
        )


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


def open_telemetry(
    *,
    tracer_provider: "TracerProvider | None" = None,
    meter_provider: "MeterProvider | None" = None,
    user_ids: bool = False,
) -> Observer:
    """Return an observer that creates OpenTelemetry spans and metrics.

    Args:
        tracer_provider: receives the spans; None uses the global provider, which drops them unless
            an SDK is set up.
        meter_provider: receives the metrics; None uses the global provider.
        user_ids: whether spans of tool calls have the attribute `user.id`.

    Raises:
        ConfigurationError: the `otel` extra is not installed.
    """
    with require_extra("otel"):
        from kgagent.observability.telemetry import TelemetryObserver
    return TelemetryObserver(
        tracer_provider=tracer_provider, meter_provider=meter_provider, user_ids=user_ids
    )


def observer_from_settings(settings: Settings) -> Observer:
    """Return the observer that the settings name: OpenTelemetry (`otel`), logs (`log_format`
    "json"), both or none.

    Raises:
        ConfigurationError: the `otel` extra is needed and not installed.
    """
    observers: list[Observer] = []
    if settings.otel:
        observers.append(open_telemetry())
    if settings.log_format == "json":
        observers.append(LogObserver())
    return CompositeObserver(*observers) if observers else NULL_OBSERVER
