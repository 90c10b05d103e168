"""A migration in a process of its own that gets stuck half way, so that a test can kill it.

Arguments: uri, username, password, user id.
"""

import asyncio
import sys
from collections.abc import Sequence
from datetime import UTC, datetime

from kgagent import KnowledgeGraph, Settings
from kgagent.embedding.base import Embedding
from kgagent.embedding.hashing import HashingEmbedder

TEXTS_UNTIL_STUCK = 300


class StuckLater(HashingEmbedder):
    """Answers no more after so many texts: the nodes' and half of the relationships'."""

    left = TEXTS_UNTIL_STUCK

    async def embed(self, texts: Sequence[str]) -> list[Embedding]:
        self.left -= len(texts)
        if self.left < 0:
            await asyncio.Event().wait()
        return await super().embed(texts)


async def main(uri: str, username: str, password: str, user_id: str) -> None:
    connecting = KnowledgeGraph.connect(
        uri,
        username=username,
        password=password,
        embedder=StuckLater(384),
        settings=Settings(_env_file=None),
        ensure_schema=False,
        clock=lambda: datetime(2026, 1, 1, tzinfo=UTC),
    )
    async with connecting as graph:
        await graph.migrate(user_id=user_id, batch_size=10)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
