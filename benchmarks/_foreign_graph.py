"""Graphs with labels and types outside the ontology, read from public files and written
unchanged.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from _made_graph import batches
from pydantic import JsonValue

from kgagent.embedding.base import Embedder
from kgagent.graph.identifiers import Identifier
from kgagent.graph.store import Store

MEDICAL, SUPPLY = "medical_benchmark_data.json", "sap_graph.json"
CHUNK, DESCRIBES = "Chunk", "DESCRIBES"
OTHER = "of_another_user"
EVERY = 10
DELETED_AT_ONCE = 5_000

CREATE_NODES = "UNWIND $rows AS row CREATE (n:{label}) SET n = row"
CREATE_CHUNKS = """
UNWIND $rows AS row
MATCH (n {entity_key: row.about, user_id: $user_id})
CREATE (c:Chunk {entity_key: row.key, user_id: $user_id, content: row.content})-[:DESCRIBES]->(n)
WITH c, row
CALL db.create.setNodeVectorProperty(c, 'embedding', toFloatList(row.vector))
RETURN count(*) AS made
"""
JOIN = """
UNWIND $rows AS row
MATCH (a:{start} {{entity_key: row.start, user_id: $user_id}})
MATCH (b:{end} {{entity_key: row.end, user_id: $other_id}})
CREATE (a)-[r:{type}]->(b) SET r = row.properties
"""
DELETE = "MATCH (n) WHERE n.user_id IN $users WITH n LIMIT $limit DETACH DELETE n RETURN count(*) AS gone"


@dataclass(frozen=True)
class RawNode:
    """A node of the file; `name` is its display name."""

    key: str
    label: str
    name: str
    properties: Mapping[str, JsonValue]


@dataclass(frozen=True)
class RawRelationship:
    """A relationship of the file."""

    type: str
    start: str
    end: str
    properties: Mapping[str, JsonValue]


@dataclass(frozen=True)
class RawChunk:
    """A text of the file and the node that it describes."""

    key: str
    about: str
    content: str


@dataclass(frozen=True)
class RawGraph:
    """The contents of a file."""

    nodes: tuple[RawNode, ...]
    relationships: tuple[RawRelationship, ...]
    chunks: tuple[RawChunk, ...]

    @property
    def labels(self) -> dict[str, str]:
        """The label of each node, by key."""
        return {node.key: node.label for node in self.nodes}

    def key_of(self, label: str, name: str) -> str:
        """The key of the node with that label and name."""
        [found] = [node.key for node in self.nodes if (node.label, node.name) == (label, name)]
        return found


def read(file: Path) -> RawGraph:
    """Read a file with `nodes`, `edges` and `chunks`."""
    raw = json.loads(file.read_text("utf-8"))
    return RawGraph(
        tuple(RawNode(n["id"], n["label"], _name(n), n["properties"]) for n in raw["nodes"]),
        tuple(
            RawRelationship(
                e["relationType"], e["sourceNodeId"], e["targetNodeId"], e["properties"]
            )
            for e in raw["edges"]
        ),
        tuple(RawChunk(c["id"], c["linkedNodeId"], c["content"]) for c in raw["chunks"]),
    )


def _name(node: Mapping[str, Any]) -> str:
    """The display name of a node: its name, else the property that ends in _id, else its type."""
    own = node["properties"]
    known = ["name", *(key for key in own if key.endswith("_id")), "type"]
    return str(next((own[key] for key in known if key in own), node["id"]))


def stored(properties: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Properties that Neo4j can store; nested values become JSON text."""
    nested = (dict, list)
    return {
        key: json.dumps(value) if isinstance(value, nested) else value
        for key, value in properties.items()
    }


async def load(
    store: Store, raw: RawGraph, user_id: str, embedder: Embedder, **more: JsonValue
) -> None:
    """Write a graph for a user.

    Args:
        store: the database.
        raw: the graph.
        user_id: owner of the graph.
        embedder: embeds the chunks.
        more: additional properties of each node.
    """
    of_label: dict[str, list[dict[str, JsonValue]]] = defaultdict(list)
    for node in raw.nodes:
        own = {"entity_key": node.key, "user_id": user_id, "name": node.name, **more}
        of_label[node.label].append({**stored(node.properties), **own})
    for label, rows in of_label.items():
        await write(store, CREATE_NODES.format(label=Identifier(label)), rows)
    await join(store, raw.relationships, raw.labels, user_id, user_id)
    vectors = await embedder.embed([chunk.content for chunk in raw.chunks])
    chunks = [
        {
            "key": chunk.key,
            "about": chunk.about,
            "content": chunk.content,
            "vector": store.vector(vector),
        }
        for chunk, vector in zip(raw.chunks, vectors, strict=True)
    ]
    await write(store, CREATE_CHUNKS, chunks, user_id=user_id)


async def load_another(
    store: Store, raw: RawGraph, user_id: str, other_id: str, embedder: Embedder
) -> None:
    """Write a graph of another user with the same keys and more relationships, which no result may
    contain.

    Every tenth relationship of the first user is repeated from their node to the other user's, and
    every node of the other user has the property `of_another_user`.
    """
    turned = [
        replace(one, end=raw.relationships[i - 1].end) for i, one in enumerate(raw.relationships)
    ]
    fitting = [one for i, one in enumerate(turned) if one.type == raw.relationships[i - 1].type]
    crowded = replace(raw, relationships=(*raw.relationships, *fitting))
    await load(store, crowded, other_id, embedder, **{OTHER: True})
    await join(store, raw.relationships[::EVERY], raw.labels, user_id, other_id)


async def join(
    store: Store,
    relationships: Iterable[RawRelationship],
    labels: Mapping[str, str],
    user_id: str,
    other_id: str,
) -> None:
    """Write relationships from nodes of one user to nodes of another, or of the same."""
    of_kind: dict[tuple[str, str, str], list[dict[str, object]]] = defaultdict(list)
    for one in relationships:
        kind = labels[one.start], one.type, labels[one.end]
        of_kind[kind].append(
            {"start": one.start, "end": one.end, "properties": stored(one.properties)}
        )
    for (start, neo4j_type, end), rows in of_kind.items():
        text = JOIN.format(
            start=Identifier(start), type=Identifier(neo4j_type), end=Identifier(end)
        )
        await write(store, text, rows, user_id=user_id, other_id=other_id)


async def write(store: Store, text: str, rows: Iterable[object], **values: object) -> None:
    """Run a statement for rows in batches of some thousands."""
    for some in batches(rows):
        await store.write(text, {"rows": some, **values})


async def index(store: Store, labels: Iterable[str]) -> None:
    """Create a key index for each label, and wait until they are online."""
    for label in labels:
        await store.run_schema(
            f"CREATE INDEX {Identifier(f'foreign_{label}')} IF NOT EXISTS FOR "
            f"(n:{Identifier(label)}) ON (n.entity_key)"
        )
    await store.run_schema("CALL db.awaitIndexes(300)")


async def drop_index(store: Store, labels: Iterable[str]) -> None:
    """Drop the indexes that `index` created."""
    for label in labels:
        await store.run_schema(f"DROP INDEX {Identifier(f'foreign_{label}')} IF EXISTS")


async def delete(store: Store, users: Sequence[str]) -> None:
    """Remove all nodes of some users."""
    while (await store.write(DELETE, {"users": list(users), "limit": DELETED_AT_ONCE}))[0]["gone"]:
        pass
