"""What one access token can take of a server over HTTP; clients are those of the SDK."""

import asyncio
import re
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import httpx2
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from pydantic import SecretStr

from kgagent import KnowledgeGraph
from kgagent.adapters.mcp import AccessTokens, HttpOptions, http_server
from kgagent.knowledge_graph import services_of
from tests.integration.adapters.mcp.test_http_access import INITIALIZE
from tests.support.embedders import WatchedEmbedder
from tests.support.mcp_clients import MODES, Mode, call, over_http, plain_client
from tests.support.payloads import succeeded

ACCEPT = {"Accept": "application/json, text/event-stream"}
LEGACY = {**ACCEPT, "MCP-Protocol-Version": "2025-11-25"}


@dataclass(frozen=True)
class Limited:
    """A server with two tokens of one user and one of another."""

    url: str
    token: str
    same_user: str
    other_user: str
    embedder: WatchedEmbedder


Serve = Callable[..., AbstractAsyncContextManager[Limited]]


@pytest.fixture
def serve(graph: KnowledgeGraph) -> Serve:
    """Serves a graph with the given limits."""

    @asynccontextmanager
    async def serving(*, stateless: bool = False, **limits: int) -> AsyncIterator[Limited]:
        embedder = WatchedEmbedder()
        off = dict.fromkeys(("max_requests_per_token", "max_requests_per_minute", "max_sessions_per_token"), 0)
        settings = graph.settings.model_copy(update=off | limits)
        limited = KnowledgeGraph(services_of(graph).store, graph.ontology, embedder, settings)
        users = [f"user-{uuid.uuid4()}"] * 2 + [f"user-{uuid.uuid4()}"]
        tokens = [uuid.uuid4().hex * 2 for _ in users]
        known = AccessTokens({SecretStr(token): user for token, user in zip(tokens, users, strict=True)})
        options = HttpOptions(tokens=known, toolsets="all", structured=True, stateless=stateless)
        async with http_server(limited, options) as running:
            first, second, third = tokens
            yield Limited(running.url, first, second, third, embedder)

    return serving


async def knock(served: Limited, token: str, **headers: str) -> httpx2.Response:
    async with plain_client() as client:
        sent = {**ACCEPT, "Authorization": f"Bearer {token}", **headers}
        return await client.post(served.url, json=INITIALIZE, headers=sent)


async def ask(client: Client, name: str) -> None:
    succeeded(await call(client, "explore", text_matches=[name]))


@pytest.mark.parametrize("mode", MODES)
async def test_a_client_is_told_when_to_try_again_and_others_go_on(serve: Serve, mode: Mode) -> None:
    async with (
        serve(max_requests_per_minute=12) as served,
        over_http(served.url, token=served.token, mode=mode) as client,
        over_http(served.url, token=served.same_user, mode=mode) as same_user,
        over_http(served.url, token=served.other_user, mode=mode) as other,
    ):
        said = ""
        for _ in range(13):
            try:
                await ask(client, "Ada")
            except MCPError as error:
                said = str(error)
        assert re.search(r"limit of 12 requests per minute.* Try again in \d+ s", said)
        refused = await knock(served, served.token)
        assert refused.status_code == 429
        assert 0 < int(refused.headers["Retry-After"]) <= 60
        await ask(same_user, "Ada")
        await ask(other, "Ada")


@pytest.mark.parametrize("mode", MODES)
async def test_calls_that_run_keep_their_places_and_can_be_cancelled(serve: Serve, mode: Mode) -> None:
    async with (
        serve(max_requests_per_token=3) as served,
        over_http(served.url, token=served.token, mode=mode) as client,
        over_http(served.url, token=served.other_user, mode=mode) as other,
    ):
        served.embedder.gate.clear()
        calls = [
            asyncio.create_task(call(client, "create_node", label="Person", name=f"Ada {place}")) for place in range(3)
        ]
        await served.embedder.asked_for(3)
        with pytest.raises(MCPError, match="limit of 3 concurrent requests"):
            await ask(client, "Ada")
        await ask(other, "Ada")
        calls[0].cancel()
        await asyncio.wait([calls[0]])
        async with asyncio.timeout(30):
            while True:
                try:
                    await ask(client, "Ada")
                    break
                except MCPError:
                    await asyncio.sleep(0.02)
        served.embedder.gate.set()
        for running in calls[1:]:
            succeeded(await running)


async def test_a_token_opens_so_many_sessions_and_an_ended_one_makes_room(serve: Serve) -> None:
    async with serve(max_sessions_per_token=3) as served, AsyncExitStack() as stack:
        opened = [await stack.enter_async_context(over_http(served.url, token=served.token, mode="legacy"))]
        async with over_http(served.url, token=served.token, mode="legacy"):
            assert (await knock(served, served.token)).status_code == 200
            refused = await knock(served, served.token)
            assert (refused.status_code, refused.headers["Retry-After"]) == (429, "1800")
            assert "3 open sessions" in refused.json()["error"]["message"]
            await ask(opened[0], "Ada")
            assert (await knock(served, served.same_user)).status_code == 200
            async with over_http(served.url, token=served.token, mode="auto") as without_session:
                await ask(without_session, "Ada")
        assert [(await knock(served, served.token)).status_code for _ in range(2)] == [200, 429]


async def test_a_server_without_sessions_refuses_none(serve: Serve) -> None:
    async with serve(stateless=True, max_sessions_per_token=1) as served:
        for _ in range(3):
            async with over_http(served.url, token=served.token, mode="legacy") as client:
                await ask(client, "Ada")


async def test_one_token_in_a_loop_does_not_keep_another_from_its_answers(serve: Serve) -> None:
    async with (
        serve(max_requests_per_token=4, max_requests_per_minute=40, max_sessions_per_token=4) as served,
        over_http(served.url, token=served.other_user) as other,
        plain_client(headers={**ACCEPT, "Authorization": f"Bearer {served.token}"}) as http,
    ):

        async def flood() -> list[int]:
            return [(await http.post(served.url, json=INITIALIZE)).status_code for _ in range(12)]

        flooding = [asyncio.create_task(flood()) for _ in range(4)]
        for _ in range(5):
            await ask(other, "Ada")
        statuses = [status for each in flooding for status in await each]
    assert statuses.count(200) == 4
    assert set(statuses) == {200, 429}
