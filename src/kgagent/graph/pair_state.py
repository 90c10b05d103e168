"""Two nodes and the relationships between them, as a write reads them."""

from dataclasses import dataclass

from kgagent.graph.records import RelationshipRecord
from kgagent.graph.reference_forms import message_key


@dataclass(frozen=True, kw_only=True)
class End:
    """A node at the end of a relationship."""

    element_id: str
    entity_key: str
    label: str
    name: str

    def __str__(self) -> str:
        """The node's name and key, for a message."""
        key = message_key(self.entity_key)
        return f"{self.name} ({key})" if self.name else key


@dataclass(frozen=True, kw_only=True)
class PairState:
    """Two nodes of a user and the relationships between them.

    Attributes:
        first: the node that the caller named first; None if the user has no such node.
        second: the other node, likewise.
        relationships: those of the user, as they are stored or as the last plan leaves them; first
            those with a key.
        foreign: those that name another owner, although both nodes are the user's.
    """

    first: End | None
    second: End | None
    relationships: list[RelationshipRecord]
    foreign: tuple[RelationshipRecord, ...] = ()
