"""The observer that the settings name."""

from kgagent.observability.composite_observer import CompositeObserver
from kgagent.observability.log_observer import LogObserver
from kgagent.observability.open_telemetry import open_telemetry
from kgagent.observing import NULL_OBSERVER, Observer
from kgagent.settings import Settings


def observer_from_settings(settings: Settings) -> Observer:
    """Return the observer that the settings name: OpenTelemetry (`otel`), logs (`log_format` "json"), both or none.

    Raises:
        ConfigurationError: the `otel` extra is needed and not installed.
    """
    observers: list[Observer] = []
    if settings.otel:
        observers.append(open_telemetry())
    if settings.log_format == "json":
        observers.append(LogObserver())
    return CompositeObserver(*observers) if observers else NULL_OBSERVER
