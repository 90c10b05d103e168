from pathlib import Path

import pytest

from kgagent.cli.program_name import program_name


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program in a virtual environment of the working folder."""
    file = tmp_path / "my env" / "bin" / "kgagent"
    file.parent.mkdir(parents=True)
    file.write_text("#!/bin/sh\n")
    file.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    return file


@pytest.mark.usefixtures("program")
def test_program_off_the_path_keeps_its_path() -> None:
    assert program_name("my env/bin/kgagent") == "'my env/bin/kgagent'"


def test_program_on_the_path_is_named(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(program.parent))
    assert program_name(str(program)) == "kgagent"
    assert program_name("my env/bin/kgagent") == "kgagent"


@pytest.mark.parametrize("argument", ["-c", "/no/such/kgagent"])
def test_anything_else_is_the_name(argument: str) -> None:
    assert program_name(argument) == "kgagent"
