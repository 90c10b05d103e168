"""Fixtures of the tests of ingestion."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import Server
from tests.integration.cli.conftest import Kgagent, kgagent
from tests.support.fixtures import embedder
from tests.support.openai_models import API_KEY, ScriptedModel, deciding_model
from tests.support.reading import careful_reader
from tests.support.served import run_python, settings_for

__all__ = ["Kgagent", "embedder", "kgagent"]

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with deciding_model(careful_reader) as served:
        yield served


@pytest.fixture
def environment(server: Server, user_id: str, model: ScriptedModel) -> dict[str, str]:
    """An environment that leads to the tests' Neo4j, and to the scripted model behind OpenAI's
    client.
    """
    return settings_for(server, user_id) | {
        "OPENAI_API_KEY": API_KEY,
        "OPENAI_BASE_URL": model.base_url,
    }


@pytest.fixture
def run(environment: dict[str, str], tmp_path: Path) -> Run:
    """Runs Python there as a program of its own."""

    def one(*arguments: str) -> subprocess.CompletedProcess[str]:
        return run_python(environment, tmp_path, *arguments)

    return one
