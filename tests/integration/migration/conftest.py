from collections.abc import Iterator

import pytest

from tests.support.fixtures import embedder
from tests.support.openai_server import OpenAIServer
from tests.support.own_ontology import lent_ontology, own

__all__ = ["embedder", "lent_ontology", "own"]


@pytest.fixture(scope="session")
def running_openai() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        yield server


@pytest.fixture
def openai(running_openai: OpenAIServer) -> Iterator[OpenAIServer]:
    """A server with OpenAI's API."""
    running_openai.reset()
    yield running_openai
    running_openai.reset()
