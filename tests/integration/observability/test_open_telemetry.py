from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from kgagent import KnowledgeGraph, Toolset
from kgagent.embedding.base import Embedder
from kgagent.errors import EmbeddingUnavailableError, StoreError
from kgagent.knowledge_graph import services_of
from kgagent.observability import open_telemetry
from tests.conftest import Clock
from tests.support.embedders import WatchedEmbedder
from tests.support.graphs import watched_graph
from tests.support.payloads import error_of
from tests.support.people import person, relate

SECRETS = ("Quillfeather", "Zanzibar", "sesquipedalian", "hush-hush")
"""Words that stand in names, texts, queries and notes of the calls below."""


@dataclass(frozen=True)
class Seen:
    """What the SDK took in."""

    exporter: InMemorySpanExporter
    reader: InMemoryMetricReader
    tracers: TracerProvider
    meters: MeterProvider

    @property
    def spans(self) -> tuple[ReadableSpan, ...]:
        return self.exporter.get_finished_spans()

    def named(self, name: str) -> ReadableSpan:
        [span] = [span for span in self.spans if span.name == name]
        return span

    def below(self, span: ReadableSpan) -> list[str]:
        """Names of a span's children."""
        assert span.context is not None
        return [
            one.name
            for one in self.spans
            if one.parent is not None and one.parent.span_id == span.context.span_id
        ]

    def points(self, metric: str) -> list[Any]:
        data = self.reader.get_metrics_data()
        assert data is not None
        return [
            point
            for resource in data.resource_metrics
            for scope in resource.scope_metrics
            for one in scope.metrics
            if one.name == metric
            for point in one.data.data_points
        ]

    def exported_text(self) -> str:
        """All that would leave the program."""
        data = self.reader.get_metrics_data()
        return "".join(span.to_json() for span in self.spans) + (
            "" if data is None else data.to_json()
        )


@pytest.fixture
def seen() -> Iterator[Seen]:
    exporter, reader = InMemorySpanExporter(), InMemoryMetricReader()
    tracers, meters = (
        TracerProvider(shutdown_on_exit=False),
        MeterProvider([reader], shutdown_on_exit=False),
    )
    tracers.add_span_processor(SimpleSpanProcessor(exporter))
    yield Seen(exporter, reader, tracers, meters)
    tracers.shutdown()
    meters.shutdown()


def watched(
    opened: KnowledgeGraph, embedder: Embedder, seen: Seen, clock: Clock, **more: bool
) -> KnowledgeGraph:
    observer = open_telemetry(tracer_provider=seen.tracers, meter_provider=seen.meters, **more)
    return watched_graph(opened, embedder, observer, clock)


@pytest.fixture
async def graph(
    opened: KnowledgeGraph, embedder: WatchedEmbedder, seen: Seen, clock: Clock
) -> KnowledgeGraph:
    """A graph with an observer that creates spans and metrics."""
    return watched(opened, embedder, seen, clock)


def attributes(span: ReadableSpan) -> Mapping[str, Any]:
    assert span.attributes is not None
    return span.attributes


async def test_statements_and_embeddings_are_children_of_the_search_of_a_tool(
    tools: Toolset, seen: Seen, embedder: Embedder
) -> None:
    await tools.explore(queries=[{"query": "mentors"}])
    tool = seen.named("execute_tool explore")
    assert tool.parent is None
    assert seen.below(tool) == ["search explore"]
    search = seen.named("search explore")
    below = seen.below(search)
    assert [name for name in below if name.startswith("embeddings ")] == [
        f"embeddings {embedder.model}"
    ]
    assert {"search_statements_exact", "search_statements_text"} <= set(below)
    assert len({span.context.trace_id for span in seen.spans if span.context}) == 1


async def test_a_write_shows_what_it_reads_embeds_and_writes(
    tools: Toolset, seen: Seen, embedder: Embedder
) -> None:
    first, second = await person(tools, "Ada"), await person(tools, "Bo")
    seen.exporter.clear()
    await relate(tools, first, second, description="They met at school")
    assert seen.below(seen.named("execute_tool create_relationship")) == [
        "read_pairs",
        f"embeddings {embedder.model}",
        "write_records",
    ]


async def test_spans_speak_the_semantic_conventions(
    tools: Toolset, seen: Seen, embedder: Embedder
) -> None:
    await tools.create_node(label="Person", name="Ada", description="A neighbour")
    tool = attributes(seen.named("execute_tool create_node"))
    assert tool == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "create_node",
        "gen_ai.tool.type": "function",
    }
    embedding = attributes(seen.named(f"embeddings {embedder.model}"))
    assert embedding["gen_ai.operation.name"] == "embeddings"
    assert embedding["gen_ai.request.model"] == embedder.model
    assert embedding["gen_ai.embeddings.dimension.count"] == embedder.dimensions
    assert embedding["kgagent.embedding.texts"] == 1
    [written] = [
        attributes(s) for s in seen.spans if attributes(s).get("db.operation.name") == "write"
    ]
    assert written["db.system.name"] == "neo4j"
    assert written["db.query.summary"] == "write_records"
    assert written["db.response.returned_rows"] == 1
    assert written["server.port"] > 0


async def test_no_text_parameter_user_or_message_leaves_the_program(
    tools: Toolset, seen: Seen, user_id: str
) -> None:
    who, place, odd, note = SECRETS
    first, second = await person(tools, who), await person(tools, place)
    await relate(tools, first, second, description=f"A {odd} friendship", notes=[note])
    await tools.explore(queries=[{"query": odd}], text_matches=[who])
    await tools.hybrid_search(query=f"{odd} {note}")
    assert odd in error_of(await tools.traverse(entity_key=first, direction=odd))
    assert place in error_of(await tools.update_node(entity_key=f"{place} unknown", name=who))
    exported = seen.exported_text()
    assert "execute_tool explore" in exported
    for secret in (*SECRETS, user_id, first, second):
        assert secret not in exported
    assert all(not span.events for span in seen.spans)


async def test_spans_have_the_user_id_on_request(
    opened: KnowledgeGraph, embedder: WatchedEmbedder, seen: Seen, clock: Clock, user_id: str
) -> None:
    graph = watched(opened, embedder, seen, clock, user_ids=True)
    await graph.tools(user_id=user_id).describe_graph()
    assert attributes(seen.named("execute_tool describe_graph"))["user.id"] == user_id


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        ({"entity_key": "nobody's", "name": "Ada"}, "NodeNotFoundError"),
        ({"entity_key": 7}, "InputError"),
    ],
)
async def test_a_refused_call_is_an_error_of_its_kind(
    tools: Toolset, seen: Seen, arguments: dict[str, Any], kind: str
) -> None:
    error_of(await tools.update_node(**arguments))
    span = seen.named("execute_tool update_node")
    assert span.status.status_code is StatusCode.ERROR
    assert span.status.description is None
    assert attributes(span)["error.type"] == kind
    [errors] = [
        point for point in seen.points("kgagent.errors") if point.attributes["gen_ai.tool.name"]
    ]
    assert (errors.value, errors.attributes["error.type"]) == (1, kind)


async def test_a_call_with_unnamed_arguments_is_seen_too(tools: Toolset, seen: Seen) -> None:
    error_of(await tools.update_node("Ada"))
    assert attributes(seen.named("execute_tool update_node"))["error.type"] == "InputError"


async def test_an_embedder_that_fails_marks_its_span_and_the_tools(
    tools: Toolset, seen: Seen, embedder: WatchedEmbedder
) -> None:
    embedder.failure = EmbeddingUnavailableError("the model is away")
    error_of(await tools.create_node(label="Person", name="Ada"))
    for name in (f"embeddings {embedder.model}", "execute_tool create_node"):
        assert attributes(seen.named(name))["error.type"] == "EmbeddingUnavailableError"


async def test_a_statement_that_fails_says_the_servers_code(
    graph: KnowledgeGraph, seen: Seen
) -> None:
    with pytest.raises(StoreError):
        await services_of(graph).store.read("RETURN no_such_variable", {})
    span = attributes(seen.named("unnamed"))
    assert span["error.type"] == "StatementValueError"
    assert span["db.response.status_code"] == "Neo.ClientError.Statement.SyntaxError"


async def test_metrics_count_calls_texts_and_time(
    tools: Toolset, seen: Seen, embedder: Embedder
) -> None:
    for name in ("Ada", "Bo"):
        await tools.create_node(label="Person", name=name)
    [calls] = seen.points("gen_ai.execute_tool.duration")
    assert (calls.count, calls.attributes["gen_ai.tool.name"]) == (2, "create_node")
    assert calls.sum > 0
    [texts] = seen.points("kgagent.embedding.texts")
    assert (texts.value, texts.attributes["gen_ai.request.model"]) == (2, embedder.model)
    statements = {
        point.attributes["db.query.summary"]
        for point in seen.points("db.client.operation.duration")
    }
    assert statements == {"write_records"}


async def test_a_cached_query_has_no_embedding_span(tools: Toolset, seen: Seen) -> None:
    await tools.hybrid_search(query="mentors")
    seen.exporter.clear()
    await tools.hybrid_search(query="mentors")
    assert [span.name for span in seen.spans if span.name.startswith("embeddings")] == []
