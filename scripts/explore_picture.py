"""Draw docs/explore.svg: what `kgagent explore` prints for the sample graph, on a temporary Neo4j.

python scripts/explore_picture.py
"""

import asyncio
import io
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from pydantic import SecretStr
from rich.console import Console
from rich.text import Text

from kgagent import KnowledgeGraph, Settings
from kgagent.cli.demo.sample import sample_file
from kgagent.local import LocalNeo4j, ServerInfo

PICTURE = Path(__file__).resolve().parent.parent / "docs" / "explore.svg"
USER = "kgagent-demo"
COMMAND = f'kgagent explore "who are my mentors?" --user {USER} --threshold 0.55'
WIDTH = 104
RUN = (sys.executable, "-c", "from kgagent.cli.app import main; main()")


def main() -> None:
    """Draw the picture."""
    with tempfile.TemporaryDirectory() as folder:
        local = LocalNeo4j(Path(folder) / "neo4j")
        info = local.up()
        try:
            asyncio.run(_load(info))
            printed = _printed(info, folder)
        finally:
            local.down()
    console = Console(record=True, width=WIDTH, file=io.StringIO())
    console.print(f"$ {COMMAND}", highlight=False, style="bold")
    console.print(Text.from_ansi(printed))
    PICTURE.write_text(console.export_svg(title="kgagent explore"), "utf-8")
    print(f"{PICTURE.name}: {len(printed.splitlines())} lines")


async def _load(info: ServerInfo) -> None:
    settings = Settings(
        _env_file=None,
        neo4j_uri=info.uri,
        neo4j_username=info.username,
        neo4j_password=SecretStr(info.password),
        embedder="local",
    )
    async with KnowledgeGraph.connect(settings=settings) as graph:
        with sample_file() as sample:
            await graph.load(sample, user_id=USER)


def _printed(info: ServerInfo, folder: str) -> str:
    environment = os.environ | {
        "NEO4J_URI": info.uri,
        "NEO4J_USERNAME": info.username,
        "NEO4J_PASSWORD": info.password,
        "KGAGENT_EMBEDDER": "local",
        "COLUMNS": str(WIDTH),
        "FORCE_COLOR": "1",
        "TERM": "xterm-256color",
    }
    command = [*RUN, *shlex.split(COMMAND)[1:]]
    done = subprocess.run(  # noqa: S603 - a fixed command
        command, env=environment, cwd=folder, check=False, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout.rstrip()


if __name__ == "__main__":
    main()
