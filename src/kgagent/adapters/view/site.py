"""The HTTP server of the page: two read-only paths behind a secret token."""

import hmac
import json
import logging
import secrets
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

from pydantic import BaseModel, ConfigDict, Field

from kgagent.adapters.view.page import content_policy
from kgagent.adapters.view.view_builder import DEFAULT_NEIGHBORS, MAX_NEIGHBORS
from kgagent.adapters.view.view_model import ViewGraph
from kgagent.errors import InputError, KgAgentError
from kgagent.validation import validate

ADDRESS = "127.0.0.1"
IDLE_SECONDS = 30
"""Seconds after which an idle connection is closed."""

MAX_QUERY_LENGTH = 8_000
INTERNAL_ERROR = "The search failed with an internal error; see the terminal in which kgagent view runs"
HTML = "text/html; charset=utf-8"
JSON = "application/json"
TEXT = "text/plain; charset=utf-8"

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


class Site:
    """The page, its search, and the token that protects both."""

    def __init__(self, search: Callable[[ViewRequest], ViewGraph], page: str) -> None:
        self.search = search
        self.page = page.encode()
        self.token = secrets.token_urlsafe(32)

    def path_behind_token(self, path: str) -> str | None:
        """The part of a path after the token; None if the token is missing or wrong."""
        token, slash, rest = path.removeprefix("/").partition("/")
        return rest if slash and hmac.compare_digest(token.encode(), self.token.encode()) else None


class SiteServer(ThreadingHTTPServer):
    """Listens on the loopback address only."""

    def __init__(self, site: Site, port: int) -> None:
        """Bind the port.

        Raises:
            OSError: the port is not available.
        """
        super().__init__((ADDRESS, port), _Handler)
        self.site = site
        self.hosts = {f"{name}:{self.server_port}" for name in (ADDRESS, "localhost")}


class _Handler(BaseHTTPRequestHandler):
    """Answers one request per connection, so that no connection outlives the server."""

    server: SiteServer
    server_version = "kgagent"
    sys_version = ""
    timeout = IDLE_SECONDS
    error_content_type = TEXT
    error_message_format = "%(message)s\n"

    def do_GET(self) -> None:
        """Answer with the page or with a search result."""
        if self.headers.get("Host", "") not in self.server.hosts:
            # DNS rebinding: a foreign page whose host name resolves to this machine sends that name.
            self._refuse(HTTPStatus.MISDIRECTED_REQUEST, "This server only answers to 127.0.0.1 and localhost")
            return
        try:
            address = urlsplit(self.path)
        except ValueError:
            self._refuse(HTTPStatus.BAD_REQUEST, "The address of the request is invalid")
            return
        path = self.server.site.path_behind_token(address.path)
        if path == "":
            self._answer(HTTPStatus.OK, HTML, self.server.site.page)
        elif path == "search":
            self._search(address.query)
        else:
            self._refuse(HTTPStatus.NOT_FOUND, "Not found. Open the address that kgagent view printed")

    def _search(self, query: str) -> None:
        if self.headers.get("Sec-Fetch-Site", "same-origin") not in {"same-origin", "none"}:
            self._fail(HTTPStatus.FORBIDDEN, "Only the page itself can search")
            return
        try:
            view = self.server.site.search(_request(query))
        except InputError as error:
            self._fail(HTTPStatus.BAD_REQUEST, str(error))
        except KgAgentError as error:
            self._fail(HTTPStatus.BAD_GATEWAY, str(error))
        except Exception:
            _log.exception("A search by the page failed")
            self._fail(HTTPStatus.INTERNAL_SERVER_ERROR, INTERNAL_ERROR)
        else:
            self._answer(HTTPStatus.OK, JSON, view.model_dump_json(exclude_none=True).encode())

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
        policy = f"{content_policy(served=True)}; frame-ancestors 'none'"
        for name, value in (
            ("Content-Security-Policy", policy),
            ("Cache-Control", "no-store"),
            ("Cross-Origin-Opener-Policy", "same-origin"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Referrer-Policy", "no-referrer"),
            ("X-Content-Type-Options", "nosniff"),
        ):
            self.send_header(name, value)
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Log nothing: request lines contain the token."""


def _request(query: str) -> ViewRequest:
    return validate(ViewRequest, dict(parse_qsl(query, keep_blank_values=True)))
