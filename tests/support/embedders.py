"""An embedder that records its calls, and waits or fails on request."""

import asyncio
from collections.abc import Sequence

from kgagent.embedding.base import Embedder, Embedding
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.embedding.openai import OpenAIEmbedder
from kgagent.errors import EmbeddingResponseError
from tests.support.openai_server import API_KEY


def openai_embedder(base_url: str, *, model: str = "text-embedding-3-small") -> OpenAIEmbedder:
    """An embedder of a local server, with the length of the shared indexes."""
    return OpenAIEmbedder(api_key=API_KEY, base_url=base_url, model=model, dimensions=384)


class WatchedEmbedder(Embedder):
    """Wraps an embedder.

    Attributes:
        stored: texts of each request for embeddings that are stored.
        queries: texts of each request for embeddings of queries.
        failure: raised by every request while it is set.
        refused: part of a text that the model refuses; empty if it refuses none.
        gate: requests wait for it; it is open unless a test closes it.
        asked: set as soon as a request has come in.
    """

    def __init__(self, embedder: Embedder | None = None, *, model: str | None = None) -> None:
        self._embedder = embedder or HashingEmbedder(384)
        self._model = model or self._embedder.model
        self.stored: list[list[str]] = []
        self.queries: list[list[str]] = []
        self.failure: Exception | None = None
        self.refused = ""
        self.gate = asyncio.Event()
        self.gate.set()
        self.asked = asyncio.Event()

    @property
    def model(self) -> str:
        return self._model

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    @property
    def calls(self) -> int:
        """Requests of either kind."""
        return len(self.stored) + len(self.queries)

    def forget(self) -> None:
        """Begin to note anew."""
        self.stored.clear()
        self.queries.clear()

    async def asked_for(self, requests: int) -> None:
        """Wait until that many requests for stored embeddings have come in."""
        while len(self.stored) < requests:
            self.asked.clear()
            await self.asked.wait()

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        self.stored.append(list(texts))
        return await self._answer(texts)

    async def embed_queries(self, texts: Sequence[str]) -> list[Embedding]:
        self.queries.append(list(texts))
        return await self._answer(texts)

    async def _answer(self, texts: Sequence[str]) -> list[Embedding]:
        self.asked.set()
        await self.gate.wait()
        if self.failure is not None:
            raise self.failure
        if self.refused and any(self.refused in text for text in texts):
            raise EmbeddingResponseError("The model refused a text")
        return await self._embedder.embed(texts)
