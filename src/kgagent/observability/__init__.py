"""Watching a graph at work: OpenTelemetry spans and metrics, structured logs, and a record for tests and counts.

Give one of the observers to `KnowledgeGraph.connect(observer=…)`. None of them tells what an operation is about: no
arguments, texts, parameters of statements, answers or messages of errors.
"""

from kgagent.observability.from_settings import observer_of
from kgagent.observability.json_logs import JsonFormatter, write_json_logs
from kgagent.observability.log_observer import LogObserver
from kgagent.observability.open_telemetry import open_telemetry
from kgagent.observability.recorder import Recorded, Recorder
from kgagent.observability.together import Observers

__all__ = [
    "JsonFormatter",
    "LogObserver",
    "Observers",
    "Recorded",
    "Recorder",
    "observer_of",
    "open_telemetry",
    "write_json_logs",
]
