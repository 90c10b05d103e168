"""Log records as one JSON object a line."""

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any

from kgagent.observing import current_tool

_PLAIN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class JsonFormatter(logging.Formatter):
    """Writes time (UTC), level, logger, message, and the fields given as `extra`.

    The tool on whose behalf the code runs stands in `tool`; the identifiers of the current OpenTelemetry span, where
    there is one, stand in `trace_id` and `span_id`, and an exception's traceback in `exception`.
    """

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        told: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if tool := current_tool():
            told["tool"] = tool
        told |= _span()
        told |= {key: value for key, value in vars(record).items() if key not in _PLAIN}
        if record.exc_info:
            told["exception"] = self.formatException(record.exc_info)
        return json.dumps(told, ensure_ascii=False, default=str)


def _span() -> dict[str, str]:
    # Where nobody imported OpenTelemetry there is no span, and it stays so.
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:
        return {}
    context = trace.get_current_span().get_span_context()
    if not context.is_valid:
        return {}
    return {"trace_id": f"{context.trace_id:032x}", "span_id": f"{context.span_id:016x}"}


def write_json_logs() -> None:
    """Have this program write its log to stderr as JSON: kgagent's from INFO on, others' from WARNING on."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter())
    logging.getLogger().addHandler(handler)
    logging.getLogger("kgagent").setLevel(logging.INFO)
