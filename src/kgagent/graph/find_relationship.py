"""Reading the relationship between two nodes."""

from kgagent.graph.relationships import RelationshipIntent, RelationshipRepository, not_found
from kgagent.models import GraphRelationship


async def find_relationship(
    relationships: RelationshipRepository,
    user_id: str,
    from_entity_key: str,
    to_entity_key: str,
    neo4j_type: str | None = None,
    *,
    hint: str = "",
) -> GraphRelationship:
    """Find the relationship between two nodes, in whichever direction it is stored.

    Args:
        relationships: where relationships are stored.
        user_id: owner of the nodes.
        from_entity_key: key of one node.
        to_entity_key: key of the other node.
        neo4j_type: type of the relationship; None if the labels of the nodes allow only one.
        hint: what the error adds if the nodes have no such relationship.

    Raises:
        NotFoundError: a node or the relationship does not exist for this user.
        InputError: the labels of the nodes allow no relationship type, or several and none was named.
    """
    intent = RelationshipIntent(
        from_entity_key=from_entity_key,
        to_entity_key=to_entity_key,
        neo4j_type=neo4j_type,
        missing=RelationshipIntent.missing + hint,
    )
    [pair] = await relationships.read_pairs(user_id, [intent])
    stored, _ = relationships.find(intent, pair)
    if stored is None:
        raise not_found(intent, pair)
    return relationships.to_model(stored, from_entity_key)
