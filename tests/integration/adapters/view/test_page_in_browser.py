"""The page in a real Chromium: its texts, its drawing and its requests."""

import asyncio
import re
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import Any

import pytest
from playwright.async_api import Locator, Page, Route, expect

from kgagent import KnowledgeGraph
from kgagent.adapters.view import view_server
from kgagent.tools import Toolset
from tests.integration.adapters.view.conftest import Open
from tests.support.browser import Visit
from tests.support.payloads import succeeded
from tests.support.people import person, relate
from tests.support.view_graphs import (
    KIND,
    MARKUP,
    ONTOLOGY,
    two_mentors,
    view_graph,
    view_node,
    view_relationship,
    wheel,
)

pytestmark = pytest.mark.browser

Drawn = dict[str, Any]


async def drawn(page: Page) -> list[Drawn]:
    """What is drawn, after the labels have been placed."""
    await page.evaluate(
        "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )
    found: list[Drawn] = await page.evaluate("kg.graph.drawnItems()")
    return found


async def color(page: Page, name: str) -> str:
    """A color of the page, as the drawing has it."""
    value: str = await page.evaluate("(name) => kg.theme.color(name)", name)
    return "rgb({},{},{})".format(*(int(value[start : start + 2], 16) for start in (1, 3, 5)))


async def click_drawn(page: Page, item: Drawn) -> None:
    """Click where an item is drawn."""
    await page.locator("#graph").click(position={"x": item["x"], "y": item["y"]})


def named(items: Sequence[Drawn], name: str) -> Drawn:
    [item] = [item for item in items if item["name"] == name]
    return item


def details_of(page: Page) -> Locator:
    """The details panel."""
    return page.get_by_role("region", name="Details", exact=True)


async def search(visit: Visit, query: str) -> None:
    await visit.page.get_by_label("What to look for").fill(query)
    await visit.page.keyboard.press("Enter")


async def answer_slowly(route: Route) -> None:
    await asyncio.sleep(1)
    await route.continue_()


async def test_details_show_the_time_the_notes_by_date_and_what_was_before(
    look: Open, graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    ruth, ines = await person(tools, "Ruth", "An architect."), await person(tools, "Ines")
    notes = [
        {"content": "They sailed.", "when": "2023"},
        {"content": "They met.", "when": "2019-05"},
    ]
    item = {
        "from": ruth,
        "to": ines,
        "relationship_type": "mentor",
        "when": "2019/..",
        "notes": notes,
    }
    succeeded(await tools.remember(relationships=[item]))
    change = {
        "from": ruth,
        "to": ines,
        "relationship_type": "was mentor",
        "replaces": True,
        "when": "2024-02/2025",
    }
    succeeded(await tools.remember(relationships=[change], said_on="2024-02-03"))
    succeeded(await tools.update_node(entity_key=ruth, description="A painter.", correction=True))
    async with view_server(graph, user_id) as server, look(server.url) as visit:
        details = details_of(visit.page)
        await search(visit, "who was Ines's mentor?")
        await (
            visit.page.locator("#lists")
            .get_by_role("button")
            .filter(has_text="Ruth → was mentor → Ines")
            .click()
        )
        await expect(details).to_contain_text("When2024-02/2025, past")
        await expect(details).to_contain_text(re.compile("They met.*They sailed"))
        await expect(details).to_contain_text("relationship type: mentor (2019/..)until 2024-02")
        await details.get_by_role("button", name="Ruth", exact=True).click()
        await expect(details).to_contain_text("description: An architect.was wrong")


async def test_a_quote_opens_the_text_of_its_source_there(
    look: Open, graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    ruth = await person(tools, "Ruth", "An architect.")
    text = f"Ruth: We sail in May. {MARKUP}"
    source = await graph.add_source("Call", text, user_id=user_id, said_on="2023-04-02")
    note = {"on": ruth, "content": "They sail.", "quote": "we sail in May"}
    succeeded(await tools.remember(notes=[note], source=source.entity_key))
    async with view_server(graph, user_id) as server, look(server.url) as visit:
        details, entries = details_of(visit.page), visit.page.locator("#lists")
        await search(visit, "when does Ruth sail?")
        for name, words in (("Ruth", "we sail in May"), ("Call", "Ruth: We sail in May.")):
            await entries.get_by_role("button").filter(has_text=name).first.click()
            await details.get_by_role("button").filter(has_text=words).click()
            await expect(details.get_by_role("heading", level=2)).to_have_text("Call")
            await expect(details).to_contain_text("2023-04-02")
            await expect(details).to_contain_text(text)
            await expect(details.locator("mark").first).to_contain_text("We sail in May")
            await details.get_by_role("button", name="Back").click()
            await expect(details.get_by_role("heading", level=2)).to_have_text(name)
        assert await visit.page.evaluate("window.hit") is None


async def test_search_shows_matches_and_neighbors(
    look: Open, graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    ruth = await person(tools, "Ruth Calder", "Naval architect")
    ines, omar = await person(tools, "Ines"), await person(tools, "Omar")
    await relate(
        tools,
        ruth,
        ines,
        "mentor",
        description="Ruth guides Ines in her career",
        attitude=5,
        proximity=4,
    )
    await relate(tools, ines, omar, "sibling", attitude=2, proximity=5)
    # Expansion reaches two hops beyond what is at Ines, whom the query names.
    pia, quin, rio = (
        await person(tools, "Pia"),
        await person(tools, "Quin"),
        await person(tools, "Rio"),
    )
    for ends, relationship_type in (
        ((omar, pia), "cousin"),
        ((pia, quin), "colleague"),
        ((quin, rio), "landlord"),
    ):
        await relate(tools, *ends, relationship_type)
    async with view_server(graph, user_id) as server, look(server.url) as visit:
        page = visit.page
        await search(visit, "who guides Ines in her career?")
        entry = (
            page.locator("#lists")
            .get_by_role("button")
            .filter(has_text="Ruth Calder → mentor → Ines")
        )
        await expect(entry).to_contain_text("cosine 0.")
        await expect(page.get_by_role("status")).to_contain_text("matched;")
        items = await drawn(page)
        mentor, sibling = named(items, "mentor"), named(items, "sibling")
        assert (mentor["isMatch"], named(items, "landlord")["isMatch"]) == (True, False)
        assert mentor["color"] == await color(page, "--attitude-5")
        assert sibling["width"] > mentor["width"]
        assert {item["name"] for item in items} >= {"Ruth Calder", "Ines", "Omar", "Rio"}
        await entry.click()
        details = details_of(page)
        for said in (
            "Ruth guides Ines in her career",
            "close (5 of 5)",
            "known-well (4 of 5)",
            "semantic search of statements",
        ):
            await expect(details).to_contain_text(said)
        assert visit.requests[-1].startswith(f"{server.url}search?query=who")
        assert len(visit.requests) == 3


async def test_the_page_opens_on_an_overview(
    look: Open, graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    async with view_server(graph, user_id) as server, look(server.url) as visit:
        await expect(visit.page.locator("#empty")).to_contain_text("The graph is empty")
    ines = await person(tools, "Ines")
    for name in ("Omar", "Ruth"):
        await relate(tools, await person(tools, name), ines, "sibling")
    async with view_server(graph, user_id) as server, look(server.url) as visit:
        page = visit.page
        await expect(page.get_by_role("status")).to_have_text(
            "Overview: 3 nodes with the most relationships; 0 neighbors."
        )
        entries = page.locator("#lists").get_by_role("button")
        await expect(entries.first).to_contain_text("Ines")
        await expect(entries.first).to_contain_text("2 relationships")
        assert {item["name"] for item in await drawn(page)} == {"Ines", "Omar", "Ruth", "sibling"}
        await entries.first.click()
        await expect(details_of(page)).to_contain_text("Part of the overview, number 1.")
        await search(visit, "sibling of Ines")
        await expect(page.get_by_role("status")).to_contain_text("matched;")
        await search(visit, "")
        await expect(page.get_by_role("status")).to_contain_text("Overview")


async def test_nothing_opens_from_the_old_list_while_a_search_runs(
    look: Open, graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    """The answer would close what was opened."""
    await person(tools, "Ruth Calder", "Naval architect")
    async with view_server(graph, user_id) as server, look(server.url) as visit:
        ruth = visit.page.locator("#lists").get_by_role("button").filter(has_text="Ruth Calder")
        await expect(ruth).to_contain_text("0 relationships")
        await visit.page.route("**/search?query=naval*", answer_slowly)
        await search(visit, "naval architect?")
        await ruth.click()
        await expect(visit.page.get_by_role("status")).to_contain_text("matched;")
        await expect(details_of(visit.page)).to_contain_text("Naval architect")


async def test_reload_repeats_the_search(
    look: Open, graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    await person(tools, "Ruth Calder", "Naval architect")
    async with (
        view_server(graph, user_id) as server,
        look(server.address("naval architect?")) as visit,
    ):
        for _ in range(2):
            await expect(visit.page.get_by_label("What to look for")).to_have_value(
                "naval architect?"
            )
            await expect(visit.page.locator("#lists")).to_contain_text("Ruth Calder")
            await visit.page.reload()


async def test_rejected_search_is_reported(look: Open, graph: KnowledgeGraph, user_id: str) -> None:
    async with view_server(graph, user_id) as server, look(server.url, may_fail=True) as visit:
        await search(visit, "x" * 8_001)
        await expect(visit.page.locator("#empty")).to_contain_text("The search failed")
        await expect(visit.page.locator("#empty")).to_contain_text(
            "query must have at most 8,000 characters"
        )
        await search(visit, "")
        await expect(visit.page.locator("#empty")).to_contain_text("The graph is empty")


async def test_stopped_server_is_reported(look: Open, graph: KnowledgeGraph, user_id: str) -> None:
    async with AsyncExitStack() as stack:
        async with view_server(graph, user_id) as server:
            visit = await stack.enter_async_context(look(server.url, may_fail=True))
        await search(visit, "mentors")
        await expect(visit.page.locator("#empty")).to_contain_text("Is kgagent view still running?")


async def test_a_page_in_a_file_shows_the_graph_and_clicking_a_node_opens_its_details(
    look: Open,
) -> None:
    async with look(two_mentors()) as visit:
        await expect(visit.page.get_by_role("status")).to_have_text(
            "2 nodes and 1 relationship matched; 1 neighbor."
        )
        await expect(visit.page.locator("#fixed-query")).to_have_text("who guides me?")
        await expect(visit.page.get_by_role("search")).to_have_count(0)
        legend = visit.page.locator("#legend")
        for word in (*ONTOLOGY.relationship(KIND).attitude, *ONTOLOGY.relationship(KIND).proximity):
            await expect(legend).to_contain_text(word)
        assert len(visit.requests) == 1
        await click_drawn(visit.page, named(await drawn(visit.page), "Ruth"))
        details = details_of(visit.page)
        await expect(details.get_by_role("heading", level=2)).to_have_text("Ruth")
        for said in (
            "Keeps bees",
            "Match number 2",
            "semantic search of relationships: cosine 0.63",
            "Score 0.0161",
            "Met in spring",
            "by ada · added 2026-01-01",
            "Bristol",
        ):
            await expect(details).to_contain_text(said)


async def test_clicking_a_relationship_shows_attitude_and_proximity(look: Open) -> None:
    async with look(two_mentors()) as visit:
        [faint] = [
            item
            for item in await drawn(visit.page)
            if item["name"] == "mentor" and not item["isMatch"]
        ]
        await click_drawn(visit.page, faint)
        details = details_of(visit.page)
        kind = ONTOLOGY.relationship(KIND)
        await expect(details.get_by_role("heading", level=2)).to_have_text("Tomasz → mentor → Ines")
        await expect(details).to_contain_text(f"{kind.attitude[0]} (1 of 5)")
        await expect(details).to_contain_text(f"{kind.proximity[0]} (1 of 5)")
        await expect(details).to_contain_text("Not a match itself")
        await details.get_by_role("button", name="Ines").click()
        await expect(details.get_by_role("heading", level=2)).to_have_text("Ines")


async def test_markup_in_the_graph_is_shown_as_text(look: Open) -> None:
    graph = view_graph(
        [view_node("a", rank=1, text=MARKUP), view_node("b", rank=2, text=MARKUP)],
        [view_relationship("a", "b", rank=3, text=MARKUP)],
        query=MARKUP,
    ).model_copy(update={"warnings": (MARKUP,)})
    async with look(graph) as visit:
        page = visit.page
        entries = page.locator("#lists").get_by_role("button")
        for number in range(3):
            await entries.nth(number).click()
            details = details_of(page)
            shown = await details.inner_text()
            assert shown.count(MARKUP) >= 4
        await expect(page.locator("#warnings")).to_have_text(MARKUP)
        await expect(page.locator("#fixed-query")).to_have_text(MARKUP)
        assert await page.locator("img").count() == 0
        assert await page.evaluate("window.hit") is None


async def test_theme_follows_the_system_until_switched(look: Open) -> None:
    async with look(two_mentors(), scheme="dark") as visit:
        root = visit.page.locator("html")
        await expect(root).to_have_attribute("data-theme", "dark")
        before = named(await drawn(visit.page), "Tomasz")["color"]
        await visit.page.get_by_role("button", name="Switch between light and dark").click()
        await expect(root).to_have_attribute("data-theme", "light")
        assert named(await drawn(visit.page), "Tomasz")["color"] != before
        assert named(await drawn(visit.page), "Tomasz")["color"] == await color(
            visit.page, "--label-1"
        )


async def test_page_is_usable_by_keyboard(
    look: Open, graph: KnowledgeGraph, tools: Toolset, user_id: str
) -> None:
    await relate(
        tools, await person(tools, "Ruth"), await person(tools, "Ines"), "mentor", attitude=5
    )
    async with view_server(graph, user_id) as server, look(server.url) as visit:
        page = visit.page
        for control in await page.locator("button:visible, input:visible, select:visible").all():
            name = await control.evaluate(
                "(one) => one.ariaLabel || [...(one.labels ?? [])].map((l) => "
                "l.textContent).join() || one.textContent"
            )
            assert name.strip()
        await page.locator("#theme").focus()
        await page.keyboard.press("/")
        await expect(page.get_by_label("What to look for")).to_be_focused()
        await page.keyboard.type("mentor")
        await page.keyboard.press("Enter")
        # Until then, the list is that of the overview, whose buttons the results replace.
        await expect(page.get_by_role("status")).to_contain_text("matched;")
        first = page.locator("#lists").get_by_role("button").first
        await expect(first).to_be_visible()
        for _ in range(12):
            await page.keyboard.press("Tab")
            if await first.evaluate("(button) => button === document.activeElement"):
                break
        await expect(first).to_be_focused()
        await page.keyboard.press("Enter")
        details = details_of(page)
        await expect(details.get_by_role("heading", level=2)).to_be_visible()
        await page.keyboard.press("Escape")
        await expect(details).to_contain_text("Select a node or a relationship")


async def test_labels_of_a_large_graph_do_not_overlap_and_the_hub_is_labeled(look: Open) -> None:
    async with look(wheel(199, matched=80)) as visit:
        items = await drawn(visit.page)
        nodes = [item for item in items if item["id"].startswith("n")]
        written = [item for item in items if item["isLabeled"]]
        assert len(nodes) == 200
        assert 10 <= len(written) < len(items) / 2
        boxes = [item["labelBox"] for item in written]
        overlaps = [(a, b) for n, a in enumerate(boxes) for b in boxes[:n] if _overlap(a, b) > 2]
        assert overlaps == []
        assert named(nodes, "Hub")["isLabeled"]


async def test_layout_is_deterministic_and_stable(look: Open) -> None:
    places = []
    for _ in range(2):
        async with look(wheel(60, matched=3)) as visit:
            first = [(item["x"], item["y"]) for item in await drawn(visit.page)]
            await visit.page.locator("#lists").get_by_role("button").first.click()
            places += [first, [(item["x"], item["y"]) for item in await drawn(visit.page)]]
    assert places[0] == places[1] == places[2] == places[3]


def _overlap(one: dict[str, float], other: dict[str, float]) -> float:
    """How deep two boxes go into each other, in pixels."""
    wide = min(one["x2"], other["x2"]) - max(one["x1"], other["x1"])
    high = min(one["y2"], other["y2"]) - max(one["y1"], other["y1"])
    return min(wide, high)


async def test_page_says_that_what_it_shows_is_only_the_nearest(look: Open) -> None:
    opening = "Nothing clearly relevant found. The nearest:"
    async with look(two_mentors().model_copy(update={"opening": opening})) as visit:
        status = await visit.page.locator("#status").inner_text()
        assert status.startswith(f"{opening} ")
        assert "matched" not in status
