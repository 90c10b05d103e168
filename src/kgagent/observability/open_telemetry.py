"""Spans and metrics; the `otel` extra is imported when they are first asked for."""

from typing import TYPE_CHECKING

from kgagent.extras import require_extra

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider

    from kgagent.observing import Observer


def open_telemetry(
    *,
    tracer_provider: "TracerProvider | None" = None,
    meter_provider: "MeterProvider | None" = None,
    user_ids: bool = False,
) -> "Observer":
    """An observer that makes OpenTelemetry spans and metrics.

    Args:
        tracer_provider: takes the spans; None is the program's own, which keeps none unless an SDK was set up.
        meter_provider: takes the metrics; None likewise.
        user_ids: whether spans of tool calls say whose graph they work on, as `user.id`.

    Raises:
        ConfigurationError: the `otel` extra is not installed.
    """
    with require_extra("otel"):
        from kgagent.observability.telemetry import Telemetry
    return Telemetry(tracer_provider=tracer_provider, meter_provider=meter_provider, user_ids=user_ids)
