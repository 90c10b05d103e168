"""Each surface offers the toolset core unless others are chosen."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from mcp import Client, MCPError

from kgagent import KnowledgeGraph, Settings, SyncKnowledgeGraph
from kgagent.adapters.langchain import KnowledgeGraphToolkit, get_tools
from kgagent.adapters.mcp import ServerOptions, make_server
from kgagent.adapters.openai import OpenAITools, SyncOpenAITools
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.errors import ConfigurationError, InputError
from kgagent.tools.toolsets import TOOLSETS, tools_of
from tests.conftest import DIMENSIONS

CORE = tools_of("core")
USER = "toolsets-user"


def by_toolkit(graph: KnowledgeGraph, toolsets: Any) -> list[str]:
    return [
        tool.name
        for tool in KnowledgeGraphToolkit(graph=graph, user_id=USER, toolsets=toolsets).get_tools()
    ]


def by_langchain(graph: KnowledgeGraph, toolsets: Any) -> list[str]:
    return [tool.name for tool in get_tools(graph, user_id=USER, toolsets=toolsets)]


def by_openai(graph: KnowledgeGraph, toolsets: Any) -> list[str]:
    return [
        item["name"] for item in OpenAITools(graph.tools(user_id=USER, toolsets=toolsets)).responses
    ]


surfaces = pytest.mark.parametrize("names", [by_toolkit, by_langchain, by_openai])


@surfaces
async def test_a_surface_offers_core_or_the_chosen_toolsets(
    graph: KnowledgeGraph, names: Callable[[KnowledgeGraph, str | Sequence[str] | None], list[str]]
) -> None:
    assert set(names(graph, None)) == CORE
    assert set(names(graph, ("patterns",))) == set(TOOLSETS["patterns"])
    assert set(names(graph, "core,admin")) == CORE | set(TOOLSETS["admin"])
    assert set(names(graph, "all")) == tools_of("all")
    with pytest.raises(InputError, match=r"Unknown toolset: 'cor'\. Did you mean core"):
        names(graph, "cor")


@surfaces
async def test_the_settings_choose_the_default(
    settings: Settings,
    embedder: HashingEmbedder,
    names: Callable[[KnowledgeGraph, None], list[str]],
) -> None:
    chosen = settings.model_copy(update={"toolsets": ("core", "graph")})
    async with KnowledgeGraph.connect(settings=chosen, embedder=embedder) as graph:
        assert set(names(graph, None)) == CORE | set(TOOLSETS["graph"])


async def test_python_has_all_tools_unless_they_are_restricted(graph: KnowledgeGraph) -> None:
    everything = graph.tools(user_id=USER)
    assert set(everything) == tools_of("all")
    assert everything.merge_nodes.name == "merge_nodes"
    core = graph.tools(user_id=USER, toolsets="core")
    assert set(core) == CORE
    with pytest.raises(
        AttributeError, match="restore belongs to the toolset admin, which is not offered here"
    ):
        _ = core.restore
    with pytest.raises(KeyError, match="restore belongs to the toolset admin"):
        _ = core["restore"]
    assert "restore" not in core


async def test_names_replace_toolsets(graph: KnowledgeGraph) -> None:
    assert [tool.name for tool in get_tools(graph, user_id=USER, names=["merge_nodes"])] == [
        "merge_nodes"
    ]
    assert [
        item["name"] for item in OpenAITools(graph.tools(user_id=USER), names=["explore"]).responses
    ] == ["explore"]
    answer = await OpenAITools(graph.tools(user_id=USER)).call("restore", "{}")
    assert (
        "restore belongs to the toolset admin, which is not offered here; there are remember, "
        "explore" in answer
    )
    with pytest.raises(ConfigurationError, match="either toolsets or names"):
        get_tools(graph, user_id=USER, toolsets="core", names=["merge_nodes"])


def test_a_synchronous_graph_offers_the_same(settings: Settings) -> None:
    with SyncKnowledgeGraph.connect(
        settings=settings, embedder=HashingEmbedder(DIMENSIONS)
    ) as graph:
        assert {
            item["name"] for item in SyncOpenAITools(graph.tools(user_id=USER)).responses
        } == CORE
        chosen = graph.tools(user_id=USER, toolsets="patterns")
        assert {item["name"] for item in SyncOpenAITools(chosen).responses} == set(
            TOOLSETS["patterns"]
        )
        assert {tool.name for tool in get_tools(graph, user_id=USER)} == CORE


async def test_an_mcp_server_names_and_calls_only_what_it_offers(graph: KnowledgeGraph) -> None:
    for toolsets in (None, "patterns", ("graph", "admin")):
        server = make_server(graph, lambda _: USER, ServerOptions(toolsets=toolsets))
        offered = tools_of("core" if toolsets is None else toolsets)
        async with Client(server) as client:
            assert {tool.name for tool in (await client.list_tools()).tools} == offered
            absent_names = tools_of("all") - offered
            assert [name for name in absent_names if name in str(client.instructions)] == []
            for absent in sorted(tools_of("all") - offered):
                with pytest.raises(MCPError, match=f"{absent} belongs to the toolset"):
                    await client.call_tool(absent, {})
    with pytest.raises(InputError, match="Unknown toolset: 'cor'"):
        make_server(graph, lambda _: USER, ServerOptions(toolsets="cor"))
