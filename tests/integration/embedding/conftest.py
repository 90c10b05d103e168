"""The OpenAI-compatible server and embedders that ask it."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest

from kgagent.embedding.openai import OpenAIEmbedder
from tests.support.openai_fixtures import openai, running_openai
from tests.support.openai_server import API_KEY, OpenAIServer

__all__ = ["openai", "running_openai"]

MakeEmbedder = Callable[..., OpenAIEmbedder]


@pytest.fixture
def server(openai: OpenAIServer) -> OpenAIServer:
    """The OpenAI-compatible server; these tests need no Neo4j."""
    return openai


@pytest.fixture
async def make(server: OpenAIServer) -> AsyncIterator[MakeEmbedder]:
    """Makes embedders that ask the server."""
    async with AsyncExitStack() as stack:

        def make_one(**options: Any) -> OpenAIEmbedder:
            defaults: dict[str, Any] = {
                "api_key": API_KEY,
                "base_url": server.base_url,
                "dimensions": 64,
            }
            embedder = OpenAIEmbedder(**(defaults | options))
            stack.push_async_callback(embedder.aclose)
            return embedder

        yield make_one
