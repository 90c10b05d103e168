"""Who is let in over HTTP, under which names, and to whose graph."""

import json
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass

import httpx2
import pytest
from mcp import Client
from pydantic import SecretStr

from kgagent import KnowledgeGraph
from kgagent.adapters.mcp import AccessTokens, HttpOptions, OAuthOptions, http_server
from kgagent.errors import ConfigurationError
from tests.support.mcp_clients import MODES, Mode, call, over_http, plain_client
from tests.support.payloads import succeeded

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
DISCOVER = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "server/discover",
    "params": {
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    },
}
OPENINGS = {
    "legacy": (INITIALIZE, {}),
    "auto": (DISCOVER, {"MCP-Protocol-Version": "2026-07-28", "MCP-Method": "server/discover"}),
}


@dataclass(frozen=True)
class Tenant:
    """A user with a token."""

    user_id: str
    token: str


@dataclass(frozen=True)
class Shared:
    """A server that two users share."""

    url: str
    ada: Tenant
    bob: Tenant


def tenant() -> Tenant:
    return Tenant(f"user-{uuid.uuid4()}", uuid.uuid4().hex + uuid.uuid4().hex)


@pytest.fixture
async def shared(graph: KnowledgeGraph) -> AsyncIterator[Shared]:
    ada, bob = tenant(), tenant()
    tokens = AccessTokens({SecretStr(each.token): each.user_id for each in (ada, bob)})
    async with http_server(
        graph, HttpOptions(tokens=tokens, toolsets="all", structured=True)
    ) as running:
        yield Shared(running.url, ada, bob)


@pytest.fixture
async def open_url(graph: KnowledgeGraph, user_id: str) -> AsyncIterator[str]:
    """A server on loopback without tokens."""
    async with http_server(
        graph, HttpOptions(user_id=user_id, toolsets="all", structured=True)
    ) as running:
        yield running.url


async def knock(url: str, mode: Mode, **headers: str) -> httpx2.Response:
    """Open a conversation, with headers of one's own."""
    body, own = OPENINGS[mode]
    sent = {"Accept": "application/json, text/event-stream", **own, **headers}
    async with plain_client(timeout=60) as client:
        return await client.post(url, json=body, headers=sent)


@pytest.mark.parametrize("mode", MODES)
async def test_a_missing_or_wrong_token_is_401(shared: Shared, mode: Mode) -> None:
    wrong = [
        {},
        {"Authorization": "Bearer " + "x" * 64},
        {"Authorization": f"Bearer {shared.ada.token[:-1]}"},
        {"Authorization": f"Basic {shared.ada.token}"},
        {"Authorization": "Bearer " + "\u00e9" * 64},
    ]
    for headers in wrong:
        async with plain_client(timeout=60) as client:
            body, own = OPENINGS[mode]
            raw = [(k.encode(), v.encode("latin-1")) for k, v in {**own, **headers}.items()]
            raw.append((b"Accept", b"application/json, text/event-stream"))
            answer = await client.post(shared.url, json=body, headers=raw)
        assert answer.status_code == 401
        assert answer.headers["WWW-Authenticate"].startswith("Bearer ")
        assert shared.ada.token not in answer.text
    assert (
        await knock(shared.url, mode, Authorization=f"Bearer {shared.ada.token}")
    ).status_code == 200


@pytest.mark.parametrize("mode", MODES)
async def test_two_tokens_two_users_never_see_each_other(
    shared: Shared, graph: KnowledgeGraph, mode: Mode
) -> None:
    async def remember(client: Client, name: str) -> str:
        return str(
            succeeded(await call(client, "create_node", label="Person", name=name))["entity_key"]
        )

    async with (
        over_http(shared.url, token=shared.ada.token, mode=mode) as ada,
        over_http(shared.url, token=shared.bob.token, mode=mode) as bob,
    ):
        adas, bobs = await remember(ada, "Ursula"), await remember(bob, "Ursula")
        assert adas != bobs
        for client, own, other in ((ada, adas, bobs), (bob, bobs, adas)):
            found = succeeded(await call(client, "explore", text_matches=["Ursula"]))
            assert [node["entity_key"] for node in found["nodes"]] == [own]
            assert (await call(client, "update_node", entity_key=other, name="Stolen"))[
                "success"
            ] is False
    for owner, key in ((shared.ada, adas), (shared.bob, bobs)):
        seen = succeeded(await graph.tools(user_id=owner.user_id).explore(text_matches=["Ursula"]))
        assert [(node["entity_key"], node["name"]) for node in seen["nodes"]] == [(key, "Ursula")]


async def test_a_session_cannot_be_used_with_another_users_token(shared: Shared) -> None:
    opened = await knock(shared.url, "legacy", Authorization=f"Bearer {shared.ada.token}")
    session = opened.headers["Mcp-Session-Id"]
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    async with plain_client(timeout=60) as client:
        answers = [
            await client.post(
                shared.url,
                json=listing,
                headers={
                    "Accept": "application/json, text/event-stream",
                    "Mcp-Session-Id": session,
                    "MCP-Protocol-Version": "2025-11-25",
                    "Authorization": f"Bearer {each.token}",
                },
            )
            for each in (shared.bob, shared.ada)
        ]
    assert [answer.status_code for answer in answers] == [404, 200]


@pytest.mark.parametrize("mode", MODES)
async def test_another_host_or_origin_is_refused(open_url: str, mode: Mode) -> None:
    port = httpx2.URL(open_url).port
    assert (await knock(open_url, mode)).status_code == 200
    assert (await knock(open_url, mode, Origin=f"http://localhost:{port}")).status_code == 200
    for host in ("evil.example", "127.0.0.1:1", f"127.0.0.1.evil.example:{port}"):
        assert (await knock(open_url, mode, Host=host)).status_code == 421, host
    for origin in (f"http://evil.example:{port}", "http://localhost:1", "null"):
        assert (await knock(open_url, mode, Origin=origin)).status_code == 403, origin


async def test_an_allowed_host_is_accepted(graph: KnowledgeGraph, user_id: str) -> None:
    options = HttpOptions(user_id=user_id, allowed_hosts=("graph.example", "other.example:8080"))
    async with http_server(graph, options) as running:
        for host, status in (
            ("graph.example", 200),
            ("graph.example:443", 200),
            ("other.example:8080", 200),
            ("other.example", 421),
            ("other.example:8081", 421),
            ("sub.graph.example", 421),
        ):
            assert (await knock(running.url, "auto", Host=host)).status_code == status, host
        assert (
            await knock(running.url, "auto", Host="graph.example", Origin="https://graph.example")
        ).status_code == 200


async def test_an_address_that_others_can_reach_needs_tokens_or_the_url_for_which_they_are_issued(
    graph: KnowledgeGraph, user_id: str
) -> None:
    with pytest.raises(ConfigurationError, match="clients must send an access token"):
        async with http_server(graph, HttpOptions(host="0.0.0.0", user_id=user_id)):
            pass
    with pytest.raises(ConfigurationError, match="give the URL under which they reach this server"):
        async with http_server(
            graph, HttpOptions(host="::", oauth=OAuthOptions(issuer="https://id.example"))
        ):
            pass
    who = tenant()
    tokens = AccessTokens({SecretStr(who.token): who.user_id})
    async with http_server(graph, HttpOptions(host="0.0.0.0", tokens=tokens)) as running:
        url = running.url.replace("0.0.0.0", "127.0.0.1")
        assert (await knock(url, "auto")).status_code == 401
        assert (await knock(url, "auto", Authorization=f"Bearer {who.token}")).status_code == 200


async def test_a_port_in_use_is_an_error(
    graph: KnowledgeGraph, open_url: str, user_id: str
) -> None:
    taken = httpx2.URL(open_url).port
    with pytest.raises(ConfigurationError, match=f"Cannot listen on 127.0.0.1:{taken}"):
        async with http_server(graph, HttpOptions(port=taken or 0, user_id=user_id)):
            pass


@pytest.mark.parametrize("mode", MODES)
async def test_a_body_that_takes_long_to_parse_is_refused(open_url: str, mode: Mode) -> None:
    opening, headers = OPENINGS[mode]
    accept = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
    body = json.dumps(opening).replace('"test"', '"' + "x" * 1_100_000 + '"')
    async with plain_client() as client:
        answer = await client.post(open_url, content=body, headers=accept | headers)
        assert answer.status_code == 413
        fine = await client.post(open_url, content=json.dumps(opening), headers=accept | headers)
    assert fine.status_code == 200
