"""The observer that the settings ask for."""

from kgagent.observability.log_observer import LogObserver
from kgagent.observability.open_telemetry import open_telemetry
from kgagent.observability.together import Observers
from kgagent.observing import NULL_OBSERVER, Observer
from kgagent.settings import Settings


def observer_of(settings: Settings) -> Observer:
    """The observer that the settings ask for: none, OpenTelemetry (`otel`), log records (`log_format` "json"), or both.

    Raises:
        ConfigurationError: OpenTelemetry is asked for and not installed.
    """
    observers: list[Observer] = []
    if settings.otel:
        observers.append(open_telemetry())
    if settings.log_format == "json":
        observers.append(LogObserver())
    return Observers(*observers) if observers else NULL_OBSERVER
