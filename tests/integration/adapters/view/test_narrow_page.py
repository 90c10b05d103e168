"""The page in narrow windows: everything is visible and reachable, and a tap shows details."""

import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from itertools import combinations

import pytest
from playwright.async_api import FloatRect, Locator, Page, ViewportSize, expect

from kgagent.adapters.view import ViewGraph, Vocabulary
from kgagent.adapters.view.page import served_page
from kgagent.adapters.view.server import Question, SiteServer, ViewRequest
from tests.integration.adapters.view.conftest import Open
from tests.support.browser import Visit
from tests.support.view_graphs import ONTOLOGY, two_mentors, view_graph, view_node

pytestmark = pytest.mark.browser

USER = "someone-with-a-long-name@example.org"
HEIGHT = 740
PHONE: ViewportSize = {"width": 375, "height": HEIGHT}
CONTROLS = (
    "h1, #owner, #theme, #query, #fixed-query:visible, #search button, #search label.choice, #tools"
)


@contextmanager
def served(found: ViewGraph) -> Iterator[str]:
    """The address of a served page whose every search finds the same."""
    questions = {"search": Question(ViewRequest, lambda _: found)}
    with SiteServer(questions, served_page(Vocabulary.of(ONTOLOGY), USER), 0) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"{server.url}#mentors"
        finally:
            server.shutdown()
            thread.join()


@asynccontextmanager
async def opened(look: Open, kind: str, width: int) -> AsyncIterator[Visit]:
    """The page, served or as a file, with a graph on it."""
    size: ViewportSize = {"width": width, "height": HEIGHT}
    with served(two_mentors()) as address:
        async with look(address if kind == "view" else two_mentors(), size=size) as visit:
            await expect(visit.page.locator("#lists").get_by_role("button").first).to_be_attached()
            yield visit


async def box_of(locator: Locator) -> FloatRect:
    box = await locator.bounding_box()
    assert box is not None
    return box


async def in_view(page: Page) -> FloatRect:
    """The box of the details panel, which must be in the window."""
    details = page.get_by_role("region", name="Details", exact=True)
    box = await box_of(details)
    assert box["height"] > 100
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= HEIGHT + 1
    await expect(details.get_by_role("heading", level=2)).to_be_in_viewport(ratio=1)
    return box


def overlap(one: FloatRect, other: FloatRect) -> bool:
    wide = min(one["x"] + one["width"], other["x"] + other["width"]) - max(one["x"], other["x"])
    high = min(one["y"] + one["height"], other["y"] + other["height"]) - max(one["y"], other["y"])
    return min(wide, high) > 0.5


@pytest.mark.parametrize("width", [320, 600, 920])
@pytest.mark.parametrize("kind", ["view", "file"])
async def test_nothing_overflows_the_window_or_overlaps_a_control(
    look: Open, kind: str, width: int
) -> None:
    async with opened(look, kind, width) as visit:
        assert await visit.page.evaluate("document.documentElement.scrollWidth") <= width
        assert await visit.page.evaluate("document.querySelector('main').scrollWidth") <= width
        controls = {}
        for control in await visit.page.locator(CONTROLS).filter(visible=True).all():
            controls[
                await control.evaluate("(one) => one.id || one.textContent.trim()")
            ] = await box_of(control)
        assert len(controls) == (8 if kind == "view" else 5)
        assert [
            name
            for name, box in controls.items()
            if box["x"] < 0 or box["x"] + box["width"] > width
        ] == []
        assert [
            (first, second)
            for (first, one), (second, other) in combinations(controls.items(), 2)
            if overlap(one, other)
        ] == []


@pytest.mark.parametrize("width", [375, 768])
async def test_tap_in_the_drawing_shows_details_and_keeps_the_drawing_visible(
    look: Open, width: int
) -> None:
    async with look(two_mentors(), size={"width": width, "height": HEIGHT}, touch=True) as visit:
        page = visit.page
        [ruth] = [
            item for item in await page.evaluate("kg.graph.drawnItems()") if item["name"] == "Ruth"
        ]
        drawing = await box_of(page.locator("#graph"))
        await page.touchscreen.tap(drawing["x"] + ruth["x"], drawing["y"] + ruth["y"])
        await expect(page.get_by_role("region", name="Details", exact=True)).to_contain_text(
            "Keeps bees"
        )
        assert not overlap(await in_view(page), drawing)
        assert await box_of(page.locator("#graph")) == drawing


async def test_tap_in_the_list_shows_details_and_keeps_the_entry_visible(look: Open) -> None:
    nodes = [view_node(f"Person {number}", rank=number) for number in range(1, 21)]
    async with look(view_graph(nodes), size=PHONE, touch=True) as visit:
        entries = visit.page.locator("#lists").get_by_role("button")
        for entry in (entries.first, entries.nth(9), entries.last):
            await entry.scroll_into_view_if_needed()
            await entry.tap()
            assert not overlap(await in_view(visit.page), await box_of(entry))
        await visit.page.get_by_role("button", name="Close the details").tap()
        await expect(visit.page.locator("#details")).to_be_hidden()
