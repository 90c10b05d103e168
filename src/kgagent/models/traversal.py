"""Request and result of a traversal."""

from typing import Literal

from pydantic import Field

from kgagent.models.fields import EntityKey, ShortText
from kgagent.models.graph import GraphModel, GraphNode, GraphRelationship
from kgagent.models.request import RequestModel

TraversalDirection = Literal["outgoing", "incoming", "both"]
"""Which relationships are followed, by the direction of their triplet: "Ruth mentor Ada" leaves Ruth and enters Ada."""

MAX_TRAVERSED_HOPS = 3
MAX_TRAVERSED_NODES = 200


class TraverseRequest(RequestModel):
    """A node to start from, and which relationships to follow."""

    entity_key: EntityKey
    direction: TraversalDirection = Field(
        "both", description="Relationships to follow: outgoing from the node, incoming to it, or both."
    )
    hops: int = Field(1, ge=1, le=MAX_TRAVERSED_HOPS, description="Number of hops.")
    neo4j_types: tuple[ShortText, ...] | None = Field(
        None, max_length=100, description="Only follow relationships of these Neo4j types. Default: all."
    )
    relationship_types: tuple[ShortText, ...] | None = Field(
        None, max_length=100, description='Only follow relationships of these types, such as "mentor". Default: all.'
    )
    limit: int = Field(
        50, ge=1, le=MAX_TRAVERSED_NODES, description="Maximum number of nodes, nearest and strongest first."
    )


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
        is_complete: whether all nodes within reach are included.
    """

    start: GraphNode
    reached: tuple[TraversedNode, ...] = ()
    is_complete: bool = True
