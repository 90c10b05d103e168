"""A headless Chromium that records everything that a page must not do."""

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal

from playwright.async_api import (
    Browser,
    ConsoleMessage,
    Page,
    Request,
    ViewportSize,
    async_playwright,
    expect,
)

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE = 60_000
"""Milliseconds in which a page must come to what is expected of it."""

WINDOW: ViewportSize = {"width": 1280, "height": 800}

_NOTE_VIOLATIONS = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) =>
  violations.push(`${event.effectiveDirective} ${event.blockedURI}`));
"""


def chromium_path() -> str | None:
    """The program of KGAGENT_TEST_CHROMIUM, else the Chromium of the machine."""
    return os.environ.get("KGAGENT_TEST_CHROMIUM") or next(
        filter(None, map(shutil.which, NAMES)), None
    )


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """A Chromium while the block runs."""
    path = chromium_path()
    if path is None:
        raise LookupError(f"No Chromium: none of {', '.join(NAMES)} is on the path")
    # Chromium has no sandbox for root.
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox"] if os.geteuid() == 0 else []
        )
        expect.set_options(timeout=PATIENCE)
        try:
            yield browser
        finally:
            await browser.close()


@dataclass
class Visit:
    """A page and what happened on it.

    Attributes:
        page: the page.
        complaints: errors and warnings on its console, and exceptions that nobody caught.
        requests: addresses that it asked for.
    """

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    async def violations(self) -> list[str]:
        """What the content security policy kept it from."""
        found: list[str] = await self.page.evaluate("window.violations")
        return found

    def hear(self, message: ConsoleMessage) -> None:
        """Take a line of the console."""
        if message.type in {"error", "warning"}:
            self.complaints.append(message.text)

    def saw(self, request: Request) -> None:
        """Take a request; what is in the page itself is none."""
        if not request.url.startswith("data:"):
            self.requests.append(request.url)


@asynccontextmanager
async def visiting(
    browser: Browser,
    *,
    scheme: Literal["light", "dark"] = "light",
    size: ViewportSize = WINDOW,
    touch: bool = False,
) -> AsyncIterator[Visit]:
    """A new page, in a profile of its own.

    Args:
        browser: where.
        scheme: what the system prefers.
        size: of the window, in pixels.
        touch: whether it has a screen to tap on.
    """
    context = await browser.new_context(
        color_scheme=scheme, viewport=size, has_touch=touch, reduced_motion="reduce"
    )
    try:
        await context.add_init_script(_NOTE_VIOLATIONS)
        visit = Visit(await context.new_page())
        visit.page.on("console", visit.hear)
        visit.page.on("pageerror", lambda error: visit.complaints.append(str(error)))
        visit.page.on("request", visit.saw)
        yield visit
    finally:
        await context.close()
