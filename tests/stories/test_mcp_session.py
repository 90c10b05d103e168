"""The session of twelve calls, over stdio and with the local model, and its transcript in the documents."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Server
from tests.stories.mcp_session import SESSION, play
from tests.support.mcp_clients import over_stdio, read
from tests.support.payloads import error_of, succeeded
from tests.support.served import settings_for


@pytest.fixture
def environment(server: Server, user_id: str) -> dict[str, str]:
    return settings_for(server, user_id)


async def test_twelve_calls_create_update_annotate_and_find(environment: dict[str, str], tmp_path: Path) -> None:
    async with over_stdio(environment, "--structured", "--toolsets", "all", folder=tmp_path) as client:
        exchanges = await play(client)
        counts = await read(client, "kgagent://statistics")
    assert len(exchanges) == 12
    for exchange in exchanges:
        if exchange.step.succeeds:
            succeeded(exchange.answer)
        else:
            assert "update_relationship" in error_of(exchange.answer)
    answers = [exchange.answer for exchange in exchanges]

    assert answers[0]["nodes"] == []
    vouching = answers[6]["relationships"][0]
    assert vouching["triplet_text"] == "Ruth Calder mentor Marta Lind"
    assert "Ruth Calder (Person" in exchanges[7].text

    [edge] = [edge for edge in answers[11]["edges"] if edge["relationship_type"] == "colleague"]
    assert edge["proximity"] == 5
    assert edge["attitude"] == 5
    assert [note["content"] for note in edge["notes"]] == [exchanges[5].arguments["content"]]
    assert {node["name"] for node in answers[11]["nodes"]} == {"Ruth Calder", "Marta Lind"}

    assert counts["nodes"]["by_label"] == {"Person": 2, "Concept": 1, "Entity": 0, "Source": 0}
    assert counts["relationships"]["total"] == 2


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
    assert re.findall(r"^\*\*\d+\. `(\w+)`\*\* — (.+)$", text, re.MULTILINE) == [(s.tool, s.why) for s in SESSION]
