"""Calls that take long: they tell that they are still at it, and end in the database when the
client gives up.

A call is made to take long by holding the lock of the node that it writes.
"""

import asyncio
from uuid import uuid4

import pytest
from mcp import Client

from kgagent.tools import Toolset
from tests.conftest import Server
from tests.integration.adapters.mcp.conftest import Connect
from tests.support.mcp_clients import call
from tests.support.payloads import succeeded
from tests.support.people import person
from tests.support.transactions import watch


@pytest.fixture
def name() -> str:
    """The name of a person whom no other test has."""
    return f"Ada{uuid4().hex}"


async def rename(client: Client, key: str) -> None:
    """A write that has to wait for the node's lock."""
    await client.call_tool("update_node", {"entity_key": key, "name": "Grace"})


async def test_cancelling_a_call_ends_its_statement_in_the_database(
    served: Connect, server: Server, tools: Toolset, user_id: str, name: str
) -> None:
    key = await person(tools, name)
    async with watch(server, user_id) as watched, served() as client, watched.locked(key):
        calling = asyncio.create_task(rename(client, key))
        await watched.until_blocked()
        calling.cancel()
        await watched.until_none()
        with pytest.raises(asyncio.CancelledError):
            await calling
        # The lock is still held, so it is the cancellation that ended the statement; and the server
        # goes on serving.
        found = succeeded(await call(client, "explore", text_matches=[name]))
    assert [node["name"] for node in found["nodes"]] == [name]
    assert [node["name"] for node in (await tools.explore(text_matches=[name]))["nodes"]] == [name]


async def test_a_long_call_reports_progress_if_the_client_asks(
    served: Connect, server: Server, tools: Toolset, user_id: str, name: str
) -> None:
    key = await person(tools, name)
    reports: list[tuple[float, str | None]] = []
    enough = asyncio.Event()

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        assert total is None
        reports.append((progress, message))
        if len(reports) >= 2:
            enough.set()

    async with watch(server, user_id) as watched, served() as client:
        async with watched.locked(key):
            calling = asyncio.create_task(
                client.call_tool(
                    "update_node", {"entity_key": key, "name": "Grace"}, progress_callback=hear
                )
            )
            await asyncio.wait_for(enough.wait(), 60)
        result = await calling
    assert result.structured_content["success"] is True
    assert sorted(reports) == reports
    assert str(reports[0][1]).startswith("update_node has been running for")


async def test_a_disconnecting_client_ends_its_statements(
    served: Connect, server: Server, tools: Toolset, user_id: str, name: str
) -> None:
    key = await person(tools, name)
    async with watch(server, user_id) as watched, watched.locked(key):
        async with served() as client:
            calling = asyncio.create_task(rename(client, key))
            await watched.until_blocked()
        await watched.until_none()
        await asyncio.wait([calling])
        assert calling.cancelled() or calling.exception() is not None
