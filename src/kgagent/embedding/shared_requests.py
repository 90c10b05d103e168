"""Requests for the embeddings of queries, shared by concurrent calls with the same text."""

import asyncio
from collections.abc import Callable
from functools import partial

from kgagent.embedding.base import Embedder, Embedding
from kgagent.errors import EmbeddingUnavailableError

Response = dict[str, Embedding]
"""The embedding of each text."""


class SharedRequests:
    """Embeds each text in one request at a time, however many calls wait for it; use it from one event loop only."""

    def __init__(self, embedder: Embedder, keep: Callable[[Response], None]) -> None:
        """Share the requests to an embedder.

        Args:
            embedder: embeds the texts.
            keep: gets each response, also if no call waits for it any more.
        """
        self._embedder = embedder
        self._keep = keep
        self._pending: dict[str, asyncio.Task[Response]] = {}
        self._generation = 0

    async def embed(self, texts: list[str]) -> Response:
        """Embed texts: those without a pending request in a new one, which continues if a call is cancelled.

        Raises:
            EmbeddingError: the embedder failed, or the requests were cancelled.
        """
        missing = [text for text in texts if text not in self._pending]
        if missing:
            task = asyncio.create_task(self._request(missing))
            task.add_done_callback(partial(self._finish, missing, self._generation))
            self._pending |= dict.fromkeys(missing, task)
        response: Response = {}
        for task in {self._pending[text] for text in texts}:
            # `asyncio.wait` does not cancel the task when its caller is cancelled.
            await asyncio.wait([task])
            if task.cancelled():
                raise EmbeddingUnavailableError("The embedder was closed before it responded")
            response |= task.result()
        return response

    def keep_none(self) -> None:
        """Answer the pending requests, but keep none of their responses."""
        self._generation += 1

    async def cancel(self) -> None:
        """Cancel the pending requests."""
        tasks = set(self._pending.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _request(self, texts: list[str]) -> Response:
        return dict(zip(texts, await self._embedder.embed_queries(texts), strict=True))

    def _finish(self, texts: list[str], generation: int, task: asyncio.Task[Response]) -> None:
        for text in texts:
            del self._pending[text]
        # Retrieving the exception keeps asyncio from logging it when no call waits any more.
        if not task.cancelled() and task.exception() is None and generation == self._generation:
            self._keep(task.result())
