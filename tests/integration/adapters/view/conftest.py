"""Fixtures that open a page in a real Chromium and check that it keeps its security policy."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Literal

import pytest
from playwright.async_api import Browser, ViewportSize

from kgagent.adapters.view import ViewGraph, Vocabulary, file_page
from tests.support.browser import WINDOW, Visit, chromium, visiting
from tests.support.fixtures import embedder
from tests.support.view_graphs import ONTOLOGY

__all__ = ["embedder"]

Scheme = Literal["light", "dark"]
Open = Callable[..., AbstractAsyncContextManager[Visit]]
"""Opens an address, or a graph as a file: `async with look(two_mentors(), scheme="dark") as
visit`.
"""


@pytest.fixture(scope="session")
async def browser() -> AsyncIterator[Browser]:
    """One Chromium for the whole run."""
    async with chromium() as running:
        yield running


@pytest.fixture
def look(browser: Browser, tmp_path: Path) -> Open:
    """Opens a page and checks afterwards that it violated no policy and made no foreign request."""

    @asynccontextmanager
    async def opened_page(
        what: ViewGraph | str,
        *,
        scheme: Scheme = "light",
        size: ViewportSize = WINDOW,
        touch: bool = False,
        may_fail: bool = False,
    ) -> AsyncIterator[Visit]:
        address = what if isinstance(what, str) else _file(what, tmp_path)
        async with visiting(browser, scheme=scheme, size=size, touch=touch) as visit:
            await visit.page.goto(address)
            yield visit
            home = address.partition("#")[0]
            assert [request for request in visit.requests if not request.startswith(home)] == []
            assert await visit.violations() == []
            assert may_fail or visit.complaints == []

    return opened_page


def _file(seen: ViewGraph, folder: Path) -> str:
    path = folder / "seen.html"
    path.write_text(file_page(seen, Vocabulary.of(ONTOLOGY), "me"), "utf-8")
    return path.as_uri()
