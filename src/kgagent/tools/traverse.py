"""traverse: what stands around a node, hop by hop."""

from pydantic import Field

from kgagent.formatting import counted
from kgagent.models import GraphNode, GraphRelationship
from kgagent.models.traversal import (
    MAX_TRAVERSED_HOPS,
    MAX_TRAVERSED_NODES,
    TraversalDirection,
    TraversedNode,
    TraverseRequest,
)
from kgagent.ontology import Ontology
from kgagent.tools.base import Arguments, EntityKey, Payload, ShortText, Tool, ToolContext


class TraverseArguments(Arguments):
    """Arguments of traverse."""

    entity_key: EntityKey = Field(description="entity_key of the node to start from, as a tool returned it.")
    direction: TraversalDirection = Field(
        "both",
        description="Which relationships to follow, as they are told: outgoing from the node, incoming to it, or both.",
    )
    hops: int = Field(1, ge=1, le=MAX_TRAVERSED_HOPS, description="Steps to go, 1 to 3.")
    neo4j_types: list[ShortText] | None = Field(
        None, max_length=100, description="Neo4j types to keep to, as `neo4j_type` tells them; leave out for all."
    )
    relationship_types: list[ShortText] | None = Field(
        None, max_length=100, description='Words for relationships to keep to, such as "mentor"; leave out for all.'
    )
    max_results: int = Field(50, ge=1, le=MAX_TRAVERSED_NODES, description="Nodes at the most, the nearest first.")
    verbose: bool = Field(
        False, description="Whether nodes and relationships are told in full, with descriptions and notes."
    )


class Traverse(Tool[TraverseArguments]):
    """Walks from a node."""

    name = "traverse"
    arguments = TraverseArguments
    read_only = True

    def description(self, ontology: Ontology) -> str:
        """What the model is told."""
        return (
            f"Follow the relationships of one node: who and what stands around it, up to {MAX_TRAVERSED_HOPS} steps "
            "away, nearest and most strongly joined first. Use it where you know the node, and explore to find one. "
            f"Neo4j types: {', '.join(ontology.relationships)}."
        )

    async def run(self, context: ToolContext, arguments: TraverseArguments) -> Payload:
        """Walk.

        Raises:
            InputError: the node does not exist, or a type is unknown.
        """
        types, words = arguments.neo4j_types, arguments.relationship_types
        request = TraverseRequest(
            entity_key=arguments.entity_key,
            direction=arguments.direction,
            hops=arguments.hops,
            neo4j_types=None if types is None else tuple(types),
            relationship_types=None if words is None else tuple(words),
            max_nodes=arguments.max_results,
        )
        found = await context.retrieval.traverse(request, user_id=context.user_id)
        more = "" if found.is_complete else "; there are more, ask for fewer hops or certain types"
        start = found.start.name or found.start.entity_key
        payload = {
            "message": f"Reached {counted(len(found.reached), 'node')} from {start}{more}",
            "start": found.start.to_dict() if arguments.verbose else short_node(found.start),
            "is_complete": found.is_complete,
        }
        return payload | {"nodes": [_reached(item, verbose=arguments.verbose) for item in found.reached]}


def short_node(node: GraphNode) -> Payload:
    """A node by its name."""
    return {"entity_key": node.entity_key, "label": node.label, "name": node.name}


def short_relationship(relationship: GraphRelationship) -> Payload:
    """A relationship as a sentence, with the keys that other tools take."""
    return {
        "triplet": relationship.triplet,
        "from_entity_key": relationship.from_entity_key,
        "to_entity_key": relationship.to_entity_key,
        "neo4j_type": relationship.neo4j_type,
    }


def _reached(item: TraversedNode, *, verbose: bool) -> Payload:
    return {
        **(item.node.to_dict() if verbose else short_node(item.node)),
        "hops": item.hops,
        "relationships": [
            relationship.to_dict() if verbose else short_relationship(relationship)
            for relationship in item.relationships
        ],
    }
