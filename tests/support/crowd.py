"""Nodes and relationships written with plain Cypher, as other programs write them."""

from collections.abc import Mapping, Sequence
from typing import Any

from kgagent import KnowledgeGraph
from tests.support.stored import cypher


async def plant_people(
    graph: KnowledgeGraph, user_id: str, count: int, **properties: object
) -> list[str]:
    """Create people with one statement, without embeddings unless the properties hold them; gives
    their keys.
    """
    keys = [f"{user_id}:{number}" for number in range(count)]
    await cypher(
        graph,
        "UNWIND $keys AS key CREATE (n:Person {entity_key: key, user_id: $user, name: 'Person ' + "
        "key}) "
        "SET n += $properties",
        keys=keys,
        user=user_id,
        properties=properties,
    )
    return keys


async def plant_relationships(
    graph: KnowledgeGraph,
    user_id: str,
    rows: Sequence[dict[str, Any]],
    *,
    neo4j_type: str = "has_relationship_with",
) -> None:
    """Create relationships; each row has `first`, `second` and `properties`."""
    await cypher(
        graph,
        "UNWIND $rows AS row MATCH (a:Person {entity_key: row.first, user_id: $user}) "
        "MATCH (b:Person {entity_key: row.second, user_id: $user}) "
        f"CREATE (a)-[r:`{neo4j_type}`]->(b) SET r = row.properties, r.user_id = $user",
        rows=rows,
        user=user_id,
    )


async def plant_crowd(
    graph: KnowledgeGraph,
    model: str,
    owned: Mapping[str, Sequence[dict[str, Any]]],
    *,
    at_once: int = 500,
) -> None:
    """Create relationships of many users at once, each user's from one person of theirs to others.

    Args:
        graph: where to.
        model: the embedding model that is noted with the vectors.
        owned: by user, the properties of each relationship.
        at_once: relationships of one statement.
    """
    people = [(f"{user}:{n}", user) for user, items in owned.items() for n in range(len(items) + 1)]
    rows = [
        {
            "first": f"{user}:0",
            "second": f"{user}:{n}",
            "properties": {
                "user_id": user,
                "relationship_key": f"has_relationship_with:{user}:0:{user}:{n}",
                "embedding_model": model,
                "embedding_hash": "planted",
                **properties,
            },
        }
        for user, items in owned.items()
        for n, properties in enumerate(items, 1)
    ]
    for start in range(0, len(people), at_once):
        await cypher(
            graph,
            "UNWIND $people AS one CREATE (:Person {entity_key: one[0], user_id: one[1], name: "
            "one[0]})",
            people=people[start : start + at_once],
        )
    for start in range(0, len(rows), at_once):
        await cypher(
            graph,
            "UNWIND $rows AS row MATCH (a:Person {entity_key: row.first, user_id: "
            "row.properties.user_id}) "
            "MATCH (b:Person {entity_key: row.second, user_id: row.properties.user_id}) "
            "CREATE (a)-[r:has_relationship_with]->(b) SET r = row.properties",
            rows=rows[start : start + at_once],
        )
