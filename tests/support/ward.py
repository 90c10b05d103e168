"""A small hospital with labels and types that no ontology knows, as another program writes it."""

from kgagent import KnowledgeGraph
from tests.support.stored import cypher


async def plant_ward(graph: KnowledgeGraph, user_id: str) -> None:
    """Two patients, two doctors, two conditions; who has which and who treats whom."""
    await cypher(
        graph,
        "CREATE (ann:Patient {user_id: $user, name: 'Ann', age: 41, status: 'active', admitted: "
        "date('2026-01-02'), "
        "  insured: true, allergies: ['nuts'], contact: '{\"city\": \"Rome\"}'}), "
        "(bo:Patient {user_id: $user, name: 'Bo', age: 7.5, status: 'active'}), "
        "(eve:Doctor:Surgeon {user_id: $user, name: 'Eve'}), (finn:Doctor {user_id: $user, name: "
        "'Finn'}), "
        "(flu:Condition {user_id: $user, name: 'Flu'}), (gout:Condition {user_id: $user, name: "
        "'Gout'}), "
        "(ann)-[:HAS_CONDITION {severity: 'mild', since: 2019}]->(flu), "
        "(bo)-[:HAS_CONDITION]->(gout), "
        "(ann)-[:TREATED_BY]->(eve), (bo)-[:TREATED_BY]->(finn), (ann)-[:TREATED_BY]->(finn)",
        user=user_id,
    )
