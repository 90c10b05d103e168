"""The MCP App: what clients that show apps receive, and what others do not."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp import Client
from mcp.client.extension import advertise
from mcp.client.streamable_http import streamable_http_client
from mcp.server.apps import APP_MIME_TYPE, EXTENSION_ID
from mcp.types import TextResourceContents

from kgagent import KnowledgeGraph
from kgagent.adapters.mcp import HttpOptions, http_server
from kgagent.tools import Toolset
from tests.support.mcp_clients import MODES, Mode, over_http, plain_client, text_of
from tests.support.people import person, relate
from tests.support.stored import cypher

URI = "ui://kgagent/graph.html"
GRAPH = "kgagent/graph"


@asynccontextmanager
async def showing_apps(url: str, mode: Mode) -> AsyncIterator[Client]:
    """A client that says that it shows apps."""
    apps = advertise(EXTENSION_ID, {"mimeTypes": [APP_MIME_TYPE]})
    async with (
        plain_client(timeout=120) as http,
        Client(
            streamable_http_client(url, http_client=http), mode=mode, extensions=[apps]
        ) as client,
    ):
        yield client


@pytest.mark.parametrize("mode", MODES)
async def test_an_answer_carries_its_graph_for_a_client_that_shows_apps(
    graph: KnowledgeGraph, tools: Toolset, user_id: str, mode: Mode
) -> None:
    ruth, ines = await person(tools, "Ruth Calder", "Naval architect"), await person(tools, "Ines")
    await relate(tools, ruth, ines, "mentor", description="Ruth guides Ines", attitude=5)
    await person(graph.tools(user_id=f"{user_id}-2"), "Ruth Calder", "Another one")
    searches: list[tuple[str, dict[str, Any]]] = [
        ("explore", {"queries": [{"query": "who guides Ines?"}], "text_matches": ["Ruth Calder"]}),
        ("hybrid_search", {"query": "Ruth Calder guides Ines", "limit": 3}),
    ]
    asked = {
        "explore": "who guides Ines? · Ruth Calder",
        "hybrid_search": "Ruth Calder guides Ines",
    }
    async with http_server(
        graph, HttpOptions(user_id=user_id, app=True, toolsets="core")
    ) as running:
        async with over_http(running.url, mode=mode) as plain:
            texts = {}
            for name, arguments in searches:
                answer = await plain.call_tool(name, arguments)
                assert GRAPH not in (answer.meta or {})
                texts[name] = text_of(answer)
        async with showing_apps(running.url, mode) as client:
            for name, arguments in searches:
                answer = await client.call_tool(name, arguments)
                assert text_of(answer) == texts[name]
                shown = (answer.meta or {})[GRAPH]
                assert {item["node"]["entity_key"] for item in shown["nodes"]} == {ruth, ines}
                [joined] = shown["relationships"]
                assert joined["relationship"]["description"] == "Ruth guides Ines"
                assert shown["query"] == asked[name]
            failed = await client.call_tool("explore", {})
            other = await client.call_tool(
                "get_relationship", {"from_entity_key": ruth, "to_entity_key": ines}
            )
            assert GRAPH not in {**(failed.meta or {}), **(other.meta or {})}
            definitions = {tool.name: tool.meta for tool in (await client.list_tools()).tools}
            named = {
                name for name, meta in definitions.items() if meta == {"ui": {"resourceUri": URI}}
            }
            assert named == {"explore", "hybrid_search"}
            [content] = (await client.read_resource(URI)).contents
            assert isinstance(content, TextResourceContents)
            assert content.mime_type == APP_MIME_TYPE
            assert content.text.startswith("<!doctype html>")
            assert URI in {
                str(resource.uri) for resource in (await client.list_resources()).resources
            }


async def test_nodes_without_a_name_and_notes_without_content_are_shown(
    graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    key = await person(tools, "Ruth Calder", "Naval architect")
    await cypher(
        graph,
        "MATCH (n:Person {user_id: $user, entity_key: $key}) SET n.name = null, n.notes = $notes",
        user=user_id,
        key=key,
        notes='[{"content": "", "added_by": "ada"}]',
    )
    async with (
        http_server(graph, HttpOptions(user_id=user_id, app=True, toolsets="core")) as running,
        showing_apps(running.url, "auto") as client,
    ):
        answer = await client.call_tool("explore", {"queries": [{"query": "Naval architect"}]})
    assert not answer.is_error
    [shown] = (answer.meta or {})[GRAPH]["nodes"]
    assert (shown["node"]["entity_key"], shown["node"]["name"]) == (key, "")
    assert shown["node"]["notes"] == []


async def test_without_the_option_there_is_no_app(graph: KnowledgeGraph, user_id: str) -> None:
    async with (
        http_server(graph, HttpOptions(user_id=user_id)) as running,
        showing_apps(running.url, "auto") as client,
    ):
        assert all(tool.meta is None for tool in (await client.list_tools()).tools)
        assert all(
            str(one.uri).startswith("kgagent://")
            for one in (await client.list_resources()).resources
        )
        assert GRAPH not in (
            (await client.call_tool("explore", {"text_matches": ["Ada"]})).meta or {}
        )
