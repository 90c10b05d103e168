"""Observers of a graph: OpenTelemetry spans and metrics, and a recorder for tests and counts.

Pass one of them to `KnowledgeGraph.connect(observer=…)`. They report no content: no arguments,
texts, parameters of statements, results or error messages.
"""

from typing import TYPE_CHECKING

from kgagent.extras import require_extra
from kgagent.observability.recorder import RecordedOperation, Recorder
from kgagent.observing import NULL_OBSERVER, Observer

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider

    from kgagent.settings import Settings

__all__ = ["RecordedOperation", "Recorder", "observer_from_settings", "open_telemetry"]


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


def observer_from_settings(settings: "Settings") -> Observer:
    """Return the observer of the command line: OpenTelemetry (`otel`) or none.

    Raises:
        ConfigurationError: the `otel` extra is needed and not installed.
    """
    return open_telemetry() if settings.otel else NULL_OBSERVER
