"""Chunks: nodes with text that are on a path or adjacent to one."""

from collections.abc import Mapping, Sequence

from kgagent.embedding.base import Embedder
from kgagent.graph.statements import statement
from kgagent.models.matched_path import Chunk, MatchedNode
from kgagent.patterns.path_reader import PathReader
from kgagent.patterns.reads import UserReads

TEXT_PROPERTIES = ("text", "content", "description")
"""Properties that may hold the text of a chunk; the first that exists is used."""

MAX_NEIGHBORS = 200
"""Neighbors of one node that are examined."""

MAX_NODES = 1_000
"""Nodes whose chunks are searched, those of the best paths first."""


async def find_chunks(
    reads: UserReads,
    embedder: Embedder,
    reader: PathReader,
    *,
    vector: Sequence[float],
    nodes: Mapping[str, MatchedNode],
    limit: int,
) -> tuple[Chunk, ...]:
    """Find the chunks among some nodes and their neighbors, most similar first.

    Args:
        reads: reads of the user's graph.
        embedder: says which stored embeddings can be compared.
        reader: makes models of the nodes.
        vector: query vector, shape (dimensions,).
        nodes: nodes of the paths, by element id.
        limit: maximum number of chunks.

    Raises:
        StatementTimeoutError: time ran out.
        StoreError: the database failed otherwise.
    """
    rows = await reads.read(
        statement("find_chunks"),
        {
            "ids": list(nodes)[:MAX_NODES],
            "vector": reads.store.vector(vector),
            "dimensions": embedder.dimensions,
            "model": embedder.model,
            "text_properties": list(TEXT_PROPERTIES),
            "neighbors": MAX_NEIGHBORS,
            "limit": limit,
        },
    )
    return tuple(
        Chunk(
            node=reader.node(row["node"]),
            text=row["text"],
            linked_to=tuple(nodes[key].entity_key for key in row["linked_to"]),
            similarity=row["similarity"],
        )
        for row in rows
    )
