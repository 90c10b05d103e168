"""Run the recorded session over MCP on a temporary Neo4j, and write its transcript to docs/mcp.md.

python scripts/record_mcp_session.py
"""

import asyncio
import os
import re
import sys
import tempfile
from pathlib import Path

from _generated import json_text

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.stories.mcp_session import Exchange, play  # noqa: E402
from tests.support.mcp_clients import over_stdio  # noqa: E402

from kgagent.local import LocalNeo4j, ServerInfo  # noqa: E402

DOCUMENT = ROOT / "docs" / "mcp.md"
TRANSCRIPT = re.compile(
    r"(?<=<!-- transcript: begin -->\n).*(?=<!-- transcript: end -->)", re.DOTALL
)
KEY = re.compile(r"\b([0-9a-f]{8})[0-9a-f-]{28,}\b")


def main() -> None:
    """Record the session."""
    with tempfile.TemporaryDirectory() as folder:
        local = LocalNeo4j(Path(folder) / "neo4j")
        info = local.up()
        try:
            exchanges = asyncio.run(_play(info, Path(folder)))
        finally:
            local.down()
    transcript = "".join(
        _exchange_text(number, exchange) for number, exchange in enumerate(exchanges, 1)
    )
    text = DOCUMENT.read_text("utf-8")
    DOCUMENT.write_text(TRANSCRIPT.sub(lambda _: f"\n{transcript}", text), "utf-8")
    print(f"{len(exchanges)} calls written to {DOCUMENT.relative_to(ROOT)}")


async def _play(info: ServerInfo, folder: Path) -> list[Exchange]:
    environment = os.environ | {
        "NEO4J_URI": info.uri,
        "NEO4J_USERNAME": info.username,
        "NEO4J_PASSWORD": info.password,
        "KGAGENT_EMBEDDER": "local",
    }
    async with over_stdio(environment, "--user", "marta", folder=folder) as client:
        return await play(client)


def _exchange_text(number: int, exchange: Exchange) -> str:
    step = exchange.step
    return (
        f"**{number}. `{step.tool}`** — {step.why}\n\n"
        f"```json\n{_short_keys(json_text(step.arguments))}\n```\n\n"
        f"```text\n{_short_keys(exchange.text)}\n```\n\n"
    )


def _short_keys(text: str) -> str:
    """A text with entity keys shortened to eight characters."""
    return KEY.sub(r"\1…", text)


if __name__ == "__main__":
    main()
