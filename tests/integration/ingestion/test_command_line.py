"""`kgagent ingest` with a scripted model; test_documentation.py runs it as a program."""

import json
from asyncio import to_thread
from itertools import repeat
from pathlib import Path

import pytest
import yaml

from kgagent import KnowledgeGraph
from tests.integration.ingestion.conftest import Kgagent
from tests.support.openai_models import ScriptedModel, broken
from tests.support.reading import CALL, looking_reader
from tests.support.stored import nodes_of

INGEST = ("ingest", "--model", "openai:gpt-4.1")


@pytest.fixture
def model(model: ScriptedModel) -> ScriptedModel:
    model.turns = repeat(looking_reader)
    return model


def test_files_and_folders_are_read_in_one_run_with_one_report(
    kgagent: Kgagent, tmp_path: Path, model: ScriptedModel
) -> None:
    (tmp_path / "talks" / ".hidden").mkdir(parents=True)
    (tmp_path / "a.text").write_text("It rained on Monday.", "utf-8")
    (tmp_path / "talks" / "b.json").write_text(CALL.model_dump_json(exclude={"id"}), "utf-8")
    (tmp_path / "talks" / "c.json").write_text("{", "utf-8")
    (tmp_path / "talks" / "d.pdf").write_bytes(b"%PDF")
    (tmp_path / "talks" / ".hidden" / "e.txt").write_text("Nobody reads this.", "utf-8")
    done = kgagent(*INGEST, "a.text", "talks", "--report", "report.yaml", "--json")
    assert done.code == 1
    output = json.loads(done.out)
    assert [(Path(one["file"]).name, one.get("state")) for one in output["sources"]] == [
        ("a.text", "complete"),
        ("b.json", "complete"),
        ("c.json", None),
    ]
    assert not output["complete"]
    assert yaml.safe_load((tmp_path / "report.yaml").read_text("utf-8")) == output["sources"]
    (tmp_path / "talks" / "c.json").unlink()
    asked = len(model.requests)
    done = kgagent(*INGEST, "a.text", "talks")
    assert (done.code, len(model.requests)) == (0, asked)
    assert "2 of 2 files read" in done.out


def test_stopped_run_starts_no_further_file_and_the_next_run_resumes(
    kgagent: Kgagent, tmp_path: Path, model: ScriptedModel
) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.txt").write_text(f"It rained on {name}.", "utf-8")
    model.turns = iter([lambda _: broken(401), *[looking_reader] * 4])
    done = kgagent(*INGEST, "a.txt", "b.txt")
    assert (done.code, len(model.requests)) == (1, 1)
    output = " ".join(done.out.split())
    assert "stopped: the model failed: " in output
    assert "Run it again to resume" in output
    assert "b.txt: not started" in output
    done = kgagent(*INGEST, "a.txt", "b.txt")
    assert (done.code, len(model.requests)) == (0, 5)


def test_instructions_and_a_date_reach_the_model(
    kgagent: Kgagent, tmp_path: Path, model: ScriptedModel
) -> None:
    (tmp_path / "a.txt").write_text("It rained yesterday.", "utf-8")
    (tmp_path / "b.json").write_text(CALL.model_dump_json(exclude={"id"}), "utf-8")
    done = kgagent(
        *INGEST,
        "a.txt",
        "b.json",
        "--date",
        "2026-02-09",
        "--instructions",
        "The graph is that of Iris.",
    )
    assert done.code == 0, done.err
    first, _, second, _ = (request["messages"] for request in model.requests)
    assert first[0]["content"].endswith("The graph is that of Iris.")
    assert "Said or written on 2026-02-09." in first[1]["content"]
    assert "Said or written on 2026-01-01." in second[1]["content"]


async def test_a_file_that_changed_is_a_newer_version_of_itself(
    kgagent: Kgagent, tmp_path: Path, graph: KnowledgeGraph, user_id: str
) -> None:
    file = tmp_path / "a.txt"
    for text in ("It rained.", "It rained. Then not."):
        file.write_text(text, "utf-8")
        done = await to_thread(kgagent, *INGEST, "a.txt")
        assert "a: read completely" in " ".join(done.out.split())
    file.rename(tmp_path / "b.txt")
    done = await to_thread(kgagent, *INGEST, "b.txt")
    assert "read before; nothing was done" in done.out
    [source] = await nodes_of(graph, user_id)
    assert (source["name"], source["description"]) == ("a", "Text of 4 words.")


def test_name_and_id_require_a_single_file(
    kgagent: Kgagent, tmp_path: Path, model: ScriptedModel
) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.txt").write_text("It rained.", "utf-8")
    assert kgagent(*INGEST, "a.txt", "b.txt", "--id", "diary").code == 2
    assert kgagent(*INGEST, "a.txt", "b.txt", "--name", "Diary").code == 2
    assert model.requests == []


def test_invalid_input_is_reported_without_traceback(kgagent: Kgagent, tmp_path: Path) -> None:
    for name, text, model_name, said in (
        (
            "a.json",
            '{"turns": [{"speaker": "A"}]}',
            "openai:gpt-4.1",
            "a.json is not a valid source: turns.0.text is missing",
        ),
        ("c.txt", " ", "openai:gpt-4.1", "a source has either turns or text, got neither"),
        (
            "d.txt",
            "Some text.",
            "foo",
            'write it as "provider:name", with a provider that LangChain knows',
        ),
    ):
        (tmp_path / name).write_text(text, "utf-8")
        done = kgagent("ingest", name, "--model", model_name)
        assert done.code == 1
        assert said in " ".join(done.err.split())
        assert "Traceback" not in done.err
