"""Operations as structured log records."""

import logging
from dataclasses import asdict

from kgagent.observability.ended import EndObserver
from kgagent.observing import EmbeddingRequest, Operation, OperationOutcome, Search, StatementRun, ToolCall

_KINDS: dict[type[Operation], str] = {
    ToolCall: "tool",
    Search: "search",
    EmbeddingRequest: "embedding",
    StatementRun: "statement",
}


class LogObserver(EndObserver):
    """Logs each operation when it has ended: tool calls at INFO, what they consist of at DEBUG.

    Fields: `operation` (tool, search, embedding or statement), its name in a field of that name, `seconds`,
    `error_type` where it failed, `rows`, and what the operation says of itself, the user left out.
    """

    def __init__(self, logger: logging.Logger | None = None) -> None:
        """Log to a logger; left out, to `kgagent.operations`."""
        self._log = logger or logging.getLogger("kgagent.operations")

    def _ended(self, operation: Operation, outcome: OperationOutcome, seconds: float) -> None:
        """Log an operation."""
        level = logging.INFO if isinstance(operation, ToolCall) else logging.DEBUG
        if not self._log.isEnabledFor(level):
            return
        told = {key: value for key, value in asdict(operation).items() if key not in {"name", "user_id"}}
        kind = _KINDS[type(operation)]
        name = operation.model if isinstance(operation, EmbeddingRequest) else operation.name
        told |= {"operation": kind, kind: name, "seconds": round(seconds, 6)}
        told |= {"rows": outcome.rows, "error_type": outcome.error}
        fields = {key: value for key, value in told.items() if value is not None}
        self._log.log(level, "%s %s %s", kind, name, "failed" if outcome.error else "done", extra=fields)
