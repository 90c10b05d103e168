"""Observers of a graph: OpenTelemetry spans and metrics, structured logs, and a recorder for tests and counts.

Pass one of them to `KnowledgeGraph.connect(observer=…)`. They report no content: no arguments, texts, parameters of
statements, results or error messages.
"""

from kgagent.observability.composite_observer import CompositeObserver
from kgagent.observability.json_logs import JsonFormatter, write_json_logs
from kgagent.observability.log_observer import LogObserver
from kgagent.observability.observer_from_settings import observer_from_settings
from kgagent.observability.open_telemetry import open_telemetry
from kgagent.observability.recorder import RecordedOperation, Recorder

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
