"""Request and result of a search for paths."""

from typing import ClassVar

from pydantic import Field

from kgagent.models.fields import AsOf, EntityKey, KnownAsOf, QueryText
from kgagent.models.graph import GraphModel, GraphNode, GraphRelationship
from kgagent.models.request import RequestModel

MAX_PATH_HOPS = 6
MAX_PATHS = 20


class FindPathsRequest(RequestModel):
    """Two nodes to connect, and how to search for paths between them."""

    from_entity_key: EntityKey = Field(description="Node at one end: its name or entity_key.")
    to_entity_key: EntityKey = Field(description="Node at the other end, likewise.")
    query: QueryText | None = Field(
        None, description='What the paths should be about: "how did they meet at work?".'
    )
    max_hops: int = Field(
        4, ge=1, le=MAX_PATH_HOPS, description="Maximum number of relationships in a path."
    )
    limit: int = Field(5, ge=1, le=MAX_PATHS, description="Maximum number of paths.")
    as_of: AsOf = None
    known_as_of: KnownAsOf = None
    not_in_schema: ClassVar[frozenset[str]] = frozenset({"known_as_of"})


class GraphPath(GraphModel):
    """A path from one node to another, in any direction; it contains no node twice.

    Attributes:
        nodes: the nodes, from one end to the other; only key, label and name are read.
        relationships: the relationships between them, in order.
        weights: weight of each relationship: plain cosine with the query or, without a query, its
            strength, 0 to 1.
        score: mean of the weights, minus 0.02 for each hop beyond the first, and minus 1 if a
            relationship is past.
        is_shortest: whether no path is shorter.
        explanation: how the score is computed.
    """

    nodes: tuple[GraphNode, ...]
    relationships: tuple[GraphRelationship, ...]
    weights: tuple[float, ...]
    score: float
    is_shortest: bool
    explanation: str

    @property
    def hops(self) -> int:
        """Number of relationships."""
        return len(self.relationships)

    @property
    def text(self) -> str:
        """The relationships as short sentences: "Ada mentor Bo; Bo works at Acme"."""
        return "; ".join(relationship.triplet for relationship in self.relationships)


class FindPathsResult(GraphModel):
    """Paths, best first.

    Attributes:
        start: the node at one end.
        end: the node at the other.
        warnings: what kept the search from looking everywhere.
    """

    start: GraphNode
    end: GraphNode
    paths: tuple[GraphPath, ...] = ()
    warnings: tuple[str, ...] = ()
