"""Log records as JSON, one object per line."""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any

from kgagent.observing import current_tool

_STANDARD_FIELDS = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class JsonFormatter(logging.Formatter):
    """Writes time (UTC), level, logger, message, and the fields given as `extra`.

    `tool` is the tool that the code runs for, `trace_id` and `span_id` identify the current
    OpenTelemetry span, and `exception` holds the traceback of an exception.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Format a record as one line."""
        fields: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if tool := current_tool():
            fields["tool"] = tool
        fields |= _span()
        fields |= {key: value for key, value in vars(record).items() if key not in _STANDARD_FIELDS}
        if record.exc_info:
            fields["exception"] = self.formatException(record.exc_info)
        return json.dumps(fields, ensure_ascii=False, default=str)


def _span() -> dict[str, str]:
    # Without an import of OpenTelemetry there cannot be a span, and the import would be slow.
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:
        return {}
    context = trace.get_current_span().get_span_context()
    if not context.is_valid:
        return {}
    return {"trace_id": f"{context.trace_id:032x}", "span_id": f"{context.span_id:016x}"}


def write_json_logs() -> None:
    """Write the log of this program to stderr as JSON: kgagent's from level INFO, others' from
    WARNING.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter())
    logging.getLogger().addHandler(handler)
    logging.getLogger("kgagent").setLevel(logging.INFO)
