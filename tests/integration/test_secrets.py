"""Passwords, API keys and access tokens occur in no answer, log, error, `repr`, span or output of a
command.
"""

import logging
import traceback
import uuid

import httpx2
import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic import SecretStr
from typer.testing import CliRunner

from kgagent import KgAgentError, KnowledgeGraph, Settings
from kgagent.adapters.mcp import AccessTokens, HttpOptions, http_server
from kgagent.cli.app import app
from kgagent.embedding.base import Embedder
from kgagent.embedding.openai import OpenAIEmbedder
from kgagent.observability import open_telemetry
from tests.conftest import Server
from tests.support.mcp_clients import over_http
from tests.support.openai_server import API_KEY, OpenAIServer, status

COMMANDS = (
    ("status",),
    ("status", "--json"),
    ("init",),
    ("doctor", "--user", "ada", "--json"),
    ("search", "mentors"),
    ("mcp", "--check"),
)


@pytest.fixture
def canary() -> str:
    return f"canary{uuid.uuid4().hex}{uuid.uuid4().hex}"


def written(caplog: pytest.LogCaptureFixture) -> str:
    """All that was logged at any level, with exceptions, and the fields of the records."""
    return caplog.text + "".join(repr(vars(record)) for record in caplog.records)


@pytest.mark.parametrize("place", ["password", "address", "query", "key", "base address"])
def test_no_command_prints_a_secret(place: str, canary: str, server: Server) -> None:
    # Wrong passwords would lock the user of all tests.
    gone = "bolt://127.0.0.1:9"
    environment: dict[str, str | None] = {
        "NEO4J_URI": gone,
        "NEO4J_PASSWORD": "password",
        "KGAGENT_EMBEDDER": "openai",
        "OPENAI_API_KEY": "key",
        "OPENAI_BASE_URL": "http://127.0.0.1:9/v1",
        "KGAGENT_EMBEDDING_ATTEMPTS": "1",
    }
    reached = {"NEO4J_URI": server.uri, "NEO4J_PASSWORD": server.password}
    match place:
        case "password":
            environment["NEO4J_PASSWORD"] = canary
        case "address":
            environment["NEO4J_URI"] = gone.replace("//", f"//neo4j:{canary}@")
        case "query":
            environment["NEO4J_URI"] = f"{gone}?password={canary}"
        case "key":
            environment |= {"OPENAI_API_KEY": canary} | reached
        case _:
            environment |= {"OPENAI_BASE_URL": f"ftp://me:{canary}@127.0.0.1:9/v1"} | reached
    for command in COMMANDS:
        done = CliRunner().invoke(app, command, env=environment)
        assert done.output
        assert canary not in done.output, command
        assert canary not in "".join(traceback.format_exception(done.exception))


def test_no_repr_has_a_secret(canary: str) -> None:
    settings = Settings(
        _env_file=None,
        neo4j_uri=f"bolt://neo4j:{canary}@host",
        neo4j_password=SecretStr(canary),
        openai_api_key=SecretStr(canary),
        openai_base_url=f"https://me:{canary}@host/v1?key={canary}",
    )
    tokens = AccessTokens({SecretStr(canary): "ada"})
    embedder = OpenAIEmbedder(api_key=canary)
    for one in (settings, tokens, HttpOptions(tokens=tokens), embedder):
        assert canary not in f"{one!r} {one}"


async def test_the_password_of_an_open_graph_is_in_no_log_span_or_error(
    server: Server,
    settings: Settings,
    embedder: Embedder,
    user_id: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.DEBUG, "neo4j")
    exporter, tracers = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False)
    tracers.add_span_processor(SimpleSpanProcessor(exporter))
    observer = open_telemetry(tracer_provider=tracers)
    async with KnowledgeGraph.connect(
        settings=settings, embedder=embedder, observer=observer
    ) as graph:
        tools = graph.tools(user_id=user_id)
        assert (await tools.create_node(label="Concept", name="Sailing"))["success"]
        answers = [await tools.create_node(label="?"), await tools.hybrid_search(query="sailing")]
        shown = f"{graph!r} {graph.settings!r} {tools!r} {answers}"
    wrong = settings.model_copy(update={"neo4j_username": user_id})
    with pytest.raises(KgAgentError) as raised:
        await KnowledgeGraph.connect(settings=wrong, embedder=embedder)
    error = "".join(traceback.format_exception(raised.value))
    spans = "".join(span.to_json() for span in exporter.get_finished_spans())
    assert "create_node" in spans
    assert "neo4j" in {record.name.partition(".")[0] for record in caplog.records}
    for text in (written(caplog), spans, error, shown):
        assert server.password not in text


async def test_the_api_key_is_in_no_log_or_error_even_if_the_server_repeats_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    with OpenAIServer() as openai:
        embedder = OpenAIEmbedder(api_key=API_KEY, base_url=openai.base_url, attempts=1)
        assert len(await embedder.embed(["sailing"])) == 1
        for code in (400, 401, 403, 404, 429, 500):
            openai.fail_next(status(code, message=f"Incorrect API key provided: {API_KEY}"))
            with pytest.raises(KgAgentError) as raised:
                await embedder.embed(["sailing"])
            assert API_KEY not in "".join(traceback.format_exception(raised.value)), code
        await embedder.aclose()
    assert "openai" in {record.name.partition(".")[0] for record in caplog.records}
    assert API_KEY not in written(caplog)


async def test_an_access_token_is_in_no_log_or_answer(
    graph: KnowledgeGraph, canary: str, user_id: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    tokens = AccessTokens({SecretStr(canary): user_id})
    async with http_server(graph, HttpOptions(tokens=tokens)) as server:
        async with over_http(server.url, token=canary) as client:
            answer = await client.call_tool("hybrid_search", {"query": "sailing"})
        async with httpx2.AsyncClient() as plain:
            for header in (
                f"Bearer {canary}x",
                f"Basic {canary}",
                f"Bearer {canary} {canary}",
                canary,
            ):
                refused = await plain.post(server.url, json={}, headers={"Authorization": header})
                assert refused.status_code == 401
                assert canary not in refused.text + str(refused.headers)
    logged = [
        record
        for record in caplog.records
        if not record.name.startswith(("httpx", "httpcore", "mcp.client"))
    ]
    assert logged
    assert canary not in repr(answer) + "".join(repr(vars(record)) for record in logged)
