"""Fixtures of the tests of ingestion."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import Server
from tests.support.fixtures import embedder, graph, opened
from tests.support.openai_models import API_KEY, ScriptedModel, deciding_model
from tests.support.reading import careful_reader
from tests.support.served import run_python, settings_for

__all__ = ["embedder", "graph", "opened"]

Run = Callable[..., subprocess.CompletedProcess[str]]


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
