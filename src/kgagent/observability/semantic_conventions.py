"""Operations described by OpenTelemetry's semantic conventions for databases (`db.*`) and AI (`gen_ai.*`).

Conventions: opentelemetry.io/docs/specs/semconv, "Database client spans", "GenAI spans" and "Execute tool span". Names
that they do not define begin with `kgagent.`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from opentelemetry.trace import SpanKind

from kgagent.operations import EmbeddingRequest, Operation, Search, StatementRun, ToolCall

TOOL_DURATION = "gen_ai.execute_tool.duration"
SEARCH_DURATION = "kgagent.search.duration"
EMBEDDING_DURATION = "gen_ai.client.operation.duration"
STATEMENT_DURATION = "db.client.operation.duration"

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
            return SpanDescription(f"search {operation.name}", SpanKind.INTERNAL, SEARCH_DURATION, name, {})
        case EmbeddingRequest():
            return _embedding(operation)
        case StatementRun():
            return _statement(operation)


def _tool(call: ToolCall, *, user_ids: bool) -> SpanDescription:
    common = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": call.name}
    own = {"gen_ai.tool.type": "function"} | ({"user.id": call.user_id} if user_ids else {})
    return SpanDescription(f"execute_tool {call.name}", SpanKind.INTERNAL, TOOL_DURATION, common, own)


def _embedding(request: EmbeddingRequest) -> SpanDescription:
    common = {
        "gen_ai.operation.name": "embeddings",
        "gen_ai.provider.name": request.provider,
        "gen_ai.request.model": request.model,
    }
    own = {"gen_ai.embeddings.dimension.count": request.dimensions, "kgagent.embedding.texts": request.texts}
    return SpanDescription(f"embeddings {request.model}", SpanKind.CLIENT, EMBEDDING_DURATION, common, own)


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
