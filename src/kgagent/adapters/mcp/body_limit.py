"""Refuses requests over HTTP that are too large to be parsed while other users wait."""

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BODY = 1_048_576
"""Bytes of a request, as the transport of the SDK checks them."""

MAX_MARKS = 40_000
"""Commas and opening brackets of a request: a JSON parser makes at most one object for each."""

_MARKS = b",[{"
_REFUSAL = f"Payload too large: a request may have at most {MAX_MARKS:,} commas and opening brackets, got {{given:,}}"


class StructureLimit:
    """ASGI middleware that refuses a body with very many values, before anything parses it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the body up to the limit of the transport, count, and hand it on or refuse it."""
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        messages: list[Message] = []
        size = marks = 0
        while size <= MAX_BODY:
            message = await receive()
            messages.append(message)
            body = message.get("body", b"")
            size += len(body)
            marks += sum(map(body.count, _MARKS))
            if message["type"] != "http.request" or not message.get("more_body"):
                break
        if marks > MAX_MARKS:
            refusal = PlainTextResponse(_REFUSAL.format(given=marks), status_code=413)
            await refusal(scope, receive, send)
            return

        async def replayed() -> Message:
            return messages.pop(0) if messages else await receive()

        await self._app(scope, replayed, send)
