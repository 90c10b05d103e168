"""The examples of docs/ingestion.md, run as they stand, on a model that follows a script."""

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import Server
from tests.support.openai_models import API_KEY, ScriptedModel, broken, deciding_model, refused
from tests.support.reading import careful_reader
from tests.support.served import CLI, run_python, settings_for

Run = Callable[..., subprocess.CompletedProcess[str]]


def block(root: Path, language: str, place: int = 0) -> str:
    text = (root / "docs" / "ingestion.md").read_text("utf-8")
    found: list[str] = re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)
    return found[place]


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with deciding_model(careful_reader) as served:
        yield served


@pytest.fixture
def run(server: Server, user_id: str, tmp_path: Path, model: ScriptedModel) -> Run:
    """Runs Python on the tests' Neo4j, with the scripted model behind OpenAI's client."""

    def one(*arguments: str) -> subprocess.CompletedProcess[str]:
        surroundings = settings_for(server, user_id) | {"OPENAI_API_KEY": API_KEY, "OPENAI_BASE_URL": model.base_url}
        return run_python(surroundings, tmp_path, *arguments)

    return one


def test_the_examples_in_python_read_a_conversation_and_find_it(repository_root: Path, run: Run, user_id: str) -> None:
    first, second = (block(repository_root, "python", place).replace('"me"', f'"{user_id}"') for place in (0, 1))
    done = run("-c", first)
    assert done.returncode == 0, done.stderr
    assert "Read to the end." in done.stdout
    assert "**new** Ruth mentor Iris" in done.stdout
    assert done.stdout.rstrip().endswith("unchanged 0")
    done = run("-c", second)
    assert done.returncode == 0, done.stderr
    assert "relationship Ruth mentor Iris" in done.stdout
    assert done.stdout.rstrip().endswith(
        "I kept who Ruth and Iris are to each other, where Ruth works, and the invitation."
    )


def test_the_example_of_the_command_line_writes_its_report(
    repository_root: Path, run: Run, tmp_path: Path, model: ScriptedModel
) -> None:
    (tmp_path / "call.json").write_text(block(repository_root, "json"), "utf-8")
    _, *arguments = block(repository_root, "sh", 1).split()
    done = run("-c", CLI, *arguments)
    assert done.returncode == 0, done.stderr
    assert "read to the end" in done.stdout
    assert (tmp_path / "report.md").read_text("utf-8").startswith("# Call with Ruth\n")
    asked = len(model.requests)
    done = run("-c", CLI, *arguments, "--json")
    assert json.loads(done.stdout)["state"] == "unchanged"
    assert len(model.requests) == asked


def test_the_command_line_says_what_is_wrong(run: Run, tmp_path: Path) -> None:
    for name, text, model_name, said in (
        (
            "a.json",
            '{"turns": [{"speaker": "A"}]}',
            "openai:gpt-4.1",
            "a.json is no source: turns.0.text: Field required",
        ),
        ("b.json", "{", "openai:gpt-4.1", "b.json cannot be read"),
        ("c.txt", " ", "openai:gpt-4.1", "a source has turns or a text, got neither"),
        ("d.txt", "Some text.", "nobody:nothing", "The chat model 'nobody:nothing' cannot be used"),
    ):
        (tmp_path / name).write_text(text, "utf-8")
        done = run("-c", CLI, "ingest", name, "--model", model_name)
        assert done.returncode == 1
        assert said in " ".join(done.stderr.split())
        assert "Traceback" not in done.stderr


def test_a_run_that_stops_has_another_exit_code(run: Run, tmp_path: Path, model: ScriptedModel) -> None:
    model.turns = iter([lambda _: broken(401)])
    (tmp_path / "a.txt").write_text("Some text.", "utf-8")
    done = run("-c", CLI, "ingest", "a.txt", "--model", "openai:gpt-4.1")
    assert done.returncode == 1
    assert "stopped the model failed" in " ".join(done.stdout.split())


def test_a_source_that_the_provider_refuses_is_told_each_time_with_another_exit_code(
    run: Run, tmp_path: Path, model: ScriptedModel
) -> None:
    model.turns = iter([lambda _: refused("The prompt was filtered", "content_filter")])
    (tmp_path / "refused.txt").write_text("Some text that nobody reads.", "utf-8")
    for _ in range(2):
        done = run("-c", CLI, "ingest", "refused.txt", "--model", "openai:gpt-4.1")
        assert done.returncode == 1
        assert "Part 1 is not read, and only a forced run tries it again" in " ".join(done.stdout.split())
        assert "The prompt was filtered" in " ".join(done.stdout.split())
    assert len(model.requests) == 1
