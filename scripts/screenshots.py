"""Take the screenshots in docs/images: a small and a large graph, in the light and the dark theme.

python scripts/screenshots.py
"""

import asyncio
import io
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from PIL import Image
from playwright.async_api import Browser, Page
from pydantic import SecretStr

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.support.browser import chromium, visiting  # noqa: E402
from tests.support.town import write_town  # noqa: E402

from kgagent import KnowledgeGraph, Settings  # noqa: E402
from kgagent.adapters.view import view_server  # noqa: E402
from kgagent.cli.demo.sample import sample_file  # noqa: E402
from kgagent.local import LocalNeo4j, ServerInfo  # noqa: E402

IMAGES = ROOT / "docs" / "images"
MAX_IMAGE_SIZE = 200_000
"""Bytes."""


@dataclass(frozen=True)
class Shot:
    """One screenshot.

    Attributes:
        name: file name without theme and suffix.
        user: owner of the graph.
        query: search query.
        limit: maximum number of matches.
        around: maximum number of neighbors shown.
        opened: text of the list entry to open; empty for none.
    """

    name: str
    user: str
    query: str
    limit: int
    around: int
    opened: str = ""


SMALL = Shot("view-small", "ines", "who are my mentors?", 10, 30, opened="mentor")
LARGE = Shot("view-large", "town", "who keeps bees?", 50, 200)


def main() -> None:
    """Take the screenshots."""
    with tempfile.TemporaryDirectory() as folder:
        local = LocalNeo4j(Path(folder) / "neo4j")
        info = local.up()
        try:
            asyncio.run(_take(info, Path(folder)))
        finally:
            local.down()


async def _take(info: ServerInfo, folder: Path) -> None:
    settings = Settings(
        _env_file=None,
        neo4j_uri=info.uri,
        neo4j_username=info.username,
        neo4j_password=SecretStr(info.password),
        embedder="local",
    )
    IMAGES.mkdir(exist_ok=True)
    async with KnowledgeGraph.connect(settings=settings) as graph, chromium() as browser:
        with sample_file() as sample:
            await graph.load(sample, user_id=SMALL.user)
        town = folder / "town.jsonl"
        write_town(town, graph.ontology)
        await graph.load(town, user_id=LARGE.user)
        for shot in (SMALL, LARGE):
            async with view_server(graph, shot.user) as server:
                for scheme in ("light", "dark"):
                    await _screenshot(browser, server.url, shot, scheme)


async def _screenshot(
    browser: Browser, url: str, shot: Shot, scheme: Literal["light", "dark"]
) -> None:
    async with visiting(browser, scheme=scheme) as visit:
        await visit.page.goto(url)
        await _search(visit.page, shot)
        file = IMAGES / f"{shot.name}-{scheme}.png"
        _write(await visit.page.screenshot(), file)
        nodes = await visit.page.evaluate("kg.graph.drawnItems().length")
        print(
            f"{file.relative_to(ROOT)}: {file.stat().st_size} bytes, {nodes} nodes and "
            f"relationships drawn"
        )
        if visit.complaints or file.stat().st_size > MAX_IMAGE_SIZE:
            sys.exit(f"{file.name}: {visit.complaints or 'too large'}")


def _write(png: bytes, file: Path) -> None:
    """Save with 256 colors, which look the same here."""
    with Image.open(io.BytesIO(png)) as image:
        image.convert("RGB").quantize(
            256, method=Image.Quantize.MAXCOVERAGE, kmeans=2, dither=Image.Dither.NONE
        ).save(file, optimize=True)


async def _search(page: Page, shot: Shot) -> None:
    await page.get_by_role("combobox", name="matches").select_option(str(shot.limit))
    await page.get_by_role("combobox", name="neighbors").select_option(str(shot.around))
    await page.get_by_label("What to look for").fill(shot.query)
    await page.get_by_role("button", name="Search").click()
    await page.get_by_text("matched;").first.wait_for()
    if shot.opened:
        await (
            page.locator("#lists").get_by_role("button").filter(has_text=shot.opened).first.click()
        )
    await page.evaluate(
        "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )


if __name__ == "__main__":
    main()
