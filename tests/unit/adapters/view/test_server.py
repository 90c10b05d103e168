"""The HTTP server of the page."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPResponse

import pytest

from kgagent.adapters.view.server import (
    ADDRESS,
    INTERNAL_ERROR,
    Question,
    SiteServer,
    ViewRequest,
)
from kgagent.adapters.view.view_model import ViewGraph
from kgagent.errors import InputError, StoreError
from tests.support.view_graphs import two_mentors


@dataclass
class FakeSearch:
    """A fake search that records requests and returns a fixed graph or raises."""

    asked: list[ViewRequest] = field(default_factory=list)
    fault: Exception | None = None

    def search(self, request: ViewRequest) -> ViewGraph:
        self.asked.append(request)
        if self.fault is not None:
            raise self.fault
        return two_mentors()


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: str


Ask = Callable[..., Answer]


@pytest.fixture
def fake() -> FakeSearch:
    return FakeSearch()


@pytest.fixture
def server(fake: FakeSearch) -> Iterator[SiteServer]:
    questions = {"search": Question(ViewRequest, fake.search)}
    with SiteServer(questions, "<p>the page</p>", 0) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def ask(server: SiteServer) -> Ask:
    def one(path: str, *, method: str = "GET", host: str | None = None, **headers: str) -> Answer:
        connection = HTTPConnection(ADDRESS, server.server_port, timeout=30)
        try:
            connection.putrequest(method, path.replace("TOKEN", server.token), skip_host=True)
            connection.putheader("Host", host or f"{ADDRESS}:{server.server_port}")
            for name, value in headers.items():
                connection.putheader(name.replace("_", "-"), value)
            connection.endheaders()
            response: HTTPResponse = connection.getresponse()
            return Answer(response.status, dict(response.getheaders()), response.read().decode())
        finally:
            connection.close()

    return one


def test_the_page_is_behind_the_token_on_the_loopback_address(ask: Ask, server: SiteServer) -> None:
    answer = ask("/TOKEN/", host=f"localhost:{server.server_port}")
    assert server.server_address[0] == "127.0.0.1"
    assert len(server.token) >= 43
    assert (answer.status, answer.body) == (200, "<p>the page</p>")
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/search?query=x",
        "/TOKENx/search?query=x",
        "/TOKEN/search/x",
        "/%C3%A9/",
    ],
)
def test_other_paths_are_not_found(ask: Ask, fake: FakeSearch, path: str) -> None:
    answer = ask(path)
    assert answer.status == 404
    assert "the page" not in answer.body
    assert fake.asked == []


@pytest.mark.parametrize("path", ["/TOKEN/", "/TOKEN/search?query=x"])
@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "localhost.evil.example"])
def test_other_host_names_are_rejected(ask: Ask, fake: FakeSearch, path: str, host: str) -> None:
    assert ask(path, host=host).status == 421
    assert fake.asked == []


def test_a_second_host_or_another_one_in_the_target_is_rejected(
    ask: Ask, fake: FakeSearch, server: SiteServer
) -> None:
    own = f"127.0.0.1:{server.server_port}"
    assert ask("/TOKEN/search?query=x", Host="evil.example").status == 421
    assert ask("http://evil.example/TOKEN/search?query=x").status == 421
    assert fake.asked == []
    assert ask(f"http://{own}/TOKEN/search?query=x").status == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_search_by_another_page_is_rejected(ask: Ask, fake: FakeSearch, site: str) -> None:
    assert ask("/TOKEN/search?query=x", Sec_Fetch_Site=site).status == 403
    assert fake.asked == []


@pytest.mark.parametrize("method", ["POST", "OPTIONS", "HEAD"])
def test_only_get_requests_are_accepted(ask: Ask, fake: FakeSearch, method: str) -> None:
    assert ask("/TOKEN/search?query=x", method=method).status == 501
    assert fake.asked == []


def test_search_returns_the_graph(ask: Ask, fake: FakeSearch) -> None:
    answer = ask("/TOKEN/search?query=+who%20guides+me%3F&limit=7&neighbors=0")
    assert fake.asked == [ViewRequest(query="who guides me?", limit=7, neighbors=0)]
    assert ViewGraph.model_validate_json(answer.body) == two_mentors()


@pytest.mark.parametrize("query", ["", "query=", "query=+"])
def test_without_a_query_an_overview_is_requested(ask: Ask, fake: FakeSearch, query: str) -> None:
    assert ask(f"/TOKEN/search?{query}").status == 200
    assert fake.asked == [ViewRequest(query="")]


@pytest.mark.parametrize(
    ("query", "wrong"),
    [
        (
            f"query={'x' * 8_001}",
            f"query must have at most 8,000 characters, got 8,001: '{'x' * 116}...",
        ),
        ("query=x&limit=0", "limit must be at least 1, got '0'"),
        ("query=x&neighbors=many", "neighbors must be a whole number, got 'many'"),
        ("query=x&user=someone", "unknown argument user: did you mean query?"),
    ],
)
def test_invalid_search_is_described(ask: Ask, fake: FakeSearch, query: str, wrong: str) -> None:
    answer = ask(f"/TOKEN/search?{query}")
    assert answer.status == 400
    assert json.loads(answer.body)["error"] == wrong
    assert fake.asked == []


@pytest.mark.parametrize(
    ("fault", "status", "message"),
    [
        (InputError("say <b>what</b>"), 400, "say <b>what</b>"),
        (StoreError("the database is away"), 502, "the database is away"),
        (RuntimeError("a secret"), 500, INTERNAL_ERROR),
    ],
)
def test_failed_search_is_described(
    ask: Ask, fake: FakeSearch, fault: Exception, status: int, message: str
) -> None:
    fake.fault = fault
    answer = ask("/TOKEN/search?query=x")
    assert (answer.status, json.loads(answer.body)) == (status, {"error": message})
    assert answer.headers["Content-Type"] == "application/json"


@pytest.mark.parametrize("path", ["/TOKEN/", "/TOKEN/search?query=x", "/TOKEN/search", "/wrong/"])
def test_every_response_has_security_headers(ask: Ask, path: str) -> None:
    headers = ask(path, Origin="https://evil.example").headers
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert headers["Cache-Control"] == "no-store"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert not [name for name in headers if name.lower().startswith("access-control")]


def test_token_is_not_logged(
    ask: Ask, server: SiteServer, capfd: pytest.CaptureFixture[str]
) -> None:
    ask("/TOKEN/")
    ask("/TOKEN/nothing")
    assert server.token not in "".join(capfd.readouterr())


def test_an_address_that_is_none_is_a_bad_request(
    ask: Ask, capfd: pytest.CaptureFixture[str]
) -> None:
    assert ask("http://[/").status == 400
    assert "Traceback" not in capfd.readouterr().err
