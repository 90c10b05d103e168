"""Operations as structured log records."""

import logging
from dataclasses import asdict

from kgagent.observability.end_observer import EndObserver
from kgagent.operations import EmbeddingRequest, Operation, OperationOutcome, Search, StatementRun, ToolCall

_OPERATION_NAMES: dict[type[Operation], str] = {
    ToolCall: "tool",
    Search: "search",
    EmbeddingRequest: "embedding",
    StatementRun: "statement",
}


class LogObserver(EndObserver):
    """Logs each operation when it ends: tool calls at INFO, searches, embeddings and statements at DEBUG.

    Fields: `operation` (tool, search, embedding or statement), a field of that name with the operation's name,
    `seconds`, `error_type` if it failed, `rows`, and the attributes of the operation except the user.
    """

    def __init__(self, logger: logging.Logger | None = None) -> None:
        """Log to a logger; the default is `kgagent.operations`."""
        self._log = logger or logging.getLogger("kgagent.operations")

    def _handle(self, operation: Operation, outcome: OperationOutcome, seconds: float) -> None:
        """Log an operation."""
        level = logging.INFO if isinstance(operation, ToolCall) else logging.DEBUG
        if not self._log.isEnabledFor(level):
            return
        attributes = {key: value for key, value in asdict(operation).items() if key not in {"name", "user_id"}}
        kind = _OPERATION_NAMES[type(operation)]
        name = operation.model if isinstance(operation, EmbeddingRequest) else operation.name
        attributes |= {"operation": kind, kind: name, "seconds": round(seconds, 6)}
        attributes |= {"rows": outcome.rows, "error_type": outcome.error}
        fields = {key: value for key, value in attributes.items() if value is not None}
        self._log.log(level, "%s %s %s", kind, name, "failed" if outcome.error else "done", extra=fields)
