"""Access tokens of an external authorization server: whom they let in, and to whose graph."""

import asyncio
import hashlib
import hmac
import json
import threading
import time
import uuid
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import SecretStr
from werkzeug import Response

from kgagent import KnowledgeGraph
from kgagent.adapters.mcp import AccessTokens, HttpOptions, OAuthOptions, http_server
from tests.integration.adapters.mcp.test_http_access import knock
from tests.support.authorization_server import (
    CLIENT_ID,
    CLIENT_SECRET,
    AuthorizationServer,
    Key,
    authorization_server,
    unsigned,
)
from tests.support.mcp_clients import call, over_http, plain_client
from tests.support.payloads import succeeded

SCOPE = "graph:use"
STATIC = "s" * 43


@pytest.fixture
def issuer() -> Iterator[AuthorizationServer]:
    with authorization_server() as running:
        yield running


@dataclass(frozen=True)
class Protected:
    """A server that accepts the issuer's tokens."""

    url: str
    issuer: AuthorizationServer

    def token(self, user_id: str = "somebody", **claims: Any) -> str:
        return self.issuer.token(self.url, **{"sub": user_id, "scope": f"openid {SCOPE}"} | claims)

    async def status(self, token: str) -> int:
        return (await self.knock(token)).status_code

    async def knock(self, token: str) -> httpx2.Response:
        return await knock(self.url, "auto", Authorization=f"Bearer {token}")


@pytest.fixture
async def protected(
    graph: KnowledgeGraph,
    issuer: AuthorizationServer,
    user_id: str,
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[Protected]:
    """It also accepts one static token, of the test's user, and fetches keys as often as it
    likes.
    """
    monkeypatch.setattr("kgagent.adapters.mcp.oauth.REFETCH_INTERVAL", 0.0)
    options = HttpOptions(
        oauth=OAuthOptions(issuer=issuer.issuer, required_scopes=(SCOPE,)),
        tokens=AccessTokens({SecretStr(STATIC): user_id}),
        toolsets="all",
        structured=True,
    )
    async with http_server(graph, options) as running:
        yield Protected(running.url, issuer)


def forged_with_the_public_key(server: Protected) -> str:
    """HS256, with the public key as the secret: what a verifier accepts that trusts the header's
    algorithm.
    """
    [key] = server.issuer.keys
    _, claims, _ = server.token().split(".")
    header = (
        urlsafe_b64encode(json.dumps({"alg": "HS256", "kid": key.kid}).encode())
        .rstrip(b"=")
        .decode()
    )
    signature = hmac.digest(key.pem, f"{header}.{claims}".encode(), hashlib.sha256)
    return f"{header}.{claims}.{urlsafe_b64encode(signature).rstrip(b'=').decode()}"


def without_signature(server: Protected) -> str:
    now = int(time.time())
    claims = {
        "iss": server.issuer.issuer,
        "aud": server.url,
        "sub": "a",
        "scope": SCOPE,
        "exp": now + 300,
    }
    return unsigned(claims, kid=server.issuer.keys[0].kid)


def altered(server: Protected) -> str:
    header, _, signature = server.token().split(".")
    return ".".join((header, server.token("another").split(".")[1], signature))


REFUSED: dict[str, Callable[[Protected], str]] = {
    "expired": lambda server: server.token(exp=int(time.time()) - 60),
    "not valid yet": lambda server: server.token(nbf=int(time.time()) + 600),
    "without expiry": lambda server: server.token(exp=None),
    "for another resource": lambda server: server.token(aud="https://other.example/mcp"),
    "for no resource": lambda server: server.token(aud=None),
    "of another issuer": lambda server: server.token(iss="https://other.example"),
    "without user": lambda server: server.token(sub=None),
    "of an empty user": lambda server: server.token(" "),
    "of half a character": lambda server: server.token("\ud800"),
    "of an unknown key": lambda server: server.token(key=Key()),
    "of a known id with another key": lambda server: server.token(
        key=Key(kid=server.issuer.keys[0].kid)
    ),
    "for a logout": lambda server: server.token(typ="logout+jwt"),
    "alg none": without_signature,
    "HS256 with the public key": forged_with_the_public_key,
    "altered": altered,
    "deeply nested": lambda _: urlsafe_b64encode(b"[" * 9_000).decode() + ".e30.AA",
    "no JWT": lambda _: "x" * 64,
}


async def test_other_tokens_are_refused(
    protected: Protected, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    tokens = {kind: make(protected) for kind, make in REFUSED.items()}
    answers = {kind: await protected.knock(token) for kind, token in tokens.items()}
    assert {kind: answer.status_code for kind, answer in answers.items()} == dict.fromkeys(
        REFUSED, 401
    )
    for kind, answer in answers.items():
        assert 'error="invalid_token"' in answer.headers["WWW-Authenticate"]
        assert tokens[kind] not in answer.text
    valid = protected.token()
    assert await protected.status(valid) == 200
    served = "\n".join(
        record.getMessage() for record in caplog.records if not record.name.startswith("http")
    )
    assert "An access token was refused: ExpiredSignatureError" in served
    for token in (valid, *tokens.values()):
        assert token.rpartition(".")[2] not in served or len(token.rpartition(".")[2]) < 10
        assert token not in served


async def test_a_refusal_names_the_metadata_that_names_the_issuer(protected: Protected) -> None:
    refused = await knock(protected.url, "auto")
    assert refused.status_code == 401
    host = protected.url.removesuffix("/mcp")
    metadata = f"{host}/.well-known/oauth-protected-resource/mcp"
    assert f'resource_metadata="{metadata}"' in refused.headers["WWW-Authenticate"]
    async with plain_client(timeout=60) as http:
        published = (await http.get(metadata)).json()
    assert published["resource"] == protected.url
    assert published["authorization_servers"] == [protected.issuer.issuer]
    assert published["scopes_supported"] == [SCOPE]
    assert published["bearer_methods_supported"] == ["header"]


async def test_a_missing_scope_is_403(protected: Protected) -> None:
    for scope in ("openid", None, f"{SCOPE}s", 7):
        answer = await protected.knock(protected.token(scope=scope))
        assert answer.status_code == 403, scope
        assert 'error="insufficient_scope"' in answer.headers["WWW-Authenticate"]
        assert f"Required scope: {SCOPE}" in answer.headers["WWW-Authenticate"]
    elsewhere: list[dict[str, Any]] = [{"scp": [SCOPE]}, {"scp": f"a {SCOPE}"}, {"scope": [SCOPE]}]
    for claims in elsewhere:
        assert await protected.status(protected.token(**{"scope": None} | claims)) == 200, claims


async def test_a_static_token_is_accepted_beside(
    protected: Protected, user_id: str, graph: KnowledgeGraph
) -> None:
    async with over_http(protected.url, token=STATIC) as client:
        succeeded(await call(client, "create_node", label="Person", name="Ada"))
    assert protected.issuer.asked == []
    assert succeeded(await graph.tools(user_id=user_id).explore(text_matches=["Ada"]))["nodes"]


async def test_an_issuer_that_is_down_refuses_only_who_needs_it(
    protected: Protected, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    known = protected.token()
    assert await protected.status(known) == 200
    protected.issuer.status = 500
    answer = await protected.knock(protected.token(key=Key()))
    assert answer.status_code == 503
    assert answer.json()["error"] == "temporarily_unavailable"
    assert protected.issuer.issuer not in answer.text
    assert "could not be verified" in caplog.text
    assert f"The keys of {protected.issuer.issuer} cannot be fetched" in caplog.text
    assert await protected.status(known) == 200
    protected.issuer.status = 200
    assert await protected.status(protected.token(key=Key())) == 401


async def test_an_issuer_that_hangs_holds_up_nobody_else(
    protected: Protected, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kgagent.adapters.mcp.oauth.TIMEOUT", 60)
    known = protected.token()
    assert await protected.status(known) == 200
    arrived, released = threading.Event(), threading.Event()

    def hang(_: object) -> Response:
        arrived.set()
        released.wait(30)
        return Response("{}", content_type="application/json")

    protected.issuer.http.clear()
    protected.issuer.http.expect_request("/keys").respond_with_handler(hang)
    waiting = [asyncio.create_task(protected.status(protected.token(key=Key()))) for _ in range(3)]
    await asyncio.to_thread(arrived.wait, 30)
    assert [await protected.status(each) for each in (known, STATIC)] == [200, 200]
    assert not any(task.done() for task in waiting)
    released.set()
    assert await asyncio.gather(*waiting) == [503] * 3


async def test_resource_audience_claim_and_keys_can_be_given(
    graph: KnowledgeGraph, issuer: AuthorizationServer
) -> None:
    oauth = OAuthOptions(
        issuer=issuer.issuer,
        resource="https://Graph.Example:443/mcp",
        audience="api://graph",
        user_claim="https://example.org/user",
        jwks_url=f"{issuer.issuer}/keys",
    )
    user_id = f"user-{uuid.uuid4()}"
    async with http_server(
        graph, HttpOptions(oauth=oauth, structured=True, toolsets="all")
    ) as running:
        user: dict[str, Any] = {"https://example.org/user": user_id}
        token = issuer.token("api://graph", **user)
        async with over_http(running.url, token=token) as client:
            succeeded(await call(client, "create_node", label="Person", name="Ada"))
        headers = {"Host": "graph.example", "Authorization": f"Bearer {token}"}
        assert (await knock(running.url, "auto", **headers)).status_code == 200
        refused = await knock(running.url, "auto", Host="graph.example")
        metadata = "https://graph.example/.well-known/oauth-protected-resource/mcp"
        assert f'resource_metadata="{metadata}"' in refused.headers["WWW-Authenticate"]
        other = issuer.token("https://graph.example/mcp", **user)
        assert (
            await knock(running.url, "auto", Authorization=f"Bearer {other}")
        ).status_code == 401
    assert set(issuer.asked) == {"/keys"}
    assert succeeded(await graph.tools(user_id=user_id).explore(text_matches=["Ada"]))["nodes"]


class Storage:
    """Where a client keeps its token."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        raise AssertionError(client_info)


async def test_the_sdks_client_finds_the_issuer_and_gets_a_token(
    protected: Protected, graph: KnowledgeGraph
) -> None:
    user_id = f"user-{uuid.uuid4()}"
    protected.issuer.claims = {"sub": user_id, "scope": SCOPE}
    auth = ClientCredentialsOAuthProvider(
        protected.url, Storage(), CLIENT_ID, CLIENT_SECRET, issuer=protected.issuer.issuer
    )
    async with (
        plain_client(auth=auth, timeout=60) as http,
        Client(streamable_http_client(protected.url, http_client=http)) as client,
    ):
        succeeded(await call(client, "create_node", label="Person", name="Ada"))
    assert protected.issuer.asked.count("/token") == 1
    assert succeeded(await graph.tools(user_id=user_id).explore(text_matches=["Ada"]))["nodes"]
