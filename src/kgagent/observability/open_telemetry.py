"""OpenTelemetry spans and metrics; the `otel` extra is imported at the first use."""

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
    """Return an observer that creates OpenTelemetry spans and metrics.

    Args:
        tracer_provider: receives the spans; None uses the global provider, which drops them unless an SDK is set up.
        meter_provider: receives the metrics; None uses the global provider.
        user_ids: whether spans of tool calls have the attribute `user.id`.

    Raises:
        ConfigurationError: the `otel` extra is not installed.
    """
    with require_extra("otel"):
        from kgagent.observability.telemetry_observer import TelemetryObserver
    return TelemetryObserver(tracer_provider=tracer_provider, meter_provider=meter_provider, user_ids=user_ids)
