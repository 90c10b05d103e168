"""Limits the use of the server by one access token: concurrent requests, requests per minute, and sessions."""

import json
import math
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.shared.inbound import MCP_PROTOCOL_VERSION_HEADER
from mcp.types import ErrorData, JSONRPCError
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kgagent.adapters.mcp.access_tokens import PLACE_CLAIM

MINUTE = 60.0
SESSION_IDLE = 1_800.0
"""Seconds after which the transport ends a session that nobody uses."""

TOO_MANY_REQUESTS = -32_029
"""Code of the JSON-RPC error, among those that are free for servers."""

SMALL_BODY = 10_000
"""Bytes up to which a message is read although all places are taken: it may cancel a call or answer a question."""


@dataclass(frozen=True)
class Limits:
    """What one token may take; 0 is no limit.

    Attributes:
        concurrent: requests that run at once.
        per_minute: requests in any 60 seconds.
        sessions: open sessions.
    """

    concurrent: int
    per_minute: int
    sessions: int


@dataclass
class _Session:
    used_at: float
    running: int = 0


@dataclass
class _Usage:
    """What a token takes at present."""

    running: int = 0
    opening: int = 0
    requests: deque[float] = field(default_factory=deque)
    sessions: dict[str, _Session] = field(default_factory=dict)

    def discard_past(self, now: float) -> None:
        """Discard requests of more than a minute ago, and sessions that the transport has ended."""
        while self.requests and self.requests[0] <= now - MINUTE:
            self.requests.popleft()
        over = [key for key, each in self.sessions.items() if not each.running and each.used_at <= now - SESSION_IDLE]
        for key in over:
            del self.sessions[key]

    @property
    def is_idle(self) -> bool:
        return not (self.running or self.opening or self.requests or self.sessions)


@dataclass(frozen=True)
class _Refusal:
    taken: str
    seconds: float

    def response(self) -> Response:
        """Status 429 with an error that clients of the SDK hand to their caller."""
        seconds = max(1, math.ceil(self.seconds))
        message = f"Too many requests: {self.taken}. Try again in {seconds} s"
        error = JSONRPCError(jsonrpc="2.0", id=None, error=ErrorData(code=TOO_MANY_REQUESTS, message=message))
        return Response(
            error.model_dump_json(by_alias=True, exclude_unset=True),
            status_code=HTTPStatus.TOO_MANY_REQUESTS,
            media_type="application/json",
            headers={"Retry-After": str(seconds)},
        )


class TokenLimits:
    """ASGI middleware that refuses requests of a token that takes more than its share. It stands after authentication.

    Each static token counts for itself; the tokens of an authorization server, which are renewed all the time, count by
    their user.
    """

    def __init__(
        self, app: ASGIApp, limits: Limits, *, stateless: bool, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Limit an app.

        Args:
            app: the app.
            limits: what one token may take.
            stateless: whether the app opens no sessions.
            clock: returns seconds.
        """
        self._app = app
        self._limits = limits
        self._stateless = stateless
        self._clock = clock
        self._usage: dict[str, _Usage] = {}
        self._swept_at = clock()

    def __len__(self) -> int:
        """Number of tokens about which something is remembered."""
        return len(self._usage)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request, or refuse it."""
        token = _token_of(scope)
        if token is None:
            await self._app(scope, receive, send)
            return
        now = self._clock()
        self._sweep(now)
        usage = self._usage.setdefault(token, _Usage())
        usage.discard_past(now)
        headers = Headers(scope=scope)
        session_id = headers.get(MCP_SESSION_ID_HEADER)
        if scope["method"] == "DELETE" and session_id in usage.sessions:
            # It gives back what it takes.
            await self._serve(usage, session_id, scope, receive, send)
            return
        opens = self._opens_session(scope, headers)
        refusal = self._too_frequent(usage, now) or (self._too_many_sessions(usage, now) if opens else None)
        if refusal is not None:
            await refusal.response()(scope, receive, send)
            return
        if scope["method"] != "POST":
            # A stream of a session, which has at most one.
            usage.requests.append(now)
            await self._serve(usage, session_id, scope, receive, send)
            return
        if 0 < self._limits.concurrent <= usage.running:
            receive, waits_for_answer = await _peeked(headers, receive)
            if waits_for_answer:
                taken = f"this access token has reached its limit of {usage.running} concurrent requests"
                await _Refusal(taken, 1.0).response()(scope, receive, send)
                return
        usage.requests.append(now)
        usage.running += 1
        usage.opening += opens
        try:
            await self._serve(usage, session_id, scope, receive, send)
        finally:
            usage.running -= 1
            usage.opening -= opens

    def _opens_session(self, scope: Scope, headers: Headers) -> bool:
        if self._stateless or scope["method"] != "POST" or MCP_SESSION_ID_HEADER in headers:
            return False
        return headers.get(MCP_PROTOCOL_VERSION_HEADER) in (None, *HANDSHAKE_PROTOCOL_VERSIONS)

    def _too_frequent(self, usage: _Usage, now: float) -> _Refusal | None:
        limit = self._limits.per_minute
        if not 0 < limit <= len(usage.requests):
            return None
        return _Refusal(
            f"this access token has reached its limit of {limit} requests per minute", usage.requests[0] + MINUTE - now
        )

    def _too_many_sessions(self, usage: _Usage, now: float) -> _Refusal | None:
        limit = self._limits.sessions
        if not 0 < limit <= len(usage.sessions) + usage.opening:
            return None
        idle = [each.used_at + SESSION_IDLE - now for each in usage.sessions.values() if not each.running]
        taken = f"this access token has reached its limit of {limit} open sessions; end one, or let it idle for 30 min"
        return _Refusal(taken, min(idle, default=SESSION_IDLE))

    async def _serve(self, usage: _Usage, session_id: str | None, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, and note which session it opens, uses or ends."""

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start":
                opened = Headers(raw=message["headers"]).get(MCP_SESSION_ID_HEADER)
                succeeded = message["status"] < HTTPStatus.BAD_REQUEST
                if session_id is None and opened is not None and succeeded:
                    usage.sessions[opened] = _Session(self._clock())
                if message["status"] == HTTPStatus.NOT_FOUND or (scope["method"] == "DELETE" and succeeded):
                    usage.sessions.pop(session_id or "", None)
            await send(message)

        with self._used(usage.sessions.get(session_id or "")):
            await self._app(scope, receive, watched)

    @contextmanager
    def _used(self, session: _Session | None) -> Iterator[None]:
        if session is None:
            yield
            return
        session.running += 1
        try:
            yield
        finally:
            session.running -= 1
            session.used_at = self._clock()

    def _sweep(self, now: float) -> None:
        """Forget tokens that take nothing, once a minute, so that memory is bounded by what is in use."""
        if now < self._swept_at + MINUTE:
            return
        self._swept_at = now
        for token, usage in list(self._usage.items()):
            usage.discard_past(now)
            if usage.is_idle:
                del self._usage[token]


def _token_of(scope: Scope) -> str | None:
    """Names the token of a request; None without a valid one, which the app refuses."""
    user = scope.get("user")
    if scope["type"] != "http" or not isinstance(user, AuthenticatedUser):
        return None
    place = (user.access_token.claims or {}).get(PLACE_CLAIM)
    return f"user {user.access_token.subject}" if place is None else f"token {place}"


async def _peeked(headers: Headers, receive: Receive) -> tuple[Receive, bool]:
    """Whether a message is a request that waits for an answer; and what hands the message on.

    A notification, such as that a call is cancelled, and the answer to a question of the server end calls, so they must
    be possible while all places are taken.
    """
    length = headers.get("content-length", "")
    if not length.isdecimal() or int(length) > SMALL_BODY:
        return receive, True
    messages: list[Message] = []
    while not messages or messages[-1].get("more_body"):
        messages.append(await receive())
    body = b"".join(message.get("body", b"") for message in messages)
    try:
        sent = json.loads(body)
    except (ValueError, RecursionError):
        sent = None
    is_answered = not isinstance(sent, dict) or ("method" in sent and "id" in sent)

    async def replayed() -> Message:
        return messages.pop(0) if messages else await receive()

    return replayed, is_answered
