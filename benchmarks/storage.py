"""Bytes of Neo4j's store per relationship: without an embedding, with the unified embedding, and
with three embeddings.

Starts a local Neo4j of its own, since the store's files must be read. The size of indexes is not
included.

    python benchmarks/storage.py --relationships 5000 --dimensions 1536
"""

import argparse
import asyncio
import tempfile
from array import array
from pathlib import Path

import numpy as np
from _common import Server, kept_server, parser, show

from kgagent.graph.connection import connect

BATCH = 250
VARIANTS: dict[str, tuple[str, ...]] = {
    "no embedding": (),
    "unified embedding": ("relationship_embedding",),
    "three embeddings": ("relation_embedding", "notes_embedding", "description_embedding"),
}

NODES = "UNWIND range(0, $count) AS i CREATE (:Person {entity_key: toString(i)})"
RELATIONSHIPS = """
UNWIND $rows AS row
MATCH (a:Person {entity_key: row.first}), (b:Person {entity_key: row.second})
CREATE (a)-[r:has_relationship_with {
  relationship_type: 'friend', description: 'They row together on the lake', attitude: 4, proximity: 3, notes: '[]'
}]->(b)
WITH r, row
UNWIND keys(row.vectors) AS name
CALL db.create.setRelationshipVectorProperty(r, name, toFloatList(row.vectors[name]))
RETURN count(*)
"""


async def write(where: Server, properties: tuple[str, ...], arguments: argparse.Namespace) -> None:
    """Write relationships with random embeddings in some properties."""
    random = np.random.default_rng(arguments.seed)
    store = await connect(where.uri, username=where.username, password=where.password)
    try:
        for start in range(0, arguments.relationships, BATCH):
            rows = [
                {
                    "first": str(i),
                    "second": str(i + 1),
                    "vectors": {
                        name: store.vector(
                            array("f", random.standard_normal(arguments.dimensions).tolist())
                        )
                        for name in properties
                    },
                }
                for i in range(start, min(start + BATCH, arguments.relationships))
            ]
            await store.write(RELATIONSHIPS, {"rows": rows})
    finally:
        await store.close()


async def prepare(where: Server, nodes: int) -> None:
    """Create the nodes that the relationships connect."""
    store = await connect(where.uri, username=where.username, password=where.password)
    try:
        await store.run_schema(
            "CREATE INDEX person_key IF NOT EXISTS FOR (n:Person) ON (n.entity_key)"
        )
        await store.write(NODES, {"count": nodes})
        await store.run_schema("CALL db.awaitIndexes(300)")
    finally:
        await store.close()


def store_size(home: Path) -> int:
    """Bytes of the database's files, without indexes and transaction logs; the server must be
    stopped.
    """
    files = (
        path
        for path in home.rglob("databases/neo4j/**/*")
        if path.is_file() and "index" not in path.parts
    )
    return sum(path.stat().st_size for path in files)


def run(arguments: argparse.Namespace) -> None:
    """Write each variant, stop the server so that it flushes its files, and show by how much they
    grew.
    """
    sizes: dict[str, float] = {}
    with tempfile.TemporaryDirectory(prefix="kgagent-storage-") as directory:
        home = Path(directory)
        with kept_server(home) as where:
            asyncio.run(prepare(where, arguments.relationships))
        before = store_size(home)
        for variant, properties in VARIANTS.items():
            with kept_server(home) as where:
                asyncio.run(write(where, properties, arguments))
            after = store_size(home)
            sizes[variant] = (after - before) / arguments.relationships
            before = after
    bare = sizes["no embedding"]
    rows: list[dict[str, object]] = [
        {
            "variant": variant,
            "bytes per relationship": round(size),
            "of these embeddings": round(size - bare),
        }
        for variant, size in sizes.items()
    ]
    show(f"{arguments.relationships:,} relationships, {arguments.dimensions:,} dimensions", rows)
    saved = 1 - (sizes["unified embedding"] - bare) / (sizes["three embeddings"] - bare)
    print(f"The unified embedding needs {saved:.0%} less than three embeddings")


if __name__ == "__main__":
    made = parser(__doc__)
    made.add_argument("--relationships", type=int, default=5_000)
    made.add_argument("--dimensions", type=int, default=1_536)
    run(made.parse_args())
