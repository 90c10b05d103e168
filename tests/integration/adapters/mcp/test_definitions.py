"""What an MCP client receives of the tools before it calls one."""

import json

import pytest
from _definitions import characters, toolset_sizes
from mcp import Client
from mcp.types import Tool

from kgagent.tools.toolsets import tools_of
from tests.integration.adapters.mcp.conftest import Connect
from tests.support.mcp_clients import MODES, Mode

CORE, ALL = 12_000, 30_000


async def listed(client: Client) -> list[Tool]:
    return (await client.list_tools()).tools


@pytest.mark.parametrize("mode", MODES)
async def test_a_client_receives_core_in_at_most_12_000_characters(
    connect: Connect, mode: Mode
) -> None:
    async with connect(mode=mode, toolsets=None, structured=False) as client:
        tools = await listed(client)
    assert {tool.name for tool in tools} == tools_of("core")
    received = json.dumps(
        [tool.model_dump(mode="json", by_alias=True, exclude_unset=True) for tool in tools]
    )
    assert len(received) <= CORE
    assert sum(characters(tools).values()) == toolset_sizes()["core"][1]


async def test_a_client_receives_all_tools_in_at_most_30_000_characters(connect: Connect) -> None:
    async with connect(toolsets="all", structured=False) as client:
        tools = await listed(client)
    assert {tool.name for tool in tools} == tools_of("all")
    assert sum(characters(tools).values()) <= ALL


async def test_the_list_of_tools_may_be_cached(connect: Connect) -> None:
    async with connect() as client:
        tools = await client.list_tools()
    assert (tools.ttl_ms, tools.cache_scope) == (3_600_000, "public")


async def test_a_client_sees_what_the_words_for_levels_are_once(connect: Connect) -> None:
    async with connect(toolsets=None, structured=False) as client:
        definitions = json.dumps([tool.model_dump(mode="json") for tool in await listed(client)])
        instructions = str(client.instructions)
    assert "intimate-knowledge" not in definitions
    assert instructions.count("intimate-knowledge") == 1
    assert len(instructions) < 2_000
