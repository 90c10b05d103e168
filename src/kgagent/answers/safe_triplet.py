"""A relationship whose texts cannot pose as the words of a tool.

Apart from `safe_text`, which the MCP server imports before it answers a client; the models take
longer.
"""

from kgagent.answers.safe_text import safe_name
from kgagent.models.graph import GraphRelationship
from kgagent.models.plain import triplet_text


def safe_triplet(relationship: GraphRelationship) -> str:
    """A relationship as a short sentence, with names and type as `safe_name` shows them."""
    source, target = map(safe_name, relationship.names_in_direction)
    label = safe_name(relationship.relationship_type)
    return triplet_text(source, safe_name(relationship.neo4j_type), target, label=label)
