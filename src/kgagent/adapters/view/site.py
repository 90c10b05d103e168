"""What the page's server answers, and to whom: two addresses behind a token, and nothing that writes."""

import hmac
import json
import logging
import secrets
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from kgagent.adapters.view.model import ViewGraph
from kgagent.adapters.view.page import content_policy
from kgagent.adapters.view.seen import AROUND, MAX_AROUND
from kgagent.errors import InputError, KgAgentError

ADDRESS = "127.0.0.1"
IDLE_SECONDS = 30
"""How long a connection may say nothing before it is closed."""

LONGEST = 8_000
"""Characters of a question."""
LIMITS = {"limit": (1, 100), "around": (0, MAX_AROUND)}
WORDS = {"limit": "matches", "around": "around them"}
"""What the page calls the numbers that it sends."""

FAULT = "The search failed inside; the terminal that kgagent view runs in tells more"
HTML = "text/html; charset=utf-8"
JSON = "application/json"
TEXT = "text/plain; charset=utf-8"

_log = logging.getLogger(__name__)


class ViewRequest(BaseModel):
    """What the page asks for.

    Attributes:
        q: what to look for.
        limit: nodes and relationships together that may match.
        around: nodes next to them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)

    q: str = Field(min_length=1, max_length=LONGEST)
    limit: int = Field(20, ge=LIMITS["limit"][0], le=LIMITS["limit"][1])
    around: int = Field(AROUND, ge=LIMITS["around"][0], le=LIMITS["around"][1])


class Site:
    """The page, the search behind it, and the token without which neither answers."""

    def __init__(self, search: Callable[[ViewRequest], ViewGraph], page: str) -> None:
        self.search = search
        self.page = page.encode()
        self.token = secrets.token_urlsafe(32)

    def path_behind_token(self, path: str) -> str | None:
        """What is asked for behind the token; None where another token, or none, was shown."""
        shown, slash, wanted = path.removeprefix("/").partition("/")
        return wanted if slash and hmac.compare_digest(shown.encode(), self.token.encode()) else None


class SiteServer(ThreadingHTTPServer):
    """Listens on this machine alone."""

    def __init__(self, site: Site, port: int) -> None:
        """Take the port.

        Raises:
            OSError: it cannot be had.
        """
        super().__init__((ADDRESS, port), _Handler)
        self.site = site
        self.hosts = {f"{name}:{self.server_port}" for name in (ADDRESS, "localhost")}


class _Handler(BaseHTTPRequestHandler):
    """Answers one request a connection, so that none outlives the server."""

    server: SiteServer
    server_version = "kgagent"
    sys_version = ""
    timeout = IDLE_SECONDS
    error_content_type = TEXT
    error_message_format = "%(message)s\n"

    def do_GET(self) -> None:
        """Answer the page, or a search of its."""
        if self.headers.get("Host", "") not in self.server.hosts:
            # A web page that has its own name lead to this machine says that name here.
            self._refuse(HTTPStatus.MISDIRECTED_REQUEST, "This server answers to 127.0.0.1 and localhost alone")
            return
        address = urlsplit(self.path)
        wanted = self.server.site.path_behind_token(address.path)
        if wanted == "":
            self._answer(HTTPStatus.OK, HTML, self.server.site.page)
        elif wanted == "search":
            self._search(address.query)
        else:
            self._refuse(HTTPStatus.NOT_FOUND, "Nothing is here. Open the address that kgagent view printed")

    def _search(self, query: str) -> None:
        if self.headers.get("Sec-Fetch-Site", "same-origin") not in {"same-origin", "none"}:
            self._fail(HTTPStatus.FORBIDDEN, "Only the page itself may search")
            return
        try:
            found = self.server.site.search(_request(query))
        except InputError as error:
            self._fail(HTTPStatus.BAD_REQUEST, str(error))
        except KgAgentError as error:
            self._fail(HTTPStatus.BAD_GATEWAY, str(error))
        except Exception:
            _log.exception("A search of the page failed")
            self._fail(HTTPStatus.INTERNAL_SERVER_ERROR, FAULT)
        else:
            self._answer(HTTPStatus.OK, JSON, found.model_dump_json(exclude_none=True).encode())

    def _fail(self, status: HTTPStatus, why: str) -> None:
        self._answer(status, JSON, json.dumps({"error": why}).encode())

    def _refuse(self, status: HTTPStatus, why: str) -> None:
        self._answer(status, TEXT, f"{why}\n".encode())

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
        """Send what holds for every answer with it."""
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
        """Keep quiet: a line for each request would hold the token."""


def _request(query: str) -> ViewRequest:
    try:
        return ViewRequest.model_validate(dict(parse_qsl(query, keep_blank_values=True)))
    except ValidationError as error:
        raise InputError("; ".join(map(_told, error.errors()))) from None


def _told(fault: ErrorDetails) -> str:
    """What was wrong, in the words of the page."""
    name, given = str(fault["loc"][0]), fault["input"]
    match fault["type"], name:
        case "string_too_long", _:
            return f"The question is too long: {len(given):,} characters, of which it may have {LONGEST:,}. Shorten it"
        case (("string_too_short" | "missing"), "q"):
            return "Nothing was asked. Write what to look for"
        case "extra_forbidden", _:
            return f"The page's server takes no {name!r}; reload the page"
        case _:
            least, most = LIMITS[name]
            return f"{WORDS[name]} must be a number from {least} to {most}, got {given!r}"
