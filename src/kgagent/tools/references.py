"""Short forms of nodes and relationships in results, and in the questions that a user is asked
before something is removed.
"""

from datetime import datetime, timedelta

from kgagent.answers.safe_text import safe_name
from kgagent.formatting import beginning, counted
from kgagent.graph.reference_forms import message_key
from kgagent.models import GraphNode, GraphRelationship
from kgagent.models.graph import GraphModel
from kgagent.models.note import format_utc

MAX_NAME, MAX_TEXT = 80, 200
"""Characters of a name, and of another text."""


class NodeReference(GraphModel):
    """A node without its details."""

    entity_key: str
    label: str
    name: str
    owner: str | None = None

    @classmethod
    def of(cls, node: GraphNode) -> "NodeReference":
        """The reference to a node."""
        return cls(entity_key=node.entity_key, label=node.label, name=node.name, owner=node.owner)

    def __str__(self) -> str:
        """The node in a message, with a short key: "Ruth Calder (Person, 5b0c1a2f-11a)"."""
        return f"{safe_name(self.name)} ({self.label}, {message_key(self.entity_key)})"


class RelationshipReference(GraphModel):
    """A relationship as a triplet, with the keys that other tools take."""

    triplet: str
    from_entity_key: str
    to_entity_key: str
    neo4j_type: str
    owner: str | None = None

    @classmethod
    def of(cls, relationship: GraphRelationship) -> "RelationshipReference":
        """The reference to a relationship."""
        return cls(
            triplet=relationship.triplet,
            from_entity_key=relationship.from_entity_key,
            to_entity_key=relationship.to_entity_key,
            neo4j_type=relationship.neo4j_type,
            owner=relationship.owner,
        )


def with_direction(message: str, relationship: GraphRelationship) -> str:
    """A message, followed by the direction of the relationship if its nodes were given in the
    opposite order.
    """
    return ". ".join(filter(None, (message, describe_direction(relationship))))


def describe_direction(relationship: GraphRelationship) -> str | None:
    """The direction of a relationship if its nodes were given in the opposite order, else None."""
    if not relationship.ends_reversed:
        return None
    source, target = relationship.names_in_direction
    return f"Its direction is from {source} to {target}"


def quoted(text: str) -> str:
    """The beginning of a stored text."""
    return f'"{beginning(text, MAX_TEXT)}"'


def undo(window: timedelta) -> str:
    """Say how long a deletion or a merge can be undone."""
    if not window:
        return "It cannot be undone"
    days = window / timedelta(days=1)
    return f"It can be undone for {days:,g} {'day' if days == 1 else 'days'}"


def described(node: GraphNode) -> str:
    """A node, such as "Person Ruth Calder (5b0c1a2f-61a)"."""
    return f"{node.label} {beginning(node.name, MAX_NAME)} ({message_key(node.entity_key)})"


def and_relationships(count: int) -> str:
    """What was removed or restored with a node; empty if nothing."""
    return f" and {counted(count, 'relationship')}" if count else ""


def utc(moment: datetime | None) -> str | None:
    """A time as answers contain it; None if there is none."""
    return None if moment is None else format_utc(moment)
