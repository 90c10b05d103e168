"""Observers of a graph: OpenTelemetry spans and metrics, structured logs, and a recorder for tests
and counts.

Pass one of them to `KnowledgeGraph.connect(observer=…)`. They report no content: no arguments,
texts, parameters of statements, results or error messages.
"""

from kgagent.observability.json_logs import JsonFormatter, write_json_logs
from kgagent.observability.observers import (
    CompositeObserver,
    LogObserver,
    RecordedOperation,
    Recorder,
    observer_from_settings,
    open_telemetry,
)

__all__ = [
    "JsonFormatter",
    "LogObserver",
    "CompositeObserver",
    "RecordedOperation",
    "Recorder",
    "observer_from_settings",
    "open_telemetry",
    "write_json_logs",
]
