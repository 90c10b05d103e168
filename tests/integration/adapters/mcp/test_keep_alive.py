"""Connections between two requests of a client."""

import asyncio

import httpx2

from kgagent import KnowledgeGraph
from kgagent.adapters.mcp import HttpOptions, http_server
from tests.integration.adapters.mcp.test_http_access import INITIALIZE

ACCEPTED = {"Accept": "application/json, text/event-stream"}


async def test_the_server_does_not_close_a_connection_before_clients_stop_using_it(
    graph: KnowledgeGraph, user_id: str
) -> None:
    usual = httpx2.Limits().keepalive_expiry
    assert usual is not None
    ports = []
    async with (
        http_server(graph, HttpOptions(user_id=user_id, stateless=True)) as running,
        httpx2.AsyncClient(limits=httpx2.Limits(keepalive_expiry=None), timeout=60) as client,
    ):
        for pause in (usual + 0.5, 0.0):
            response = await client.post(running.url, json=INITIALIZE, headers=ACCEPTED)
            assert response.status_code == 200
            ports.append(response.extensions["network_stream"].get_extra_info("client_addr"))
            await asyncio.sleep(pause)
    assert ports[0] == ports[1]
