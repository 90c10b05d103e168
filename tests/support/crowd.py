"""Relationships and nodes put straight into the database, as other programs leave them."""

from collections.abc import Sequence
from typing import Any

from kgagent import KnowledgeGraph
from tests.support.stored import cypher


async def plant_people(graph: KnowledgeGraph, user_id: str, count: int, **properties: object) -> list[str]:
    """Create people with one statement, without embeddings unless the properties hold them; gives their keys."""
    keys = [f"{user_id}:{number}" for number in range(count)]
    await cypher(
        graph,
        "UNWIND $keys AS key CREATE (n:Person {entity_key: key, user_id: $user, name: 'Person ' + key}) "
        "SET n += $properties",
        keys=keys,
        user=user_id,
        properties=properties,
    )
    return keys


async def plant_relationships(
    graph: KnowledgeGraph, user_id: str, rows: Sequence[dict[str, Any]], *, neo4j_type: str = "has_relationship_with"
) -> None:
    """Create relationships; each row has `first`, `second` and `properties`."""
    await cypher(
        graph,
        "UNWIND $rows AS row MATCH (a:Person {entity_key: row.first}) MATCH (b:Person {entity_key: row.second}) "
        f"CREATE (a)-[r:`{neo4j_type}`]->(b) SET r = row.properties, r.user_id = $user",
        rows=rows,
        user=user_id,
    )
