"""ChunkSearch: the nodes with text that are linked with what matched."""

from collections.abc import Mapping, Sequence

from kgagent.embedding.base import Embedder
from kgagent.graph.statements import statement
from kgagent.graph.store import Store
from kgagent.models.matched_path import Chunk, MatchedNode
from kgagent.patterns.path_reader import PathReader

TEXT_PROPERTIES = ("text", "content", "description")
"""Where a chunk's text stands; the first that is there."""

NEIGHBOURS = 200
"""Neighbours of one matched node that are looked at."""

MAX_NODES = 1_000
"""Matched nodes whose chunks are looked for, those of the best paths first."""


class ChunkSearch:
    """Searches the chunks of what matched, by vector."""

    def __init__(self, store: Store, embedder: Embedder, reader: PathReader, *, timeout: float) -> None:
        self._store = store
        self._embedder = embedder
        self._reader = reader
        self._timeout = timeout

    async def near(
        self, vector: Sequence[float], nodes: Mapping[str, MatchedNode], user_id: str, limit: int
    ) -> tuple[Chunk, ...]:
        """Find the chunks that are among some nodes or next to one of them, nearest first.

        Args:
            vector: shape (dimensions,).
            nodes: what matched, by the database's ids.
            user_id: whose graph.
            limit: chunks at the most.

        Raises:
            StoreError: the database failed.
        """
        rows = await self._store.read(
            statement("find_chunks"),
            {
                "user_id": user_id,
                "ids": list(nodes)[:MAX_NODES],
                "vector": self._store.vector(vector),
                "dimensions": self._embedder.dimensions,
                "model": self._embedder.model,
                "text_properties": list(TEXT_PROPERTIES),
                "neighbours": NEIGHBOURS,
                "limit": limit,
            },
            timeout=self._timeout,
        )
        return tuple(
            Chunk(
                node=self._reader.node(row["node"]),
                text=row["text"],
                linked_to=tuple(nodes[one].entity_key for one in row["linked_to"]),
                similarity=row["similarity"],
            )
            for row in rows
        )
