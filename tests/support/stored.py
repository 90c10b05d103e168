"""Reads what is stored with plain Cypher, and checks that every embedding is current."""

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import pytest

from kgagent import KnowledgeGraph
from kgagent.embedding.base import Embedder
from kgagent.errors import StoreError
from kgagent.graph.identifiers import Identifier
from kgagent.graph.passages import passages_of
from kgagent.graph.schema_parts import OWN_LABELS, STATEMENT
from kgagent.knowledge_graph import services_of
from kgagent.names import plain_text
from tests.support import facts

Properties = dict[str, Any]


async def cypher(graph: KnowledgeGraph, text: str, **parameters: object) -> list[dict[str, Any]]:
    """Run any statement, as another program would.

    One with the labels that the database has may use an index that another test is creating.
    """
    while True:
        try:
            return await services_of(graph).store.write(text, parameters)
        except StoreError as error:
            if "Index is still populating" not in str(error):
                raise


def _nodes(graph: KnowledgeGraph) -> str:
    """Binds `n` to each node of $user: by the indexes of the ontology, and with any other label
    that the database has.

    The text is the same whichever labels other tests make, as the server would plan a new one
    again.
    """
    return (
        f"CALL () "
        f"{{ MATCH (n:{Identifier.any_of(graph.ontology.labels)}) WHERE n.user_id = $user RETURN n "
        "UNION CALL db.labels() YIELD label WHERE NOT label IN $labels "
        "CALL (label) { MATCH (n:$(label)) WHERE n.user_id = $user RETURN n } RETURN n } "
    )


async def relationships_of(graph: KnowledgeGraph, user_id: str) -> list[Properties]:
    """All relationships between the user's nodes with all their properties, their type as
    `neo4j_type`.
    """
    rows = await cypher(
        graph,
        f"{_nodes(graph)} MATCH (n)-[r]->(b) WHERE b.user_id = $user "
        "RETURN properties(r) AS properties, type(r) AS type, n.entity_key AS first, b.entity_key "
        "AS second",
        user=user_id,
        labels=list(graph.ontology.labels),
    )
    return [
        {
            **row["properties"],
            "neo4j_type": row["type"],
            "first": row["first"],
            "second": row["second"],
        }
        for row in rows
    ]


async def indexed_statements(graph: KnowledgeGraph, user_id: str) -> list[Properties]:
    """All entries of the index of statements of a user."""
    text = f"MATCH (n:{STATEMENT}) WHERE n.user_id = $user RETURN properties(n) AS properties"
    return [row["properties"] for row in await cypher(graph, text, user=user_id)]


async def the_relationship(graph: KnowledgeGraph, user_id: str) -> Properties:
    """The only relationship of a user."""
    [stored] = await relationships_of(graph, user_id)
    return stored


async def nodes_of(graph: KnowledgeGraph, user_id: str) -> list[Properties]:
    """All nodes of a user with all their properties."""
    rows = await cypher(
        graph,
        f"{_nodes(graph)} WITH n WHERE NOT n:{Identifier.any_of(sorted(OWN_LABELS))} "
        "RETURN properties(n) AS properties",
        user=user_id,
        labels=list(graph.ontology.labels),
    )
    return [row["properties"] for row in rows]


async def all_of(graph: KnowledgeGraph, user_id: str) -> tuple[list[Properties], list[Properties]]:
    """All nodes and relationships of a user, in an order that stays."""
    nodes = sorted(await nodes_of(graph, user_id), key=lambda node: str(node["entity_key"]))
    relationships = await relationships_of(graph, user_id)
    return nodes, sorted(
        relationships, key=lambda relationship: str(relationship["relationship_key"])
    )


async def assert_embeddings_are_current(
    graph: KnowledgeGraph, user_id: str, embedder: Embedder, now: datetime
) -> list[Properties]:
    """Check invariant 1 on every relationship, node and statement of a user; returns the
    relationships.
    """
    stored, nodes = await relationships_of(graph, user_id), await nodes_of(graph, user_id)
    names = {node["entity_key"]: node.get("name") for node in nodes}
    expected = [entry for node in nodes for entry in _node_entries(node, now)]
    expected += [
        entry
        for relationship in stored
        for entry in _relationship_entries(relationship, names, now)
    ]
    entries = {
        (entry["record"], entry["text"]): entry
        for entry in await indexed_statements(graph, user_id)
    }
    assert sorted(entries) == sorted((entry["record"], entry["text"]) for entry, _ in expected)
    assert len(entries) == len(await indexed_statements(graph, user_id))
    for properties, embedded in expected:
        entry = entries[properties["record"], properties["text"]]
        assert {name: entry.get(name) for name in properties} == properties
        [vector] = await embedder.embed([embedded])
        assert entry["embedding"] == pytest.approx(list(vector), abs=1e-7), embedded
        assert entry["embedding_model"] == embedder.model
    for relationship in stored:
        await _assert_current(
            relationship, "relationship_embedding", relationship_text(relationship, now), embedder
        )
        assert not set(facts.OLD_FIELDS) & relationship.keys()
        assert relationship["user_id"] == user_id
        assert relationship.get("notes_text") == (_current_notes(relationship, now) or None)
    for node in nodes:
        await _assert_current(node, "embedding", node_text(node, now), embedder)
        aliases = node.get("aliases", ())
        indexed = " ".join(
            filter(
                None,
                (*aliases, *_plain_forms(node.get("name"), *aliases), _current_notes(node, now)),
            )
        )
        assert node.get("notes_text") == (indexed or None)
    return stored


class Database:
    """What is stored for the user of a test."""

    def __init__(
        self, graph: KnowledgeGraph, user_id: str, embedder: Embedder, clock: Callable[[], datetime]
    ) -> None:
        self._graph = graph
        self._user_id = user_id
        self._embedder = embedder
        self._clock = clock

    async def run(self, text: str, **parameters: object) -> list[dict[str, Any]]:
        """Run any statement, as another program would; `$user` is the user."""
        return await cypher(self._graph, text, **{"user": self._user_id, **parameters})

    async def nodes(self) -> list[Properties]:
        """All nodes with all their properties."""
        return await nodes_of(self._graph, self._user_id)

    async def relationships(self) -> list[Properties]:
        """All relationships with all their properties, their type as `neo4j_type`."""
        return await relationships_of(self._graph, self._user_id)

    async def relationship(self) -> Properties:
        """The only relationship."""
        return await the_relationship(self._graph, self._user_id)

    async def all(self) -> tuple[list[Properties], list[Properties]]:
        """All nodes and relationships, in an order that stays."""
        return await all_of(self._graph, self._user_id)

    async def assert_current(self) -> list[Properties]:
        """Check invariant 1 on every relationship and node; returns the relationships."""
        return await assert_embeddings_are_current(
            self._graph, self._user_id, self._embedder, self._clock()
        )


async def _assert_current(record: Properties, field: str, text: str, embedder: Embedder) -> None:
    if not text:
        assert record.get(field) is None
        assert "embedding_hash" not in record
        return
    [expected] = await embedder.embed([text])
    assert record[field] == pytest.approx(list(expected), abs=1e-7), text
    assert record["embedding_model"] == embedder.model
    fingerprint = hashlib.sha256(
        f"{embedder.model}\n{embedder.dimensions}\n{text}".encode()
    ).hexdigest()
    assert record["embedding_hash"] == fingerprint
    assert "write_lock" not in record


def relationship_text(stored: Mapping[str, Any], now: datetime) -> str:
    """The text that a stored relationship's embedding must be of, as the documents say it."""
    kind = stored["neo4j_type"]
    parts = [
        stored.get("description"),
        stored.get("relationship_type"),
        facts.word(kind, "attitude", stored.get("attitude")),
        facts.word(kind, "proximity", stored.get("proximity")),
        _notes_text(stored, now),
    ]
    return " ".join(part for part in parts if part)


def node_text(stored: Mapping[str, Any], now: datetime) -> str:
    """The text that a stored node's embedding must be of."""
    return " ".join(
        part
        for part in (stored.get("name"), stored.get("description"), _notes_text(stored, now))
        if part
    )


def _node_entries(node: Properties, now: datetime) -> list[tuple[Properties, str]]:
    """The entries that the index of statements must have for a node, each with the text that is
    embedded.
    """
    location = {
        "record": node["entity_key"],
        "from_entity_key": node["entity_key"],
        "to_entity_key": None,
    }
    shared = {
        **location,
        "neo4j_type": None,
        "relationship_type": "",
        "names": _names(node.get("name")),
    }
    entries = _entries(node, node_text({**node, "notes": None}, now), shared)
    own = {properties["text"] for properties, _ in entries}
    for one in passages_of(node.get("source_text") or ""):
        if one.text not in own:
            section = {"section": one.section or None, "is_passage": True}
            if one.section and one.section not in one.text:
                section["names"] = f"{shared['names']} {one.section}"
            begins = one.text.lstrip("# ").startswith(one.section)
            embedded = one.text if begins else f"{one.section}: {one.text}"
            entries.append(({**shared, "text": one.text, **section}, embedded))
    return entries


def _relationship_entries(
    relationship: Properties, names: Mapping[str, object], now: datetime
) -> list[tuple[Properties, str]]:
    """Those for a relationship, given the names of nodes by their keys."""
    first, second = (relationship[end] for end in ("first", "second"))
    in_direction = (second, first) if relationship.get("is_reversed") else (first, second)
    shared = {
        "record": relationship["relationship_key"],
        "from_entity_key": first,
        "to_entity_key": second,
        "neo4j_type": relationship["neo4j_type"],
        "relationship_type": relationship.get("relationship_type") or None,
        "names": _names(*(names[key] for key in in_direction)),
    }
    return _entries(relationship, relationship_text({**relationship, "notes": None}, now), shared)


def _entries(stored: Properties, own_text: str, shared: Properties) -> list[tuple[Properties, str]]:
    """One entry for the record itself, with its description, and one for each other text of its
    notes and former descriptions.
    """
    description = stored.get("description") or ""
    former = [
        entry["value"]
        for entry in json.loads(stored.get("history") or "[]")
        if entry["field"] == "description" and entry["value"] and not entry.get("corrected")
    ]
    embedded = {content: content for content in (*note_contents(stored), *former)}
    if own_text:
        embedded[description if description.strip() else ""] = own_text
    return [({**shared, "text": text}, embedded[text]) for text in embedded]


def _names(*names: object) -> str:
    """The names of the nodes of an entry, then once more those that have another form without
    accents.
    """
    return " ".join(
        [*(name for name in names if isinstance(name, str) and name), *_plain_forms(*names)]
    )


def _plain_forms(*names: object) -> list[str]:
    """The forms without accents of names that have any."""
    texts = [name for name in names if isinstance(name, str) and not name.isascii()]
    return [plain_text(name) for name in texts if plain_text(name) != name.lower()]


def note_contents(stored: Mapping[str, Any]) -> list[str]:
    """Contents of all notes, expired ones too."""
    return [note["content"] for note in json.loads(stored.get("notes") or "[]")]


def _notes_text(stored: Mapping[str, Any], now: datetime) -> str:
    text = _current_notes(stored, now)
    return text if len(text) <= 1000 else _current_notes(stored, now, newest_first=True)[:1000]


def _current_notes(stored: Mapping[str, Any], now: datetime, *, newest_first: bool = False) -> str:
    notes = json.loads(stored.get("notes") or "[]")
    ordered = reversed(notes) if newest_first else notes
    return " ".join(
        n["content"]
        for n in ordered
        if not n["expires_at"] or datetime.fromisoformat(n["expires_at"]) > now
    )


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """Plain cosine similarity."""
    return math.fsum(x * y for x, y in zip(one, other, strict=True)) / (
        math.hypot(*one) * math.hypot(*other)
    )
