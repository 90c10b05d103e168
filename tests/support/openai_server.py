"""A local server that speaks OpenAI's protocol of embeddings over real HTTP, and fails as a test
asks.
"""

import base64
import json
import re
import threading
from array import array
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from socket import SHUT_RDWR
from types import TracebackType
from typing import Any, Self

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from kgagent.embedding.hashing import hash_embedding

API_KEY = "sk-test-5f2c9e"
DEFAULT_LENGTHS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}
_MAX_HOLD_LENGTH = 30.0


@dataclass(frozen=True, slots=True)
class Received:
    """One request as it came in."""

    model: str
    inputs: list[str]
    encoding_format: str | None
    dimensions: int | None


Item = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Exchange:
    """What a fault has at hand: the request, the right answer to it, and the event that ends all
    waiting.
    """

    request: Request
    items: list[Item]
    released: threading.Event


Fault = Callable[[Exchange], Response]
"""Answers a request in place of the right answer."""


@dataclass(slots=True)
class _Traffic:
    """What came in and how much of it at once; the server's threads share it."""

    received: list[Received] = field(default_factory=list)
    most_at_once: int = 0
    _now: int = 0
    _guard: threading.Condition = field(default_factory=threading.Condition)

    @contextmanager
    def counted(self) -> Iterator[None]:
        with self._guard:
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
        try:
            yield
        finally:
            with self._guard:
                self._now -= 1

    def note(self, received: Received) -> None:
        with self._guard:
            self.received.append(received)
            self._guard.notify_all()

    def wait_for(self, count: int) -> None:
        with self._guard:
            came = self._guard.wait_for(lambda: len(self.received) >= count, _MAX_HOLD_LENGTH)
        if not came:
            raise TimeoutError(
                f"{len(self.received)} of {count} requests came in {_MAX_HOLD_LENGTH:g} s"
            )


class OpenAIServer:
    """Serves `/v1/embeddings` on a free loopback port, as a context manager.

    The embedding of a text is deterministic, of length 1, and near that of texts that share its
    words. Like OpenAI it checks the key, the model, the number of inputs and their tokens; it
    counts a token for each UTF-8 byte, the most that there can be.

        with OpenAIServer() as server:
            server.fail_next(status(500), times=2)
            embedder = OpenAIEmbedder(api_key=API_KEY, base_url=server.base_url)
    """

    def __init__(self, *, models: Mapping[str, int] = DEFAULT_LENGTHS) -> None:
        """Prepare.

        Args:
            models: the models served and the length of each one's embeddings.
        """
        self._models = dict(models)
        self._http = HTTPServer(host="127.0.0.1", threaded=True)
        self._faults: deque[Fault] = deque()
        self._traffic = _Traffic()
        self._released = threading.Event()
        self._round = 0

    def __enter__(self) -> Self:
        self._http.start()
        self._http.expect_request(
            re.compile(r"^/\d+/v1/embeddings$"), method="POST"
        ).respond_with_handler(self._handle)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._released.set()
        self._http.stop()

    @property
    def base_url(self) -> str:
        """What `OPENAI_BASE_URL` is set to; a new address after each reset, to recognize late
        requests.
        """
        return str(self._http.url_for(f"/{self._round}/v1"))

    @property
    def requests(self) -> list[Received]:
        """The requests so far, failed ones included."""
        return list(self._traffic.received)

    @property
    def inputs(self) -> list[str]:
        """All texts of all requests so far."""
        return [text for request in self.requests for text in request.inputs]

    @property
    def most_at_once(self) -> int:
        """How many requests were under way together at the most."""
        return self._traffic.most_at_once

    def wait_for(self, count: int) -> None:
        """Block until so many requests have come in; asynchronous tests call it in a thread.

        Raises:
            TimeoutError: fewer came within 30 s.
        """
        self._traffic.wait_for(count)

    def fail_next(self, fault: Fault, *, times: int = 1) -> None:
        """Answer the next requests that are not spoken for with a fault."""
        self._faults.extend([fault] * times)

    def reset(self) -> None:
        """Forget requests and faults, and let go of what is held."""
        self._round += 1
        self._released.set()
        self._released = threading.Event()
        self._traffic = _Traffic()
        self._faults.clear()

    def _handle(self, request: Request) -> Response:
        if not request.path.startswith(f"/{self._round}/"):
            return _error(503, "This request is of an earlier test")
        traffic, released = self._traffic, self._released
        with traffic.counted():
            body = json.loads(request.get_data())
            received = Received(
                body["model"], body["input"], body.get("encoding_format"), body.get("dimensions")
            )
            traffic.note(received)
            refusal = self._refusal(request, received)
            if refusal is not None:
                return refusal
            items = self._items(received)
            fault = self._faults.popleft() if self._faults else answered
            return fault(Exchange(request, items, released))

    def _wrong_key(self, request: Request) -> Response | None:
        authorization = request.headers.get("Authorization")
        if authorization == f"Bearer {API_KEY}":
            return None
        return _error(401, f"Incorrect API key: {authorization}", "invalid_api_key")

    def _refusal(self, request: Request, received: Received) -> Response | None:
        if (wrong_key := self._wrong_key(request)) is not None:
            return wrong_key
        if received.model not in self._models:
            return _error(404, f"The model `{received.model}` does not exist", "model_not_found")
        wrong = self._wrong_dimensions(received) or _wrong_inputs(received.inputs)
        return _error(400, wrong) if wrong else None

    def _wrong_dimensions(self, received: Received) -> str | None:
        if received.dimensions is None:
            return None
        if received.model == "text-embedding-ada-002":
            return "This model does not support specifying dimensions"
        longest = self._models[received.model]
        return (
            f"dimensions must be {longest} at the most" if received.dimensions > longest else None
        )

    def _items(self, received: Received) -> list[Item]:
        length = received.dimensions or self._models[received.model]
        return [
            item(
                index, hash_embedding(text, length), as_base64=received.encoding_format == "base64"
            )
            for index, text in enumerate(received.inputs)
        ]


def _wrong_inputs(inputs: list[str]) -> str | None:
    sizes = [len(text.encode()) for text in inputs]
    if not 1 <= len(sizes) <= 2048 or min(sizes) == 0:
        return "'$.input' is invalid"
    return "Too many tokens" if max(sizes) > 8192 or sum(sizes) > 300_000 else None


def item(index: int, vector: Sequence[float], *, as_base64: bool = False) -> Item:
    """One embedding as it stands in an answer."""
    embedding = (
        base64.b64encode(array("f", vector).tobytes()).decode() if as_base64 else list(vector)
    )
    return {"object": "embedding", "index": index, "embedding": embedding}


def answered(exchange: Exchange) -> Response:
    """The right answer."""
    return _list(exchange.items)


def status(
    code: int,
    *,
    message: str = "no",
    error_code: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Fault:
    """An error in OpenAI's form, after which clients retry at once unless `headers` ask them to
    wait.
    """
    return lambda _: _error(code, message, error_code, headers or {"retry-after-ms": "1"})


def altered(change: Callable[[list[Item]], list[Item]]) -> Fault:
    """The right answer with its list of embeddings changed."""
    return lambda exchange: _list(change(exchange.items))


def with_vector(vector: Sequence[float]) -> Fault:
    """The right answer with another first embedding."""
    return altered(lambda items: [item(0, vector, as_base64=True), *items[1:]])


def raw(body: str, *, content_type: str = "application/json") -> Fault:
    """Any body, with status 200."""
    return lambda _: Response(body, content_type=content_type)


def dropped(exchange: Exchange) -> Response:
    """The connection closed without an answer."""
    exchange.request.environ["werkzeug.socket"].shutdown(SHUT_RDWR)
    return Response()


def cut_off(exchange: Exchange) -> Response:
    """An answer whose connection is closed half-way."""
    whole = _list(exchange.items)
    length = len(whole.get_data())
    half = Response(whole.get_data()[: length // 2], content_type="application/json")
    half.automatically_set_content_length = False
    half.headers["Content-Length"] = str(length)
    return half


def held(exchange: Exchange) -> Response:
    """No answer until the server is reset or stopped."""
    exchange.released.wait(_MAX_HOLD_LENGTH)
    return _list(exchange.items)


def together(count: int) -> Fault:
    """Right answers that wait until `count` requests are under way at once; queue it for each of
    them.
    """
    barrier = threading.Barrier(count, timeout=_MAX_HOLD_LENGTH)

    def fault(exchange: Exchange) -> Response:
        barrier.wait()
        return _list(exchange.items)

    return fault


def _list(items: list[Item]) -> Response:
    usage = {"prompt_tokens": 0, "total_tokens": 0}
    return _json({"object": "list", "data": items, "model": "served", "usage": usage})


def _error(
    code: int, message: str, error_code: str | None = None, headers: Mapping[str, str] | None = None
) -> Response:
    body = {"error": {"message": message, "type": "error", "param": None, "code": error_code}}
    return _json(body, code, headers)


def _json(body: object, code: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(json.dumps(body), code, dict(headers or {}), content_type="application/json")
