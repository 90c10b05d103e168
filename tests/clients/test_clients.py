"""Clients that other people wrote use the graph; they are installed by requirements.txt in this
folder.
"""

from collections.abc import AsyncIterator
from typing import Any

import neo4j
import pytest

from kgagent import KnowledgeGraph, SyncKnowledgeGraph
from kgagent.adapters.mcp import HttpOptions, http_server
from kgagent.graph.schema_parts import node_vector_index
from kgagent.tools import TOOLS
from tests.support.mcp_clients import over_http

FACTS = {
    "nodes": [
        {"label": "Person", "name": "Ruth Calder"},
        {"label": "Person", "name": "Ada Berg", "is_owner": True},
    ],
    "relationships": [{"from": "Ruth Calder", "to": "me", "relationship_type": "mentor"}],
}


@pytest.fixture
async def url(graph: KnowledgeGraph, user_id: str) -> AsyncIterator[str]:
    """The address of an MCP server with all tools for the test's user."""
    async with http_server(graph, HttpOptions(user_id=user_id, toolsets="all")) as server:
        yield server.url


async def test_google_genai_converts_the_definition_of_every_tool(url: str) -> None:
    pytest.importorskip("google.genai")
    from google.genai._mcp_utils import mcp_to_gemini_tools

    async with over_http(url) as client:
        tools = mcp_to_gemini_tools((await client.list_tools()).tools)
    declared = {
        function.name: function for tool in tools for function in tool.function_declarations or ()
    }
    assert declared.keys() == {tool.name for tool in TOOLS}
    assert all(function.parameters.properties for function in declared.values())


async def test_an_agent_of_pydantic_ai_remembers_and_finds(url: str) -> None:
    pytest.importorskip("pydantic_ai.mcp")
    from pydantic_ai import Agent
    from pydantic_ai.mcp import MCPToolset
    from pydantic_ai.messages import (
        ModelMessage,
        ModelResponse,
        TextPart,
        ToolCallPart,
        ToolReturnPart,
    )
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    calls = [
        ToolCallPart("remember", FACTS),
        ToolCallPart("explore", {"text_matches": ["Ruth Calder"]}),
    ]

    def model(messages: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        returned = [
            part.content
            for one in messages
            for part in one.parts
            if isinstance(part, ToolReturnPart)
        ]
        return ModelResponse(
            [calls[len(returned)] if len(returned) < len(calls) else TextPart(str(returned[-1]))]
        )

    async with Agent(FunctionModel(model), toolsets=[MCPToolset(url)]) as agent:
        answer = await agent.run("Who is Ruth?")
    assert "-[mentor]-> Ada Berg (Person" in answer.output


async def test_the_openai_agents_sdk_calls_strict_tools(url: str) -> None:
    pytest.importorskip("agents.mcp")
    from agents import Agent, RunContextWrapper
    from agents.mcp import MCPServerStreamableHttp
    from agents.mcp.util import MCPUtil

    async with MCPServerStreamableHttp({"url": url}, name="kgagent") as server:
        context: RunContextWrapper[Any] = RunContextWrapper(None)
        tools = await MCPUtil.get_function_tools(server, True, context, Agent(name="tester"))
        assert {tool.name for tool in tools if tool.strict_json_schema} == {
            tool.name for tool in TOOLS
        }
        await server.call_tool("remember", FACTS)
        result = await server.call_tool("explore", {"text_matches": ["Ruth Calder"]})
    assert "-[mentor]-> Ada Berg (Person" in result.content[0].text


def test_a_retriever_of_neo4j_graphrag_reads_the_vector_index(
    opened_sync: SyncKnowledgeGraph, user_id: str
) -> None:
    pytest.importorskip("neo4j_graphrag")
    from neo4j_graphrag.retrievers import VectorRetriever

    from kgagent.adapters.neo4j_graphrag import KnowledgeGraphEmbedder

    text = f"Keeps the lighthouse of {user_id}"
    opened_sync.tools(user_id=user_id).create_node(label="Person", name="Ines", description=text)
    settings = opened_sync.settings
    assert settings.neo4j_password is not None
    login = settings.neo4j_username, settings.neo4j_password.get_secret_value()
    with neo4j.GraphDatabase.driver(settings.neo4j_uri or "", auth=login) as driver:
        retriever = VectorRetriever(
            driver,
            node_vector_index("Person"),
            KnowledgeGraphEmbedder(opened_sync),
            return_properties=["description"],
        )
        [best] = retriever.search(query_text=f"Ines {text}", top_k=1).items
    assert text in best.content
