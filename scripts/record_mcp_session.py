"""Play the session of twelve calls over MCP on a Neo4j of its own, and write its transcript into docs/mcp.md.

python scripts/record_mcp_session.py
"""

import asyncio
import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.stories.mcp_session import Exchange, play  # noqa: E402
from tests.support.mcp_clients import over_stdio  # noqa: E402

from kgagent.local import LocalNeo4j, ServerInfo  # noqa: E402

DOCUMENT = ROOT / "docs" / "mcp.md"
TRANSCRIPT = re.compile(r"(?<=<!-- transcript: begin -->\n).*(?=<!-- transcript: end -->)", re.DOTALL)
KEY = re.compile(r"\b([0-9a-f]{8})[0-9a-f-]{28,}\b")
LEFT_OUT = {"created_at", "updated_at", "date_added", "added_by", "expires_at"}
"""Fields of answers that are not written down; the rest is whole."""


def main() -> None:
    """Record."""
    with tempfile.TemporaryDirectory() as folder:
        local = LocalNeo4j(Path(folder) / "neo4j")
        info = local.up()
        try:
            exchanges = asyncio.run(_played(info, Path(folder)))
        finally:
            local.down()
    written = "".join(_told(number, exchange) for number, exchange in enumerate(exchanges, 1))
    text = DOCUMENT.read_text("utf-8")
    DOCUMENT.write_text(TRANSCRIPT.sub(lambda _: f"\n{written}", text), "utf-8")
    print(f"{len(exchanges)} calls written to {DOCUMENT.relative_to(ROOT)}")


async def _played(info: ServerInfo, folder: Path) -> list[Exchange]:
    environment = os.environ | {
        "NEO4J_URI": info.uri,
        "NEO4J_USERNAME": info.username,
        "NEO4J_PASSWORD": info.password,
        "KGAGENT_EMBEDDER": "local",
    }
    async with over_stdio(environment, "--user", "marta", folder=folder) as client:
        return await play(client)


def _told(number: int, exchange: Exchange) -> str:
    step = exchange.step
    return (
        f"**{number}. `{step.tool}`** — {step.why}\n\n"
        f"```json\n{_json(exchange.arguments)}\n```\n\n"
        f"```json\n{_json(_shown(exchange.answer))}\n```\n\n"
    )


def _shown(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, dict):
        return {key: _shown(item) for key, item in value.items() if key not in LEFT_OUT}
    if isinstance(value, list):
        return [_shown(item) for item in value]
    return value


def _json(value: object) -> str:
    """JSON to read, with entity keys cut to their first eight characters."""
    return KEY.sub(r"\1…", json.dumps(value, indent=2, ensure_ascii=False))


if __name__ == "__main__":
    main()
