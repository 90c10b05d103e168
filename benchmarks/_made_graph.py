"""A graph with synthetic vectors: one user with many relationships and others with few, loaded
without an embedder.
"""

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from kgagent import KnowledgeGraph
from kgagent.embedding.hashing import HashingEmbedder
from kgagent.graph.identifiers import Identifier
from kgagent.graph.store import Store
from kgagent.knowledge_graph import services_of

Vectors = NDArray[np.float32]
RowT = TypeVar("RowT")

RELATIONSHIPS_PER_CLUSTER = 50
RELATIONSHIPS_PER_NODE = 3
MIN_NODES = 10
ROWS_AT_ONCE = 2_000
DRAWN_AT_ONCE = 10_000
SMALL_USER = 10
MAX_SMALL_USERS = 300
MIDDLE_USERS = 4
RARE_TYPE = "seen once in a lifetime"
RARE = 3

CREATE_NODES = """
UNWIND $rows AS row
CREATE (n:Entity {entity_key: row.entity_key, user_id: row.user_id, name: row.name, description: row.description})
RETURN count(*) AS made
"""
CREATE_RELATIONSHIPS = """
UNWIND $rows AS row
MATCH (a:Entity {entity_key: row.from_entity_key, user_id: row.properties.user_id})
MATCH (b:Entity {entity_key: row.to_entity_key, user_id: row.properties.user_id})
CREATE (a)-[r:connected_to]->(b)
SET r = row.properties
WITH r, row
CALL db.create.setRelationshipVectorProperty(r, 'relationship_embedding', toFloatList(row.vector))
RETURN count(*) AS made
"""


@dataclass(frozen=True)
class Owner:
    """A user and their relationships: `count` relationships, starting at position `first`."""

    user_id: str
    first: int
    count: int

    @property
    def nodes(self) -> int:
        """Number of nodes of the relationships."""
        return max(self.count // RELATIONSHIPS_PER_NODE, MIN_NODES)

    def ends(self, position: int) -> tuple[str, str]:
        """Keys of the two nodes of a relationship; every relationship has a different pair."""
        start, lap = position % self.nodes, position // self.nodes
        return self.key(start), self.key((start + lap + 1) % self.nodes)

    @property
    def rare(self) -> list[int]:
        """Positions of the relationships of `RARE_TYPE`, if any."""
        return [(2 * n + 1) * self.count // (2 * RARE) for n in range(RARE)]

    def key(self, node: int) -> str:
        """Key of a node."""
        return f"{self.user_id}:{node}"


def owners(prefix: str, relationships: int, users: int, of_each: int) -> list[Owner]:
    """One user with all the `relationships`, then `users` with a few each."""
    few = [Owner(f"{prefix}-few-{n}", relationships + n * of_each, of_each) for n in range(users)]
    return [Owner(f"{prefix}-many", 0, relationships), *few]


def scoped_owners(prefix: str, total: int) -> list[Owner]:
    """Users of very unequal size: one has half of all, some have a share of the rest, many have 10,
    one has 1.
    """
    sizes = [total // 2, *[SMALL_USER] * min(MAX_SMALL_USERS, total // 40), 1]
    share = (total - sum(sizes)) // MIDDLE_USERS
    sizes[1:1] = [total - sum(sizes) - (MIDDLE_USERS - 1) * share, *[share] * (MIDDLE_USERS - 1)]
    firsts = np.cumsum([0, *sizes])
    return [
        Owner(f"{prefix}-{n}", int(first), size)
        for n, (first, size) in enumerate(zip(firsts, sizes, strict=False))
    ]


class ClusteredVectors:
    """Unit vectors that are hard to distinguish: dense clusters of very unequal size around a
    common mean.

    As in text embeddings, a few directions have most of the variance, and all vectors share a
    component.
    """

    def __init__(self, generator: np.random.Generator, dimensions: int, clusters: int) -> None:
        self._generator = generator
        self._spectrum = np.arange(1, dimensions + 1) ** -0.5
        self._spectrum *= np.sqrt(dimensions / np.sum(self._spectrum**2))
        self._mean = 0.5 * generator.standard_normal(dimensions)
        self._centers = generator.standard_normal((clusters, dimensions)) * self._spectrum
        weights = np.arange(1, clusters + 1) ** -0.7
        self._weights = weights / weights.sum()

    def draw(self, count: int) -> Vectors:
        """Draw vectors: float32, shape (count, dimensions), each of length 1."""
        drawn = np.empty((count, len(self._mean)), np.float32)
        for first in range(0, count, DRAWN_AT_ONCE):
            part = drawn[first : first + DRAWN_AT_ONCE]
            of = self._generator.choice(len(self._centers), size=len(part), p=self._weights)
            part[:] = self._mean + self._centers[of]
            part += 0.9 * self._generator.standard_normal(part.shape) * self._spectrum
            part /= np.linalg.norm(part, axis=1, keepdims=True)
        return drawn


def as_embedding(vector: Vectors) -> "array[float]":
    """Convert a vector to kgagent's type."""
    return array("f", vector.tobytes())


@dataclass(frozen=True)
class Content:
    """The data to load.

    Attributes:
        everyone: the users.
        vectors: of all their relationships, float32, shape (relationships, dimensions).
        texts: descriptions of all relationships; generated if empty.
        rare_of: user who has a few relationships of `RARE_TYPE`.
    """

    everyone: Sequence[Owner]
    vectors: Vectors
    texts: Sequence[str] = ()
    rare_of: Owner | None = None


async def load(graph: KnowledgeGraph, embedder: HashingEmbedder, content: Content) -> None:
    """Write nodes and relationships with their vectors."""
    for rows in batches(row for owner in content.everyone for row in _node_rows(owner)):
        await services_of(graph).store.write(CREATE_NODES, {"rows": rows})
    made = (
        row
        for owner in content.everyone
        for row in _relationship_rows(services_of(graph).store, embedder, content, owner)
    )
    for rows in batches(made):
        await services_of(graph).store.write(CREATE_RELATIONSHIPS, {"rows": rows})


async def load_then_index(
    graph: KnowledgeGraph, embedder: HashingEmbedder, content: Content
) -> None:
    """Load without the vector and full-text indexes and create them afterwards, which is faster."""
    for part in services_of(graph).schema.parts:
        if part.kind in {"vector", "text"}:
            await services_of(graph).store.run_schema(
                f"DROP INDEX {Identifier(part.name)} IF EXISTS"
            )
    await load(graph, embedder, content)
    await services_of(graph).schema.rebuild_vector_indexes()


def _node_rows(owner: Owner) -> Iterator[Mapping[str, Any]]:
    for node in range(owner.nodes):
        yield {
            "entity_key": owner.key(node),
            "user_id": owner.user_id,
            "name": f"Thing {node}",
            "description": f"The thing number {node}.",
        }


def _relationship_rows(
    store: Store, embedder: HashingEmbedder, content: Content, owner: Owner
) -> Iterator[Mapping[str, Any]]:
    rare = set(owner.rare) if owner == content.rare_of else set()
    now = datetime.now(UTC)
    for position in range(owner.count):
        start, end = owner.ends(position)
        text = f"{start} and {end} have met {position} times, and neither of them forgets it."
        properties = {
            "relationship_key": f"connected_to:{start}:{end}",
            "user_id": owner.user_id,
            "relationship_type": RARE_TYPE if position in rare else f"kind {position % 20}",
            "description": content.texts[owner.first + position] if content.texts else text,
            "attitude": position % 5 + 1,
            "proximity": position % 3 + 1,
            "notes": '[{"content": "They met at a conference in 2011.", "added_by": "me"}]',
            "embedding_model": embedder.model,
            "embedding_hash": f"made {owner.first + position}",
            "version": 1,
            "created_at": now,
            "updated_at": now,
        }
        vector = store.vector(as_embedding(content.vectors[owner.first + position]))
        yield {
            "from_entity_key": start,
            "to_entity_key": end,
            "properties": properties,
            "vector": vector,
        }


def batches(rows: Iterable[RowT]) -> Iterator[list[RowT]]:
    """Split rows into batches."""
    batch: list[RowT] = []
    for row in rows:
        batch.append(row)
        if len(batch) == ROWS_AT_ONCE:
            yield batch
            batch = []
    if batch:
        yield batch
