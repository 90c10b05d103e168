"""`kgagent mcp` as a program: what it writes where, and how it ends."""

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp.types import INVALID_REQUEST, PARSE_ERROR

from kgagent.private_files import write_private_file
from tests.integration.adapters.mcp.test_http_access import INITIALIZE
from tests.support.authorization_server import authorization_server
from tests.support.mcp_clients import PROGRAM, call, over_http, over_stdio, text_of
from tests.support.payloads import succeeded

LONGEST = 120.0
EXPLORE: dict[str, Any] = {"name": "explore", "arguments": {"queries": [{"query": "mentors"}]}}


@contextmanager
def spoken_to(
    environment: dict[str, str], folder: Path, *python: str
) -> Iterator[Callable[[str], dict[str, Any]]]:
    """Start `kgagent mcp`; what it gives sends a line and reads the answer to it."""
    interpreter, *program = PROGRAM
    with (folder / "stderr").open("w") as stderr:
        process = subprocess.Popen(
            [interpreter, *python, *program, "mcp"],
            env=environment,
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            encoding="utf-8",
        )

    def answer(line: str) -> dict[str, Any]:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{line}\n")
        process.stdin.flush()
        heard = json.loads(process.stdout.readline())
        assert isinstance(heard, dict)
        return heard

    with process:
        yield answer
        rest, _ = process.communicate(timeout=LONGEST)
    assert (rest, process.returncode) == ("", 0)


def test_stdout_carries_the_protocol_and_nothing_else(
    environment: dict[str, str], tmp_path: Path
) -> None:
    call = {
        "jsonrpc": "2.0",
        "id": 2,
        "method": "tools/call",
        "params": {"name": "explore", "arguments": {"queries": ["x"]}},
    }
    initialized = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    with spoken_to(environment, tmp_path) as answer:
        assert answer(json.dumps(INITIALIZE))["id"] == 1
        called = answer(f"{json.dumps(initialized)}\n{json.dumps(call)}")
    assert (called["id"], called["result"]["isError"]) == (2, False)
    assert "structuredContent" not in called["result"]


@pytest.mark.parametrize(
    ("line", "request_id", "code"),
    [
        (
            r'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": {"a": "\ud800"}}',
            7,
            PARSE_ERROR,
        ),
        (r'{"jsonrpc": "2.0", "id": "a\ud800", "method": "ping"}', None, PARSE_ERROR),
        ('{"jsonrpc": "2.0", "id": 7, "method"', None, PARSE_ERROR),
        ('{"jsonrpc": "2.0", "id": "a"}', "a", INVALID_REQUEST),
    ],
)
def test_a_line_that_is_no_message_is_answered(
    environment: dict[str, str], tmp_path: Path, line: str, request_id: object, code: int
) -> None:
    with spoken_to(environment, tmp_path) as answer:
        refused = answer(f"\n{line}")
        assert answer(json.dumps(INITIALIZE))["id"] == 1
    assert (refused["id"], refused["error"]["code"]) == (request_id, code)


def test_a_client_is_answered_before_anything_of_the_graph_is_imported(
    environment: dict[str, str], tmp_path: Path
) -> None:
    with spoken_to(environment, tmp_path, "-X", "importtime") as answer:
        answer(json.dumps(INITIALIZE))
    lines = (tmp_path / "stderr").read_text().splitlines()
    imported = {
        line.rpartition("|")[2].strip() for line in lines if line.startswith("import time:")
    }
    later = "neo4j numpy openai langchain_core jwt onnxruntime kgagent.models"
    assert imported.intersection(later.split()) == set()
    assert len(imported) < 1_000


async def test_a_database_that_cannot_be_reached_is_an_error_of_calls(
    environment: dict[str, str], tmp_path: Path
) -> None:
    async with over_stdio(
        environment | {"NEO4J_URI": "bolt://127.0.0.1:1"}, folder=tmp_path
    ) as client:
        assert (await client.list_tools()).tools
        answer = await client.call_tool(**EXPLORE)
    assert answer.is_error
    assert text_of(answer).startswith(
        "Error: The graph cannot be reached: Neo4j at bolt://127.0.0.1:1 cannot be used"
    )


@asynccontextmanager
async def running(environment: dict[str, str], folder: Path, *arguments: str) -> AsyncIterator[str]:
    """Run `kgagent mcp --http` on a free port, give its address, and end it as a person would."""
    process = await asyncio.create_subprocess_exec(
        *PROGRAM,
        "mcp",
        "--http",
        "--port",
        "0",
        "--structured",
        "--toolsets=all",
        *arguments,
        env=environment,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stderr is not None
    first_line = (await asyncio.wait_for(process.stderr.readline(), LONGEST)).decode()
    try:
        assert first_line.startswith("Serving MCP at http://127.0.0.1:"), first_line
        yield first_line.split()[3].rstrip(";")
    finally:
        process.send_signal(signal.SIGINT)
        out, err = await asyncio.wait_for(process.communicate(), LONGEST)
    assert out == b""
    assert b"Traceback" not in err, err


@pytest.mark.skipif(
    sys.platform == "win32", reason="a process of a group of its own cannot be interrupted alone"
)
async def test_the_program_serves_the_user_of_each_token(
    environment: dict[str, str], user_id: str, tmp_path: Path
) -> None:
    path = tmp_path / "tokens.json"
    write_private_file(path, json.dumps({"t" * 43: user_id}))
    audience, other = "https://graph.example/mcp", f"{user_id}-2"
    options = (
        "--oauth-resource",
        audience,
        "--oauth-scope",
        "graph",
        "--oauth-user-claim",
        "email",
    )
    with authorization_server() as issuer:
        signed = issuer.token(audience, email=other, scope="graph")
        async with running(
            environment, tmp_path, "--tokens", str(path), "--oauth-issuer", issuer.issuer, *options
        ) as url:
            for token, name in (("t" * 43, "Ada"), (signed, "Grace")):
                async with over_http(url, token=token) as client:
                    succeeded(await call(client, "create_node", label="Person", name=name))
                    found = succeeded(await call(client, "explore", text_matches=["Ada", "Grace"]))
                assert [node["name"] for node in found["nodes"]] == [name]
