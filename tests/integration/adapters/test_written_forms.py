"""Every surface accepts lists and objects as JSON text, and null for what is omitted."""

import json
from typing import Any

import pytest

from kgagent import KnowledgeGraph
from kgagent.adapters.langchain import get_tools
from kgagent.adapters.mcp import HttpOptions, http_server
from kgagent.adapters.openai import OpenAITools
from tests.support.mcp_clients import over_http, text_of

ARGUMENTS: dict[str, Any] = {
    "nodes": '[{"label": "Person", "name": "Ruth", "aliases": null, "notes": "[\\"Sails.\\"]"}]',
    "relationships": None,
    "notes": None,
    "verbose": None,
}


async def by_python(graph: KnowledgeGraph, user_id: str) -> str:
    return str((await graph.tools(user_id=user_id).remember(**ARGUMENTS))["message"])


async def by_mcp(graph: KnowledgeGraph, user_id: str) -> str:
    async with (
        http_server(graph, HttpOptions(user_id=user_id)) as running,
        over_http(running.url) as client,
    ):
        return text_of(await client.call_tool("remember", ARGUMENTS))


async def by_langchain(graph: KnowledgeGraph, user_id: str) -> str:
    [remember] = get_tools(graph, user_id=user_id, names=["remember"])
    return str(await remember.ainvoke(ARGUMENTS))


async def by_openai(graph: KnowledgeGraph, user_id: str) -> str:
    return await OpenAITools(graph.tools(user_id=user_id)).call("remember", json.dumps(ARGUMENTS))


@pytest.mark.parametrize("remember", [by_python, by_mcp, by_langchain, by_openai])
async def test_json_text_and_null_are_accepted(
    remember: Any, graph: KnowledgeGraph, user_id: str
) -> None:
    assert "1 created" in await remember(graph, user_id)
    [node] = (await graph.tools(user_id=user_id).explore(text_matches='["Ruth"]'))["nodes"]
    assert [note["content"] for note in node["notes"]] == ["Sails."]
