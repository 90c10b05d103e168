"""Serves the page on this machine, for one user's graph: three read-only paths behind a secret
token.
"""

import asyncio
import hmac
import json
import logging
import secrets
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

from pydantic import BaseModel, ConfigDict, Field

from kgagent.adapters.view.page import content_policy, served_page
from kgagent.adapters.view.view_builder import (
    DEFAULT_NEIGHBORS,
    MAX_NEIGHBORS,
    build_overview,
    build_view,
)
from kgagent.adapters.view.view_model import SourceText, ViewGraph, Vocabulary
from kgagent.errors import ConfigurationError, InputError, KgAgentError
from kgagent.knowledge_graph import KnowledgeGraph
from kgagent.models.hybrid import HybridSearchRequest
from kgagent.models.passage import in_section
from kgagent.validation import check_user_id, validate

ADDRESS = "127.0.0.1"
IDLE_SECONDS = 30
"""Seconds after which an idle connection is closed."""

MAX_QUERY_LENGTH = 8_000
SOURCE_TOKENS = 4_000
"""Tokens of the text of a source that the page shows, from a passage on."""

INTERNAL_ERROR = (
    "The search failed with an internal error; see the terminal in which kgagent view runs"
)
HTML = "text/html; charset=utf-8"
JSON = "application/json"
TEXT = "text/plain; charset=utf-8"

_HEADERS = {
    "Content-Security-Policy": f"{content_policy(served=True)}; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}

_log = logging.getLogger(__name__)


class ViewRequest(BaseModel):
    """A search by the page.

    Attributes:
        query: what to search for; empty for an overview.
        limit: maximum number of matching nodes and relationships together.
        neighbors: maximum number of neighbors of the matches.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)

    query: str = Field("", max_length=MAX_QUERY_LENGTH)
    limit: int = Field(20, ge=1, le=100)
    neighbors: int = Field(DEFAULT_NEIGHBORS, ge=0, le=MAX_NEIGHBORS)


class SourceRequest(BaseModel):
    """The text of a source.

    Attributes:
        source: its entity_key.
        around: words of the passage to begin at.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)

    source: str = Field(min_length=1, max_length=500)
    around: str = Field(min_length=1, max_length=MAX_QUERY_LENGTH)


@dataclass(frozen=True)
class Question:
    """What the page asks for under a path.

    Attributes:
        request: model of its parameters.
        answer: answers a request; called in a thread of the server.
    """

    request: type[BaseModel]
    answer: Callable[[Any], BaseModel]


@dataclass(frozen=True)
class ViewServer:
    """A running server.

    Attributes:
        url: address of the page. It contains a secret token: whoever knows it can read the user's
            graph.
    """

    url: str

    def address(self, query: str = "") -> str:
        """Address of the page that starts with a search for `query`."""
        return f"{self.url}#{quote(query, safe='')}" if query else self.url


@asynccontextmanager
async def view_server(
    graph: KnowledgeGraph, user_id: str, *, port: int = 0
) -> AsyncIterator[ViewServer]:
    """Serve the page while the block runs.

    Args:
        graph: an open graph.
        user_id: owner of the graph; requests cannot choose another user.
        port: port on 127.0.0.1; 0 uses a free port.

    Raises:
        ConfigurationError: the port is not available.
        InputError: the user id is empty.
    """
    check_user_id(user_id)
    loop = asyncio.get_running_loop()

    def search(request: ViewRequest) -> ViewGraph:
        return asyncio.run_coroutine_threadsafe(_view_of(graph, user_id, request), loop).result()

    def read(request: SourceRequest) -> SourceText:
        return asyncio.run_coroutine_threadsafe(_text_of(graph, user_id, request), loop).result()

    questions = {"search": Question(ViewRequest, search), "source": Question(SourceRequest, read)}
    try:
        server = SiteServer(questions, served_page(Vocabulary.of(graph.ontology), user_id), port)
    except OSError as error:
        raise ConfigurationError(
            f"Cannot listen on {ADDRESS}:{port}: {error.strerror or error}"
        ) from error
    thread = threading.Thread(target=server.serve_forever, name="kgagent-view", daemon=True)
    thread.start()
    try:
        yield ViewServer(server.url)
    finally:
        # The server's threads wait for this event loop, so the loop must not block on them.
        await asyncio.to_thread(server.shutdown)
        server.server_close()


async def _view_of(graph: KnowledgeGraph, user_id: str, request: ViewRequest) -> ViewGraph:
    query, neighbors = request.query, request.neighbors
    if not query:
        return await build_overview(
            graph.retrieval, user_id=user_id, limit=request.limit, max_neighbors=neighbors
        )
    result = await graph.retrieval.hybrid_search(
        HybridSearchRequest(query=query, limit=request.limit), user_id=user_id
    )
    return await build_view(
        graph.retrieval, result, user_id=user_id, query=query, max_neighbors=neighbors
    )


async def _text_of(graph: KnowledgeGraph, user_id: str, request: SourceRequest) -> SourceText:
    read = await graph.tools(user_id=user_id).read_source(
        entity_key=request.source, around=request.around, token_budget=SOURCE_TOKENS
    )
    if not read["success"]:
        raise InputError(read["error"])
    return SourceText(
        name=read["source"]["name"],
        said_on=read.get("said_on"),
        passages=tuple(in_section(one["text"], one.get("section")) for one in read["passages"]),
    )


class SiteServer(ThreadingHTTPServer):
    """Listens on the loopback address only; a token protects the page and what it asks."""

    def __init__(self, questions: Mapping[str, Question], page: str, port: int) -> None:
        """Bind the port.

        Raises:
            OSError: the port is not available.
        """
        super().__init__((ADDRESS, port), _Handler)
        self.questions = questions
        self.page = page.encode()
        self.token = secrets.token_urlsafe(32)
        self.hosts = {f"{name}:{self.server_port}" for name in (ADDRESS, "localhost")}

    @property
    def url(self) -> str:
        """Address of the page."""
        return f"http://{ADDRESS}:{self.server_port}/{self.token}/"


class _Handler(BaseHTTPRequestHandler):
    """Answers one request per connection, so that no connection outlives the server."""

    server: SiteServer
    server_version = "kgagent"
    sys_version = ""
    timeout = IDLE_SECONDS
    error_content_type = TEXT
    error_message_format = "%(message)s\n"

    def do_GET(self) -> None:
        """Answer with the page or with what it asks for."""
        try:
            address = urlsplit(self.path)
        except ValueError:
            self._refuse(HTTPStatus.BAD_REQUEST, "The address of the request is invalid")
            return
        hosts = self.headers.get_all("Host", [])
        if len(hosts) != 1 or not {*hosts, address.netloc or hosts[0]} <= self.server.hosts:
            # DNS rebinding: a foreign page whose host name resolves to this machine sends that
            # name.
            self._refuse(
                HTTPStatus.MISDIRECTED_REQUEST,
                "This server only answers to 127.0.0.1 and localhost",
            )
            return
        token, slash, path = address.path.removeprefix("/").partition("/")
        if not (
            slash
            and hmac.compare_digest(token.encode(), self.server.token.encode())
            and path in {"", *self.server.questions}
        ):
            self._refuse(
                HTTPStatus.NOT_FOUND, "Not found. Open the address that kgagent view printed"
            )
        elif path:
            self._reply(self.server.questions[path], address.query)
        else:
            self._answer(HTTPStatus.OK, HTML, self.server.page)

    def _reply(self, question: Question, query: str) -> None:
        if self.headers.get("Sec-Fetch-Site", "same-origin") not in {"same-origin", "none"}:
            self._fail(HTTPStatus.FORBIDDEN, "Only the page itself can search")
            return
        try:
            request = validate(question.request, dict(parse_qsl(query, keep_blank_values=True)))
            answer = question.answer(request)
        except InputError as error:
            self._fail(HTTPStatus.BAD_REQUEST, str(error))
        except KgAgentError as error:
            self._fail(HTTPStatus.BAD_GATEWAY, str(error))
        except Exception:
            _log.exception("A search by the page failed")
            self._fail(HTTPStatus.INTERNAL_SERVER_ERROR, INTERNAL_ERROR)
        else:
            self._answer(HTTPStatus.OK, JSON, answer.model_dump_json(exclude_none=True).encode())

    def _fail(self, status: HTTPStatus, reason: str) -> None:
        self._answer(status, JSON, json.dumps({"error": reason}).encode())

    def _refuse(self, status: HTTPStatus, reason: str) -> None:
        self._answer(status, TEXT, f"{reason}\n".encode())

    def _answer(self, status: HTTPStatus, content_type: str, body: bytes) -> None:
        try:
            self.send_response(status)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except ConnectionError:
            self.close_connection = True

    def end_headers(self) -> None:
        """Add the security headers of every response."""
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Log nothing: request lines contain the token."""
