"""How many requests of a token are let through, with a clock that the test moves."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.types import Message, Receive, Scope, Send

from kgagent.adapters.mcp.access_tokens import PLACE_CLAIM
from kgagent.adapters.mcp.token_limits import SESSION_IDLE, Limits, TokenLimits

CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
CANCEL = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
REPLY = {"jsonrpc": "2.0", "id": 1, "result": {"method": "is only a word here"}}
MODERN = {"mcp-protocol-version": "2026-07-28"}


class Served:
    """An app that opens a session where none is named, and answers when it may."""

    def __init__(self, limits: Limits, *, stateless: bool = False) -> None:
        self.now = 0.0
        self.gate = asyncio.Event()
        self.gate.set()
        self.bodies: list[bytes] = []
        self.status = 200
        self.opened = 0
        self.limits = TokenLimits(self._app, limits, stateless=stateless, clock=lambda: self.now)

    async def _app(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = b""
        more = True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        self.bodies.append(body)
        await self.gate.wait()
        names = dict(scope["headers"])
        headers = []
        if scope["method"] == "POST" and not {b"mcp-session-id", b"mcp-protocol-version"} & names.keys():
            self.opened += 1
            headers = [(b"mcp-session-id", f"session {self.opened}".encode())]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    async def request(
        self,
        token: int | str | None = 1,
        *,
        method: str = "POST",
        headers: Mapping[str, str] = MODERN,
        body: object = CALL,
    ) -> tuple[int, Mapping[str, str], Any]:
        """Send a request and give the status, headers and body of the answer."""
        text = json.dumps(body).encode()
        user = None
        if isinstance(token, int):
            user = AuthenticatedUser(AccessToken(token="", client_id="ada", scopes=[], claims={PLACE_CLAIM: token}))
        elif token is not None:
            user = AuthenticatedUser(AccessToken(token="", client_id="c", subject=token, scopes=[]))
        all_headers = {"content-length": str(len(text)), **headers}
        scope: Scope = {
            "type": "http",
            "method": method,
            "user": user,
            "headers": [(name.encode(), value.encode()) for name, value in all_headers.items()],
        }
        parts = [text[:10], text[10:]]
        sent: list[Message] = []

        async def receive() -> Message:
            part = parts.pop(0)
            return {"type": "http.request", "body": part, "more_body": bool(parts)}

        async def send(message: Message) -> None:
            sent.append(message)

        await self.limits(scope, receive, send)
        answered = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        content = b"".join(message.get("body", b"") for message in sent[1:])
        return sent[0]["status"], answered, json.loads(content) if content else None


def limits(*, concurrent: int = 0, per_minute: int = 0, sessions: int = 0) -> Limits:
    return Limits(concurrent=concurrent, per_minute=per_minute, sessions=sessions)


async def test_a_token_has_so_many_requests_in_any_minute() -> None:
    served = Served(limits(per_minute=3))
    for _ in range(3):
        assert (await served.request())[0] == 200
        served.now += 10
    status, headers, body = await served.request()
    assert (status, headers["retry-after"], headers["content-type"]) == (429, "30", "application/json")
    assert body["jsonrpc"] == "2.0"
    assert body["id"] is None
    assert body["error"]["message"] == (
        "Too many requests: this access token has reached its limit of 3 requests per minute. Try again in 30 s"
    )
    served.now += 29.9
    assert (await served.request())[0] == 429
    served.now += 0.1
    assert [(await served.request())[0] for _ in range(2)] == [200, 429]


@pytest.mark.parametrize("other", [2, "another user"])
async def test_each_token_counts_for_itself(other: int | str) -> None:
    served = Served(limits(per_minute=1))
    assert [(await served.request(token))[0] for token in (1, 1, other, other)] == [200, 429, 200, 429]


async def test_requests_without_a_valid_token_are_left_to_the_app() -> None:
    served = Served(limits(per_minute=1))
    assert [(await served.request(None))[0] for _ in range(3)] == [200] * 3


async def test_at_most_so_many_requests_run_at_once() -> None:
    served = Served(limits(concurrent=2))
    served.gate.clear()
    running = [asyncio.create_task(served.request()) for _ in range(2)]
    await asyncio.sleep(0)
    status, headers, body = await served.request()
    assert (status, headers["retry-after"]) == (429, "1")
    assert "this access token has reached its limit of 2 concurrent requests" in body["error"]["message"]
    assert len(served.bodies) == 2
    other = asyncio.create_task(served.request(2))
    served.gate.set()
    assert [(await request)[0] for request in (*running, other)] == [200] * 3
    assert (await served.request())[0] == 200


@pytest.mark.parametrize("message", [CANCEL, REPLY])
async def test_messages_that_end_a_call_pass_while_all_places_are_taken(message: dict[str, Any]) -> None:
    served = Served(limits(concurrent=1))
    served.gate.clear()
    running = asyncio.create_task(served.request())
    await asyncio.sleep(0)
    ending = asyncio.create_task(served.request(body=message))
    await asyncio.wait([ending], timeout=0.01)
    assert json.loads(served.bodies[-1]) == message
    assert (await served.request())[0] == 429
    served.gate.set()
    assert [(await running)[0], (await ending)[0]] == [200, 200]


async def test_a_large_or_invalid_message_is_no_exception() -> None:
    served = Served(limits(concurrent=1))
    served.gate.clear()
    running = asyncio.create_task(served.request())
    await asyncio.sleep(0)
    assert (await served.request(body={**CANCEL, "more": "x" * 20_000}))[0] == 429
    assert (await served.request(body=[CANCEL]))[0] == 429
    assert (await served.request(body=CANCEL, headers={**MODERN, "content-length": "no"}))[0] == 429
    served.gate.set()
    await running


async def test_a_failed_request_gives_its_place_back() -> None:
    served = Served(limits(concurrent=1))
    served.gate.clear()
    running = asyncio.create_task(served.request())
    await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    served.gate.set()
    assert (await served.request())[0] == 200


async def test_a_token_has_so_many_sessions() -> None:
    served = Served(limits(sessions=2))
    for _ in range(2):
        assert (await served.request(headers={}))[0] == 200
    status, headers, body = await served.request(headers={})
    assert (status, headers["retry-after"]) == (429, "1800")
    assert "this access token has reached its limit of 2 open sessions; end one" in body["error"]["message"]
    # Requests in a session, and those of clients without sessions, go on.
    assert (await served.request(headers={"mcp-session-id": "session 1"}))[0] == 200
    assert (await served.request(headers=MODERN))[0] == 200
    assert (await served.request(2, headers={}))[0] == 200
    assert (await served.request(method="DELETE", headers={"mcp-session-id": "session 2"}))[0] == 200
    assert [(await served.request(headers={}))[0] for _ in range(2)] == [200, 429]


async def test_concurrent_openings_do_not_exceed_the_limit() -> None:
    served = Served(limits(sessions=2))
    answers = await asyncio.gather(*(served.request(headers={}) for _ in range(5)))
    assert sorted(status for status, *_ in answers) == [200, 200, 429, 429, 429]


async def test_sessions_that_are_idle_refused_or_unknown_do_not_count() -> None:
    served = Served(limits(sessions=1))
    served.status = 400
    assert (await served.request(headers={}))[0] == 400
    served.status = 200
    assert (await served.request(headers={}))[0] == 200
    served.now += SESSION_IDLE - 1
    assert (await served.request(headers={"mcp-session-id": "session 2"}))[0] == 200
    served.now += SESSION_IDLE - 1
    assert (await served.request(headers={}))[0] == 429
    served.now += 1
    assert (await served.request(headers={}))[0] == 200
    served.status = 404
    assert (await served.request(headers={"mcp-session-id": "session 3"}))[0] == 404
    served.status = 200
    assert (await served.request(headers={}))[0] == 200


async def test_a_session_in_use_is_not_idle() -> None:
    served = Served(limits(sessions=1))
    await served.request(headers={})
    served.gate.clear()
    listening = asyncio.create_task(served.request(method="GET", headers={"mcp-session-id": "session 1"}))
    await asyncio.sleep(0)
    served.now += 2 * SESSION_IDLE
    assert (await served.request(headers={}))[0] == 429
    served.gate.set()
    await listening
    served.now += SESSION_IDLE
    assert (await served.request(headers={}))[0] == 200


async def test_a_server_without_sessions_counts_none() -> None:
    served = Served(limits(sessions=1), stateless=True)
    assert [(await served.request(headers={}))[0] for _ in range(3)] == [200] * 3


async def test_a_session_can_be_ended_when_no_request_is_left() -> None:
    served = Served(limits(per_minute=1))
    await served.request(headers={})
    session = {"mcp-session-id": "session 1"}
    assert (await served.request(headers=session))[0] == 429
    assert (await served.request(method="DELETE", headers=session))[0] == 200
    assert (await served.request(method="DELETE", headers=session))[0] == 429


async def test_tokens_that_take_nothing_are_forgotten() -> None:
    served = Served(limits(per_minute=5))
    for number in range(50):
        await served.request(f"user {number}")
    assert len(served.limits) == 50
    served.now += 61
    await served.request("another user")
    assert len(served.limits) == 1


async def test_without_limits_everything_passes() -> None:
    served = Served(limits())
    assert [(await served.request(headers={}))[0] for _ in range(5)] == [200] * 5
