"""Counting one user's nodes by label and relationships by type."""

from kgagent.graph.nodes import NodeRepository
from kgagent.graph.relationships import RelationshipRepository
from kgagent.graph.statements import statement


async def count_nodes_by_label(nodes: NodeRepository, user_id: str) -> dict[str, int]:
    """Count one user's nodes by label, in the order of the ontology; a node with several labels counts for the first.

    Raises:
        StoreError: the database failed.
    """
    labels = list(nodes.ontology.labels)
    rows = await nodes.store.read(
        statement("count_nodes_by_label", **nodes.names),
        {"user_id": user_id, "label_order": dict(nodes.ontology.label_order)},
    )
    counts = {labels[row["place"]]: int(row["found"]) for row in rows}
    return {label: counts.get(label, 0) for label in labels}


async def count_relationships_by_type(relationships: RelationshipRepository, user_id: str) -> dict[str, int]:
    """Count the relationships between one user's nodes by type, in the order of the ontology.

    Raises:
        StoreError: the database failed.
    """
    rows = await relationships.store.read(
        statement("count_relationships_by_type", **relationships.names), {"user_id": user_id}
    )
    counts = {str(row["neo4j_type"]): int(row["found"]) for row in rows}
    return {neo4j_type: counts.get(neo4j_type, 0) for neo4j_type in relationships.ontology.relationships}
