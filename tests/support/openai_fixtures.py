"""Fixtures for the folders whose tests ask an OpenAI-compatible server."""

from collections.abc import Iterator

import pytest

from tests.support.openai_server import OpenAIServer


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
