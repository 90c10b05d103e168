"""The recorded session, over stdio and with the local model, and its transcript in the
documentation.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from kgagent import KnowledgeGraph
from tests.conftest import Server
from tests.stories.mcp_session import SESSION, play
from tests.support.mcp_clients import over_stdio
from tests.support.served import settings_for
from tests.support.stored import nodes_of, relationships_of


@pytest.fixture
def environment(server: Server, user_id: str) -> dict[str, str]:
    return settings_for(server, user_id)


async def test_nine_calls_create_relate_annotate_update_and_find(
    environment: dict[str, str], graph: KnowledgeGraph, user_id: str, tmp_path: Path
) -> None:
    async with over_stdio(environment, folder=tmp_path) as client:
        exchanges = await play(client)
    assert [exchange.is_error for exchange in exchanges] == [not step.succeeds for step in SESSION]
    texts = [exchange.text for exchange in exchanges]

    assert texts[0].startswith("Nothing found")
    found = [line for line in texts[3].splitlines() if "-[mentor]-> Marta Lind" in line]
    assert any("letter of recommendation" in line for line in found)
    assert "Ruth Calder (Person" in texts[4]
    assert "update_relationship" in texts[5]

    [colleague] = [line for line in texts[8].splitlines() if "-[colleague]->" in line]
    assert "run the shipyard in Gdansk together" in colleague
    assert "letter of recommendation" in colleague
    assert "head of a yard in Gdansk" in texts[8]
    assert "mentor" not in texts[8]

    assert len(await nodes_of(graph, user_id)) == 3
    assert len(await relationships_of(graph, user_id)) == 2


def test_the_documents_example_in_python_runs(
    repository_root: Path, environment: dict[str, str], user_id: str, tmp_path: Path
) -> None:
    text = (repository_root / "docs" / "mcp.md").read_text("utf-8")
    [example] = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    done = subprocess.run(
        [sys.executable, "-c", example.replace('"me"', f'"{user_id}"')],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.stdout.startswith("Nothing found"), done.stderr


def test_the_documents_hold_a_transcript_of_this_session(repository_root: Path) -> None:
    text = (repository_root / "docs" / "mcp.md").read_text("utf-8")
    assert re.findall(r"^\*\*\d+\. `(\w+)`\*\* — (.+)$", text, re.MULTILINE) == [
        (s.tool, s.why) for s in SESSION
    ]
