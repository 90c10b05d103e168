"""The page inside of an MCP host: a sandboxed frame that speaks with the host by messages only."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.async_api import Browser, Frame, expect

from kgagent.adapters.view import ViewGraph, Vocabulary, app_page
from tests.support.browser import Visit, visiting
from tests.support.view_graphs import MARKUP, ONTOLOGY, two_mentors

pytestmark = pytest.mark.browser

ANSWER = "kgagent/graph"
HOST = """
(html) => {
  window.heard = [];
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts");
  frame.style = "width: 900px; height: 560px";
  window.say = (message) => frame.contentWindow.postMessage({ jsonrpc: "2.0", ...message }, "*");
  addEventListener("message", ({ data, source }) => {
    if (source !== frame.contentWindow) return;
    heard.push(data);
    if (data.method !== "ui/initialize") return;
    const hostInfo = { name: "test", version: "1" };
    const hostContext = { theme: "dark" };
    say({ id: data.id, result: { protocolVersion: "2026-01-26", hostCapabilities: {}, hostInfo, hostContext } });
  });
  frame.srcdoc = html;
  document.body.append(frame);
}
"""


@dataclass
class Hosted:
    """The app in a host."""

    visit: Visit
    frame: Frame

    async def heard(self, name: str) -> dict[str, Any]:
        """The first message that the host got of a method."""
        await self.visit.page.wait_for_function(
            "(name) => heard.some(({ method }) => method === name)", arg=name
        )
        found: dict[str, Any] = await self.visit.page.evaluate(
            "(name) => heard.find(({ method }) => method === name)", name
        )
        return found

    async def say(self, **message: object) -> None:
        """Send a message to the app."""
        await self.visit.page.evaluate("say", message)

    async def answer(self, result: dict[str, Any]) -> None:
        """Send the answer of a tool."""
        await self.say(method="ui/notifications/tool-input", params={"arguments": {}})
        await self.say(method="ui/notifications/tool-result", params=result)

    async def show(self, view: ViewGraph) -> None:
        """Send an answer with a graph."""
        graph = view.model_dump(mode="json", exclude_none=True)
        await self.answer({"content": [{"type": "text", "text": "Ruth"}], "_meta": {ANSWER: graph}})


@asynccontextmanager
async def hosted(browser: Browser) -> AsyncIterator[Hosted]:
    """Run the app in a host; it must make no request and violate no policy."""
    async with visiting(browser) as visit:
        await visit.page.evaluate(HOST, app_page(Vocabulary.of(ONTOLOGY), ANSWER))
        app = Hosted(visit, visit.page.frames[-1])
        await app.heard("ui/notifications/initialized")
        yield app
        assert [url for url in visit.requests if not url.startswith("about:")] == []
        assert await app.frame.evaluate("window.violations") == []
        assert visit.complaints == []


async def test_the_app_introduces_itself_and_shows_the_graph_of_an_answer(browser: Browser) -> None:
    async with hosted(browser) as app:
        introduced = await app.heard("ui/initialize")
        assert introduced["params"]["protocolVersion"] == "2026-01-26"
        assert introduced["params"]["appInfo"]["name"] == "kgagent"
        assert (await app.heard("ui/notifications/size-changed"))["params"]["height"] > 0
        await expect(app.frame.locator("html")).to_have_attribute("data-theme", "dark")
        await expect(app.frame.locator("#empty")).to_contain_text("Waiting for an answer")
        await app.show(two_mentors())
        await expect(app.frame.get_by_role("status")).to_have_text(
            "2 nodes and 1 relationship matched; 1 neighbor."
        )
        await expect(app.frame.locator("#fixed-query")).to_have_text("who guides me?")
        await expect(app.frame.get_by_role("search")).to_have_count(0)
        drawn = await app.frame.evaluate("kg.graph.drawnItems()")
        assert "Ruth" in {item["name"] for item in drawn}
        await (
            app.frame.locator("#lists").get_by_role("button").filter(has_text="Ruth").first.click()
        )
        await expect(app.frame.get_by_role("region", name="Details", exact=True)).to_contain_text(
            "Ruth guides Ines"
        )
        await app.say(method="ui/notifications/host-context-changed", params={"theme": "light"})
        await expect(app.frame.locator("html")).to_have_attribute("data-theme", "light")
        await app.say(id=7, method="ui/resource-teardown", params={"reason": "closed"})
        await app.visit.page.wait_for_function("heard.some(({ id, result }) => id === 7 && result)")
        await app.say(id=8, method="tools/list")
        await app.visit.page.wait_for_function(
            "heard.some(({ id, error }) => id === 8 && error.code === -32601)"
        )


async def test_an_answer_without_a_graph_is_shown_as_text(browser: Browser) -> None:
    async with hosted(browser) as app:
        await app.answer(
            {"content": [{"type": "text", "text": f"Error: {MARKUP}"}], "isError": True}
        )
        await expect(app.frame.locator("#empty")).to_contain_text("The tool failed")
        await expect(app.frame.locator("#empty")).to_contain_text(MARKUP)
        await app.answer({"content": []})
        await expect(app.frame.locator("#empty")).to_contain_text("This answer has no graph")
        await app.say(method="ui/notifications/tool-cancelled", params={})
        await expect(app.frame.locator("#empty")).to_contain_text("The call was cancelled")
        assert await app.frame.evaluate("window.hit") is None


async def test_messages_of_others_are_ignored(browser: Browser) -> None:
    async with hosted(browser) as app:
        graph = two_mentors().model_dump(mode="json", exclude_none=True)
        await app.frame.evaluate(
            """(params) => new Promise((done) => {
              addEventListener("message", done, { once: true });
              postMessage({ jsonrpc: "2.0", method: "ui/notifications/tool-result", params }, "*");
            }).then(() => null)""",
            {"_meta": {ANSWER: graph}},
        )
        await expect(app.frame.locator("#empty")).to_contain_text("Waiting for an answer")
        assert await app.frame.evaluate("kg.graph.drawnItems()") == []
