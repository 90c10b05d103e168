"""traverse: follow the relationships of a node, hop by hop."""

from pydantic import Field

from kgagent.formatting import counted
from kgagent.models import GraphNode, GraphRelationship
from kgagent.models.traversal import MAX_TRAVERSED_HOPS, TraversedNode, TraverseRequest
from kgagent.ontology import Ontology
from kgagent.tools.base import Tool, ToolResult
from kgagent.tools.context import ToolContext
from kgagent.tools.references import NodeReference, RelationshipReference


class TraverseArguments(TraverseRequest):
    """Arguments of traverse."""

    verbose: bool = Field(False, description="Whether to return descriptions, notes and properties too.")


class ReachedNode(NodeReference):
    """A node that a traversal reached; with `verbose` as a full record.

    Attributes:
        hops: distance from the start.
        relationships: up to three relationships that lead to it, strongest first.
    """

    hops: int
    relationships: tuple[RelationshipReference, ...]


class ReachedNodeRecord(GraphNode):
    """A node that a traversal reached, with all that is known of it.

    Attributes:
        hops: distance from the start.
        relationships: up to three relationships that lead to it, strongest first.
    """

    hops: int
    relationships: tuple[GraphRelationship, ...]


class Traversal(ToolResult):
    """The nodes that a traversal reached, nearest first.

    Attributes:
        start: the node that it started from.
        is_complete: whether no node was omitted because of `limit`.
        nodes: the nodes that it reached.
    """

    start: GraphNode | NodeReference
    is_complete: bool
    nodes: tuple[ReachedNodeRecord | ReachedNode, ...]


class Traverse(Tool[TraverseArguments]):
    """Follows relationships from a node."""

    name = "traverse"
    arguments = TraverseArguments
    result = Traversal
    read_only = True

    def description(self, ontology: Ontology) -> str:
        """The description for the model."""
        return (
            f"Follow the relationships of a node, up to {MAX_TRAVERSED_HOPS} hops; the nearest and most strongly "
            "connected nodes first. Use explore to find the node, find_paths to connect two nodes. Neo4j types: "
            f"{', '.join(ontology.relationships)}."
        )

    async def run(self, context: ToolContext, arguments: TraverseArguments) -> Traversal:
        """Follow the relationships.

        Raises:
            InputError: the node does not exist, or a type is unknown.
        """
        result = await context.retrieval.traverse(arguments, user_id=context.user_id)
        more = "" if result.is_complete else "; there are more: use fewer hops, or filter by type"
        start = result.start.name or result.start.entity_key
        reached = _full if arguments.verbose else _short
        return Traversal(
            message=f"Reached {counted(len(result.reached), 'node')} from {start}{more}",
            start=result.start if arguments.verbose else NodeReference.of(result.start),
            is_complete=result.is_complete,
            nodes=tuple(map(reached, result.reached)),
        )


def _short(item: TraversedNode) -> ReachedNode:
    reference = NodeReference.of(item.node)
    relationships = tuple(map(RelationshipReference.of, item.relationships))
    return ReachedNode(**dict(reference), hops=item.hops, relationships=relationships)


def _full(item: TraversedNode) -> ReachedNodeRecord:
    return ReachedNodeRecord(**dict(item.node), hops=item.hops, relationships=item.relationships)
