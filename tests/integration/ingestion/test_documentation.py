"""The examples of docs/ingestion.md, run with a scripted model."""

import json
import re
from pathlib import Path

from tests.integration.ingestion.conftest import Run
from tests.support.openai_models import ScriptedModel
from tests.support.served import CLI


def block(root: Path, language: str, number: int = 0) -> str:
    text = (root / "docs" / "ingestion.md").read_text("utf-8")
    blocks: list[str] = re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)
    return blocks[number]


def test_the_example_in_python_reads_a_conversation(
    repository_root: Path, run: Run, user_id: str
) -> None:
    done = run("-c", block(repository_root, "python").replace('"me"', f'"{user_id}"'))
    assert done.returncode == 0, done.stderr
    assert "read completely." in done.stdout
    assert "nodes created: 3" in done.stdout
    assert done.stdout.rstrip().endswith("unchanged 0")


def test_documented_commands_fix_the_embedder_when_a_chat_key_is_set(repository_root: Path) -> None:
    text = (repository_root / "docs" / "ingestion.md").read_text("utf-8")
    shells = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    assert "export KGAGENT_EMBEDDER=local\n" in shells[0]
    assert all("KGAGENT_EMBEDDER=local" in shell for shell in shells if "OPENAI_API_KEY" in shell)
    assert "kgagent[" not in text


def test_the_example_of_the_command_line_writes_its_report(
    repository_root: Path, run: Run, tmp_path: Path, model: ScriptedModel
) -> None:
    (tmp_path / "call.json").write_text(block(repository_root, "json"), "utf-8")
    _, *arguments = block(repository_root, "sh", 1).split()
    done = run("-c", CLI, *arguments)
    assert done.returncode == 0, done.stderr
    assert "read completely" in done.stdout
    assert "name: Call with Ruth" in (tmp_path / "report.yaml").read_text("utf-8")
    asked = len(model.requests)
    done = run("-c", CLI, *arguments, "--json")
    assert json.loads(done.stdout)["state"] == "unchanged"
    assert len(model.requests) == asked
