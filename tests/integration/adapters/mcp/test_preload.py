"""A server begins to load its embedding model when it starts."""

import asyncio
import io
import sys

import pytest

from kgagent import KnowledgeGraph, Settings
from kgagent.adapters.mcp import HttpOptions, http_server, serve_stdio
from kgagent.embedding.hashing import HashingEmbedder
from tests.conftest import DIMENSIONS


class SlowToLoad(HashingEmbedder):
    """Counts how often it was asked to load."""

    preloads = 0

    def preload(self) -> None:
        self.preloads += 1


async def test_both_servers_preload_the_embedder(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = SlowToLoad(DIMENSIONS)
    async with KnowledgeGraph.connect(settings=settings, embedder=embedder) as graph:
        assert embedder.preloads == 0
        async with http_server(graph, HttpOptions(user_id="preload-user")):
            assert embedder.preloads == 1
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO()))
        await asyncio.wait_for(serve_stdio(graph, "preload-user"), 60)
        assert embedder.preloads == 2
