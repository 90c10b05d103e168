"""Fixtures of the tests of ingestion."""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from kgagent.cli.app import app
from tests.conftest import Server
from tests.support.fixtures import embedder
from tests.support.openai_models import API_KEY, ScriptedModel, deciding_model
from tests.support.reading import careful_reader
from tests.support.served import run_python, settings_for

__all__ = ["embedder"]

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with deciding_model(careful_reader) as served:
        yield served


@pytest.fixture
def surroundings(server: Server, user_id: str, model: ScriptedModel) -> dict[str, str]:
    """An environment that leads to the tests' Neo4j, and to the scripted model behind OpenAI's client."""
    return settings_for(server, user_id) | {"OPENAI_API_KEY": API_KEY, "OPENAI_BASE_URL": model.base_url}


@pytest.fixture
def run(surroundings: dict[str, str], tmp_path: Path) -> Run:
    """Runs Python there as a program of its own."""

    def one(*arguments: str) -> subprocess.CompletedProcess[str]:
        return run_python(surroundings, tmp_path, *arguments)

    return one


@pytest.fixture
def kgagent(surroundings: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command there inside the process of the tests, which saves the imports."""
    monkeypatch.chdir(tmp_path)

    def one(*arguments: str) -> subprocess.CompletedProcess[str]:
        left_out = dict.fromkeys(os.environ.keys() - surroundings.keys())
        done = CliRunner().invoke(app, arguments, env={**left_out, **surroundings}, catch_exceptions=False)
        return subprocess.CompletedProcess(arguments, done.exit_code, done.stdout, done.stderr)

    return one
