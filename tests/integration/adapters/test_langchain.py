"""The tools as LangChain sees them."""

import asyncio
import json
from typing import Any

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, BaseToolkit
from langchain_core.utils.function_calling import convert_to_openai_tool

from kgagent import KnowledgeGraph, Settings, SyncKnowledgeGraph
from kgagent.adapters.langchain import KnowledgeGraphToolkit, get_tools
from kgagent.adapters.mcp.definitions import DIALECT, tool_definitions
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.errors import ConfigurationError, InputError
from kgagent.tools import Payload


def by_name(tools: list[BaseTool]) -> dict[str, BaseTool]:
    return {tool.name: tool for tool in tools}


def as_call(tool: str, **arguments: Any) -> dict[str, Any]:
    """A tool call as a chat model makes it."""
    return {"type": "tool_call", "id": "call-1", "name": tool, "args": arguments}


async def payload_of(tool: BaseTool, **arguments: Any) -> Payload:
    """What the tool answers to a program: the artifact of the message."""
    message = await tool.ainvoke(as_call(tool.name, **arguments))
    assert isinstance(message, ToolMessage)
    payload = message.artifact
    assert isinstance(payload, dict)
    return payload


async def test_an_agents_calls_create_and_find(graph: KnowledgeGraph, user_id: str) -> None:
    tools = by_name(get_tools(graph, user_id=user_id, toolsets="all"))
    keys = [
        (await payload_of(tools["create_node"], label="Person", name=name))["entity_key"]
        for name in ("Ada", "Grace")
    ]
    await tools["create_relationship"].ainvoke(
        as_call(
            "create_relationship",
            from_entity_key=keys[0],
            to_entity_key=keys[1],
            relationship_type="mentor",
            notes=["They met in 1952", {"content": "Writes every week", "lifetime": "forever"}],
        )
    )
    question = {"queries": [{"query": "mentor", "threshold": 0.1}], "labels": ["Person"]}
    message = await tools["explore"].ainvoke(as_call("explore", **question))
    assert {node["name"] for node in message.artifact["nodes"]} == {"Ada", "Grace"}
    assert "-[mentor]-> Grace (Person)" in message.content
    assert message.content == await tools["explore"].ainvoke(question)
    # As text, an answer counts statements.
    answer = json.loads(await tools["explore"].ainvoke({**question, "format": "json"}))
    assert {**answer, "total": message.artifact["total"]} == message.artifact


async def test_invalid_arguments_are_an_answer_and_not_an_exception(
    graph: KnowledgeGraph, user_id: str
) -> None:
    tools = by_name(get_tools(graph, user_id=user_id, toolsets="all"))
    message = await tools["create_node"].ainvoke(as_call("create_node", label="Person", nmae="Ada"))
    assert message.content.startswith("Error: ")
    assert "name is missing" in message.content
    assert "unknown argument nmae" in message.content
    refused = await tools["create_node"].ainvoke(as_call("create_node", label="Cat", name="Ada"))
    assert refused.content.startswith("Error: Unknown label: Cat")
    assert (message.status, refused.status) == ("error", "error")


async def test_a_model_is_shown_no_more_of_a_tool_than_over_mcp(
    graph: KnowledgeGraph, user_id: str
) -> None:
    definitions = {one.name: one for one in tool_definitions(graph.ontology)}
    for tool in get_tools(graph, user_id=user_id, toolsets="all"):
        parameters = convert_to_openai_tool(tool)["function"]["parameters"]
        assert {"$schema": DIALECT, **parameters} == definitions[tool.name].input_schema


async def test_invoke_on_the_graphs_own_loop_says_what_to_do(
    graph: KnowledgeGraph, user_id: str
) -> None:
    tools = by_name(get_tools(graph, user_id=user_id, toolsets="all"))
    answer = tools["explore"].invoke({"text_matches": ["Ada"]})
    assert answer.startswith("Error: ")
    assert "use ainvoke" in answer


def test_a_synchronous_program_needs_no_event_loop(settings: Settings, user_id: str) -> None:
    with SyncKnowledgeGraph.connect(settings=settings, embedder=HashingEmbedder(384)) as graph:
        tools = by_name(get_tools(graph, user_id=user_id, toolsets="all"))
        assert (
            tools["create_node"]
            .invoke({"label": "Person", "name": "Ada"})
            .startswith("Created Person Ada")
        )
        found = tools["explore"].invoke({"text_matches": ["ada"]})
        assert "Ada (Person" in found

        async def elsewhere() -> str:
            return str(await tools["explore"].ainvoke({"text_matches": ["ada"]}))

        assert asyncio.run(elsewhere()) == found


async def test_a_toolkit_gives_the_same_tools(graph: KnowledgeGraph, user_id: str) -> None:
    toolkit = KnowledgeGraphToolkit(graph=graph, user_id=user_id, toolsets="all")
    assert isinstance(toolkit, BaseToolkit)
    assert list(by_name(toolkit.get_tools())) == list(
        by_name(get_tools(graph, user_id=user_id, toolsets="all"))
    )
    chosen = KnowledgeGraphToolkit(graph=graph, user_id=user_id, names=("explore",))
    assert [tool.name for tool in chosen.get_tools()] == ["explore"]
    with pytest.raises(InputError, match="user_id must not be empty"):
        get_tools(graph, user_id="")
    with pytest.raises(
        ConfigurationError, match="No tool is called 'exlpore'; there are remember, explore"
    ):
        get_tools(graph, user_id=user_id, names=["exlpore"])


def test_tools_of_a_closed_graph_say_so(settings: Settings, user_id: str) -> None:
    with SyncKnowledgeGraph.connect(settings=settings, embedder=HashingEmbedder(384)) as graph:
        [explore] = get_tools(graph, user_id=user_id, names=["explore"])
    assert "has ended" in explore.invoke({"text_matches": ["ada"]})
