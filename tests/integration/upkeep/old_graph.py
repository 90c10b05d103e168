"""Graphs as they were before there was one embedding a relationship, made with plain Cypher."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from kgagent import KnowledgeGraph
from kgagent.embedding.base import Embedder
from kgagent.knowledge_graph import services_of
from kgagent.upkeep.migration_report import MigrationReport
from tests.support.stored import Properties, cypher

OLD_VECTOR = [0.5, -0.25, 0.125]
OLD_FIELDS = dict.fromkeys(
    ("relation_embedding", "notes_embedding", "description_embedding"), OLD_VECTOR
)


@dataclass(frozen=True)
class Old:
    """A relationship of an old graph, and the text that its embedding must be of."""

    neo4j_type: str
    first: str
    last: str
    text: str
    properties: dict[str, Any] = field(default_factory=dict)


EVERY_FORM = (
    Old(
        "has_relationship_with",
        "Person",
        "Person",
        "They met at sea mentor friendly known-well Taught him knots Wrote in May",
        {
            "relationship_type": "mentor",
            "description": "They met at sea",
            "attitude": 4,
            "proximity": 4,
            "notes": json.dumps(["Taught him knots", {"content": "Wrote in May"}]),
            **OLD_FIELDS,
        },
    ),
    Old(
        "engages_with",
        "Person",
        "Concept",
        "reads passionate plain note",
        {"relationship_type": "reads", "attitude": 5, "notes": "plain note", **OLD_FIELDS},
    ),
    Old(
        "associated_with",
        "Person",
        "Entity",
        "Works there one two",
        {"description": "Works there", "notes": ["one", "two"], "notes_embedding": OLD_VECTOR},
    ),
    Old(
        "relates_to",
        "Concept",
        "Concept",
        "integral",
        {"attitude": "INTEGRAL", "relation_embedding": OLD_VECTOR},
    ),
    Old("involves", "Concept", "Entity", "central essential", {"attitude": "5", "proximity": 5.0}),
    Old("connected_to", "Entity", "Entity", "", {"confidence": 0.3, **OLD_FIELDS}),
)
"""One relationship of each type; together they have every old form of a note and of a level."""

OTHER_VECTORS: tuple[dict[str, Any], ...] = (
    {"relationship_embedding": [1.0] + [0.0] * 383},
    {
        "relationship_embedding": [1.0] + [0.0] * 383,
        "embedding_model": "another",
        "embedding_hash": "another",
    },
    {"relationship_embedding": [1.0, 0.0]},
    {"relationship_embedding": [1, 2, 3]},
    {"relationship_embedding": "no vector"},
    {"embedding_hash": "of a vector that is gone", "embedding_model": "blake2b-words"},
)
"""What may stand where a current embedding should."""


async def old_relationships(graph: KnowledgeGraph, user_id: str, forms: Sequence[Old]) -> None:
    """Make relationships of an old graph, each between two nodes of its own."""
    for position, old in enumerate(forms):
        await cypher(
            graph,
            "CREATE (a:$($first) {entity_key: $key + 'a', user_id: $user, name: 'A' + $number}) "
            "CREATE (b:$($last) {entity_key: $key + 'b', user_id: $user, name: 'B' + $number, "
            "embedding: [0.5]}) "
            "CREATE (a)-[r:$($type)]->(b) SET r = $properties, r.expected = $expected",
            first=old.first,
            last=old.last,
            type=old.neo4j_type,
            key=f"{user_id}-{position}-",
            number=str(position),
            user=user_id,
            properties=old.properties,
            expected=old.text,
        )


async def many_old(graph: KnowledgeGraph, user_id: str, count: int) -> None:
    """Make a chain of people with old relationships; their nodes are old, too."""
    await cypher(
        graph,
        "UNWIND range(0, $count) AS i CREATE (:Person {entity_key: $user + '-' + i, user_id: "
        "$user, name: 'Nr ' + i})",
        count=count,
        user=user_id,
    )
    await cypher(
        graph,
        "UNWIND range(1, $count) AS i "
        "MATCH (a:Person {entity_key: $user + '-' + (i - 1), user_id: $user}) "
        "MATCH (b:Person {entity_key: $user + '-' + i, user_id: $user}) "
        "CREATE (a)-[r:has_relationship_with]->(b) "
        "SET r = $old, r.description = 'Old story ' + i, r.expected = 'Old story ' + i",
        count=count,
        user=user_id,
        old=OLD_FIELDS,
    )


def with_embedder(graph: KnowledgeGraph, embedder: Embedder) -> KnowledgeGraph:
    """The same graph with another embedder."""
    services = services_of(graph)
    return KnowledgeGraph(
        services.store, graph.ontology, embedder, graph.settings, clock=services.write_context.clock
    )


async def run(graph: KnowledgeGraph, user_id: str | None, **options: Any) -> MigrationReport:
    """Migrate."""
    return await graph.migrate(user_id=user_id, **options)


def is_in_present_form(stored: Properties) -> bool:
    """Whether a relationship has all that the migration gives it, and nothing of what it takes
    away.
    """
    given = {"user_id", "relationship_key", "version"} <= stored.keys()
    return given and not OLD_FIELDS.keys() & stored.keys()


def is_untouched(stored: Properties) -> bool:
    """Whether a relationship of `many_old` is as it was made."""
    return stored.keys() == {
        "description",
        "expected",
        *OLD_FIELDS,
        "neo4j_type",
        "first",
        "second",
    }


async def assert_migrated(stored: Properties, embedder: Embedder) -> None:
    """Check that a relationship is in the present form and that its embedding is that of its
    text.
    """
    assert is_in_present_form(stored), stored
    if not stored["expected"]:
        assert "relationship_embedding" not in stored
        return
    [expected] = await embedder.embed([stored["expected"]])
    assert stored["relationship_embedding"] == list(expected)
