"""Request and result of a traversal."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

from kgagent.models.fields import AsOf, EntityKey, FreeTypes, KnownAsOf, SearchedTypes
from kgagent.models.graph import GraphModel, GraphNode, GraphRelationship
from kgagent.models.request import RequestModel

TraversalDirection = Literal["outgoing", "incoming", "both"]
"""Which relationships are followed, by the direction of their triplet: "Ruth mentor Ada" leaves
Ruth and enters Ada.
"""

TraversalSort = Literal["strength", "date"]
"""How nodes at the same distance are sorted: by the strength of the relationship, or the newest
relationship first.
"""

MAX_TRAVERSED_HOPS = 3
MAX_TRAVERSED_NODES = 200


class TraverseRequest(RequestModel):
    """A node to start from, and which relationships to follow."""

    entity_key: EntityKey
    direction: TraversalDirection = Field(
        "both",
        description="Relationships to follow: outgoing from the node, incoming to it, or both.",
    )
    hops: int = Field(1, ge=1, le=MAX_TRAVERSED_HOPS, description="Number of hops.")
    neo4j_types: SearchedTypes = None
    relationship_types: FreeTypes = None
    sort: TraversalSort = Field(
        "strength", description="date: newest relationships first, with their dates."
    )
    limit: int = Field(
        50,
        ge=1,
        le=MAX_TRAVERSED_NODES,
        description="Maximum number of nodes, nearest and strongest first.",
    )
    as_of: AsOf = None
    known_as_of: KnownAsOf = None
    skip: int = Field(0, ge=0, description="Number of nodes to skip, with one hop.")
    not_in_schema: ClassVar[frozenset[str]] = frozenset({"skip", "known_as_of"})


class TraversedNode(GraphModel):
    """A node that a traversal reached.

    Attributes:
        node: the node.
        hops: hops from the start.
        relationships: up to three relationships from nodes one hop nearer, strongest first.
    """

    node: GraphNode
    hops: int
    relationships: tuple[GraphRelationship, ...]


class TraverseResult(GraphModel):
    """The nodes that a traversal reached, nearest first.

    Attributes:
        start: the node that it started from.
        reached: the nodes that it reached.
        is_complete: whether all nodes within reach are included, apart from those that were
            skipped.
        total: with one hop, number of the nodes within reach; None if it was not counted.
        warnings: what is missing, and why.
    """

    start: GraphNode
    reached: tuple[TraversedNode, ...] = ()
    is_complete: bool = True
    total: int | None = None
    warnings: tuple[str, ...] = ()


class JoinedRelationships(GraphModel):
    """Relationships of a node, the strongest first.

    Attributes:
        relationships: some of them.
        total: number of all of them.
        labels: labels of the nodes at their other ends, by entity_key.
    """

    relationships: tuple[GraphRelationship, ...]
    total: int
    labels: Mapping[str, str]
