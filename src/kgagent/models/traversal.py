"""What a walk from a node is asked and what it answers."""

from typing import Literal

from pydantic import Field

from kgagent.models.graph import GraphModel, GraphNode, GraphRelationship
from kgagent.models.request import RequestModel

TraversalDirection = Literal["outgoing", "incoming", "both"]
"""Which relationships are followed, as they are told: "Ruth mentor Ada" leaves Ruth and comes in at Ada."""

MAX_TRAVERSED_HOPS = 3
MAX_TRAVERSED_NODES = 200


class TraverseRequest(RequestModel):
    """What `traverse` is asked.

    Attributes:
        entity_key: the node to start from.
        direction: which relationships are followed.
        hops: steps from the start, 1 to 3.
        neo4j_types: types to keep to; None keeps all.
        relationship_types: free types ("mentor") to keep to; None keeps all.
        max_nodes: nodes at the most, 1 to 200; the nearest, among those of one hop the most strongly joined.
    """

    entity_key: str
    direction: TraversalDirection = "both"
    hops: int = Field(1, ge=1, le=MAX_TRAVERSED_HOPS)
    neo4j_types: tuple[str, ...] | None = None
    relationship_types: tuple[str, ...] | None = None
    max_nodes: int = Field(50, ge=1, le=MAX_TRAVERSED_NODES)


class TraversedNode(GraphModel):
    """A node that a walk reached.

    Attributes:
        node: the node.
        hops: steps from the start, the fewest.
        relationships: up to three that lead to it from nodes one step nearer, the strongest first.
    """

    node: GraphNode
    hops: int
    relationships: tuple[GraphRelationship, ...]


class TraverseResult(GraphModel):
    """What a walk found, nearest first.

    Attributes:
        start: the node that it started from.
        reached: the nodes that it reached.
        is_complete: whether no node was left out for want of room.
    """

    start: GraphNode
    reached: tuple[TraversedNode, ...] = ()
    is_complete: bool = True
