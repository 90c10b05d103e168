"""OpenTelemetry spans and metrics of operations.

Names are those of the semantic conventions for databases (`db.*`) and AI (`gen_ai.*`) at
opentelemetry.io/docs/specs, "Database client spans", "GenAI spans" and "Execute tool span"; others
begin with `kgagent.`.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from urllib.parse import urlsplit

from opentelemetry.metrics import Meter, MeterProvider, get_meter
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, TracerProvider, get_tracer

from kgagent.operations import (
    EmbeddingRequest,
    Operation,
    OperationOutcome,
    Search,
    StatementRun,
    ToolCall,
)

TOOL_DURATION = "gen_ai.execute_tool.duration"
SEARCH_DURATION = "kgagent.search.duration"
EMBEDDING_DURATION = "gen_ai.client.operation.duration"
STATEMENT_DURATION = "db.client.operation.duration"

SCOPE = "kgagent"

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper bounds of the histograms' buckets."""

Attributes = Mapping[str, str | int]


@dataclass(frozen=True)
class SpanDescription:
    """The span and the metrics of an operation.

    Attributes:
        span: name of the span.
        kind: CLIENT if another system does the work.
        duration: name of the histogram of its seconds.
        common: attributes of the span and of the metrics; each has few different values.
        own: attributes of the span only.
    """

    span: str
    kind: SpanKind
    duration: str
    common: Attributes
    own: Attributes


def describe(operation: Operation, *, user_ids: bool) -> SpanDescription:
    """Describe an operation."""
    match operation:
        case ToolCall():
            return _tool(operation, user_ids=user_ids)
        case Search():
            name = {"kgagent.search.name": operation.name}
            return SpanDescription(
                f"search {operation.name}", SpanKind.INTERNAL, SEARCH_DURATION, name, {}
            )
        case EmbeddingRequest():
            return _embedding(operation)
        case StatementRun():
            return _statement(operation)


def _tool(call: ToolCall, *, user_ids: bool) -> SpanDescription:
    common = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": call.name}
    own = {"gen_ai.tool.type": "function"} | ({"user.id": call.user_id} if user_ids else {})
    return SpanDescription(
        f"execute_tool {call.name}", SpanKind.INTERNAL, TOOL_DURATION, common, own
    )


def _embedding(request: EmbeddingRequest) -> SpanDescription:
    common = {
        "gen_ai.operation.name": "embeddings",
        "gen_ai.provider.name": request.provider,
        "gen_ai.request.model": request.model,
    }
    own = {
        "gen_ai.embeddings.dimension.count": request.dimensions,
        "kgagent.embedding.texts": request.texts,
    }
    return SpanDescription(
        f"embeddings {request.model}", SpanKind.CLIENT, EMBEDDING_DURATION, common, own
    )


def _statement(run: StatementRun) -> SpanDescription:
    common: dict[str, str | int] = {
        "db.system.name": "neo4j",
        "db.operation.name": run.access,
        "db.query.summary": run.name,
    }
    if run.database is not None:
        common["db.namespace"] = run.database
    server = urlsplit(run.uri)
    own: dict[str, str | int] = {}
    if server.hostname:
        own["server.address"] = server.hostname
    if server.port:
        own["server.port"] = server.port
    return SpanDescription(run.name, SpanKind.CLIENT, STATEMENT_DURATION, common, own)


class Metrics:
    """Durations, counts and failures of operations, and the number of embedded texts."""

    def __init__(self, meter: Meter) -> None:
        self._durations = {
            name: meter.create_histogram(
                name, "s", text, explicit_bucket_boundaries_advisory=SECONDS
            )
            for name, text in (
                (TOOL_DURATION, "Duration of tool calls."),
                (SEARCH_DURATION, "Duration of searches."),
                (EMBEDDING_DURATION, "Duration of requests for embeddings."),
                (STATEMENT_DURATION, "Duration of statements."),
            )
        }
        self._operations = meter.create_counter(
            "kgagent.operations", "{operation}", "Operations that ended."
        )
        self._errors = meter.create_counter(
            "kgagent.errors", "{operation}", "Operations that failed."
        )
        self._texts = meter.create_counter(
            "kgagent.embedding.texts", "{text}", "Texts of requests for embeddings."
        )

    def count(
        self,
        operation: Operation,
        described: SpanDescription,
        outcome: OperationOutcome,
        seconds: float,
    ) -> None:
        """Count one operation."""
        error = {"error.type": outcome.error} if outcome.error else {}
        self._durations[described.duration].record(seconds, {**described.common, **error})
        self._operations.add(1, described.common)
        if outcome.error:
            self._errors.add(1, {**described.common, **error})
        if isinstance(operation, EmbeddingRequest):
            self._texts.add(operation.texts, described.common)


class TelemetryObserver:
    """Creates a span for each operation, and counts it."""

    def __init__(
        self,
        *,
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
        user_ids: bool = False,
    ) -> None:
        """Arguments are those of `open_telemetry`."""
        self._tracer = get_tracer(SCOPE, version("kgagent"), tracer_provider)
        self._metrics = Metrics(get_meter(SCOPE, version("kgagent"), meter_provider))
        self._user_ids = user_ids

    @contextmanager
    def watch(self, operation: Operation) -> Iterator[OperationOutcome]:
        """Create a span that is current while the operation runs."""
        described = describe(operation, user_ids=self._user_ids)
        outcome = OperationOutcome()
        started = time.perf_counter()
        # Error messages repeat values of the caller, so the API must not record them.
        with self._tracer.start_as_current_span(
            described.span,
            kind=described.kind,
            attributes={**described.common, **described.own},
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            code: str | None = None
            try:
                yield outcome
            except BaseException as error:
                outcome.error = type(error).__name__
                code = (
                    getattr(error.__cause__, "code", None)
                    if isinstance(operation, StatementRun)
                    else None
                )
                raise
            finally:
                _finish(span, outcome, code)
                self._metrics.count(operation, described, outcome, time.perf_counter() - started)


def _finish(span: Span, outcome: OperationOutcome, code: str | None) -> None:
    if outcome.rows is not None:
        span.set_attribute("db.response.returned_rows", outcome.rows)
    if outcome.error:
        span.set_status(Status(StatusCode.ERROR))
        span.set_attribute("error.type", outcome.error)
    if isinstance(code, str):
        span.set_attribute("db.response.status_code", code)
