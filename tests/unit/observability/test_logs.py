import json
import logging
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider

from kgagent.observability import (
    CompositeObserver,
    JsonFormatter,
    LogObserver,
    Recorder,
    observer_from_settings,
)
from kgagent.observing import NULL_OBSERVER, within_tool
from kgagent.operations import EmbeddingRequest, Search, StatementRun, ToolCall
from kgagent.settings import Settings

CALL = ToolCall("explore", "somebody")
STATEMENT = StatementRun("read_pairs", "read", "bolt://localhost:7687", None)
EMBEDDING = EmbeddingRequest("openai", "text-embedding-3-small", 1536, 3)


def formatted(**fields: Any) -> dict[str, Any]:
    record = logging.makeLogRecord(
        {"name": "kgagent.x", "levelname": "INFO", "msg": "%s met", "args": ("Ada",)} | fields
    )
    fields = json.loads(JsonFormatter().format(record))
    assert isinstance(fields, dict)
    return fields


def test_a_record_is_one_json_object_with_its_extra_fields() -> None:
    fields = formatted(seconds=0.5, created=0.0)
    assert fields == {
        "time": "1970-01-01T00:00:00.000+00:00",
        "level": "INFO",
        "logger": "kgagent.x",
        "message": "Ada met",
        "seconds": 0.5,
    }


def test_a_record_names_the_tool_that_it_was_made_for() -> None:
    with within_tool("explore"):
        assert formatted()["tool"] == "explore"
    assert "tool" not in formatted()


def test_a_record_within_a_span_names_it() -> None:
    provider = TracerProvider(shutdown_on_exit=False)
    with provider.get_tracer("test").start_as_current_span("outer") as span:
        fields = formatted()
    assert fields["trace_id"] == f"{span.get_span_context().trace_id:032x}"
    assert fields["span_id"] == f"{span.get_span_context().span_id:016x}"


def test_an_exception_has_its_own_field() -> None:
    error = ValueError("no such thing")
    assert "no such thing" in formatted(exc_info=(ValueError, error, None))["exception"]


def test_tool_calls_are_logged_without_the_user(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "kgagent.operations")
    with LogObserver().watch(CALL) as outcome:
        outcome.error = "InputError"
    [record] = caplog.records
    assert record.getMessage() == "tool explore failed"
    assert vars(record)["error_type"] == "InputError"
    assert "somebody" not in str(vars(record))


def test_searches_embeddings_and_statements_are_logged_at_debug(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG, "kgagent.operations")
    for operation in (Search("explore"), EMBEDDING, STATEMENT):
        with LogObserver().watch(operation):
            pass
    assert [record.levelname for record in caplog.records] == ["DEBUG"] * 3
    assert vars(caplog.records[1])["texts"] == 3
    assert vars(caplog.records[2])["statement"] == "read_pairs"


def test_an_operation_that_raises_is_logged_and_raises(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "kgagent.operations")
    with pytest.raises(KeyError), LogObserver().watch(STATEMENT):
        raise KeyError("gone")
    assert vars(caplog.records[0])["error_type"] == "KeyError"


def test_several_observers_see_the_same_outcome() -> None:
    first, second = Recorder(), Recorder()
    with CompositeObserver(first, second).watch(STATEMENT) as outcome:
        outcome.rows = 7
    for recorder in (first, second):
        [seen] = recorder.operations
        assert (seen.operation, seen.outcome.rows) == (STATEMENT, 7)


def test_the_settings_choose_the_observer() -> None:
    assert observer_from_settings(Settings(_env_file=None)) is NULL_OBSERVER
    assert (
        observer_from_settings(Settings(_env_file=None, otel=True, log_format="json"))
        is not NULL_OBSERVER
    )
