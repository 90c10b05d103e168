from pathlib import Path

import pytest

from kgagent.cli.called import called


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
def test_a_program_that_is_not_on_the_path_is_called_as_it_was() -> None:
    assert called("my env/bin/kgagent") == "'my env/bin/kgagent'"


def test_one_on_the_path_is_called_by_its_name(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(program.parent))
    assert called(str(program)) == "kgagent"
    assert called("my env/bin/kgagent") == "kgagent"


def test_another_of_that_name_on_the_path_is_not_taken_for_it(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "kgagent"
    other.write_text("#!/bin/sh\n")
    other.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert called(str(program)) == f"'{program}'"


@pytest.mark.parametrize("argument", ["-c", "pytest", "/no/such/kgagent"])
def test_what_cannot_be_called_again_is_its_name(argument: str) -> None:
    assert called(argument) == "kgagent"
