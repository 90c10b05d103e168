"""Embeddings of records that a search found; for reranking, never for an answer."""

from array import array
from collections.abc import Mapping, Sequence

from kgagent.embedding.base import Embedder, Embedding
from kgagent.graph.relationships import RelationshipRepository
from kgagent.graph.statements import statement
from kgagent.graph.store import Parameters, Row

Pair = tuple[str, str, str]
"""Neo4j type and the keys of both ends of a relationship, in either order; see `GraphRelationship.pair`."""


class StoredEmbeddings:
    """Reads the embeddings of a user's nodes and relationships, one statement a call.

    A record without an embedding, or with one that cannot be compared with this embedder's, is missing from the answer.
    """

    def __init__(self, relationships: RelationshipRepository, embedder: Embedder, *, timeout: float) -> None:
        self._relationships = relationships
        self._embedder = embedder
        self._timeout = timeout

    async def of_nodes(self, user_id: str, keys: Sequence[str]) -> Mapping[str, Embedding]:
        """Read embeddings of nodes.

        Args:
            user_id: whose nodes.
            keys: their entity keys.

        Returns:
            Embeddings by key; float32, shape (dimensions,).

        Raises:
            StoreError: the database failed.
        """
        if not keys:
            return {}
        rows = await self._read("read_node_embeddings", user_id, {"keys": list(dict.fromkeys(keys))})
        return {row["entity_key"]: array("f", row["embedding"]) for row in rows}

    async def of_relationships(self, user_id: str, pairs: Sequence[Pair]) -> Mapping[Pair, Embedding]:
        """Read embeddings of relationships.

        Args:
            user_id: whose relationships.
            pairs: type and ends of each.

        Returns:
            Embeddings by pair, as it was given; float32, shape (dimensions,).

        Raises:
            StoreError: the database failed.
        """
        if not pairs:
            return {}
        wanted = list(dict.fromkeys(pairs))
        named = [dict(zip(("neo4j_type", "first", "second"), pair, strict=True)) for pair in wanted]
        rows = await self._read("read_relationship_embeddings", user_id, {"pairs": named})
        return {wanted[row["position"]]: array("f", row["embedding"]) for row in rows}

    async def _read(self, name: str, user_id: str, parameters: Parameters) -> list[Row]:
        return await self._relationships.store.read(
            statement(name, **self._relationships.names),
            {
                **parameters,
                "user_id": user_id,
                "model": self._embedder.model,
                "dimensions": self._embedder.dimensions,
            },
            timeout=self._timeout,
        )
