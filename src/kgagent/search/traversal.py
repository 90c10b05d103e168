"""Traversal: the nodes around a node, hop by hop, with bounded reads also at a hub."""

from collections.abc import Sequence

from kgagent.errors import InputError, NodeNotFoundError
from kgagent.graph.identifiers import Identifier
from kgagent.graph.nodes import NodeRepository
from kgagent.graph.statements import Statement, statement
from kgagent.graph.store import Row
from kgagent.models import GraphNode, GraphRelationship
from kgagent.models.traversal import TraversedNode, TraverseRequest, TraverseResult
from kgagent.search.arguments import known_types
from kgagent.search.candidates import read_node, read_relationship
from kgagent.search.scope import SearchScope
from kgagent.turns import in_turns

READ_PER_HOP = 1_000_000
"""Maximum number of relationships read in one hop, divided evenly among the nodes that it starts
from.

Of a node with more, Neo4j returns some; which ones stays the same until the graph around the node
changes.
"""

LEADING_RELATIONSHIPS = 3
"""Relationships that are returned with each node."""

Level = list[tuple[GraphNode, tuple[GraphRelationship, ...]]]


async def traverse(
    scope: SearchScope, request: TraverseRequest, nodes: NodeRepository
) -> TraverseResult:
    """Find the nodes around one node, with one round trip for each hop.

    Raises:
        NotFoundError: the start does not exist for this user.
        InputError: a type is unknown, or an empty list of types was given.
        StoreError: the database failed.
    """
    types = _followed_types(scope, request)
    start = next(iter(await nodes.get(scope.user_id, [request.entity_key])), None)
    if start is None:
        raise NodeNotFoundError(f"Node not found: {request.entity_key}")
    names = {"labels": Identifier.any_of(scope.ontology.labels), "types": Identifier.any_of(types)}
    text = statement("traverse_level", **names)
    reached: list[TraversedNode] = []
    frontier = [request.entity_key]
    for hops in range(1, request.hops + 1):
        # Reading one more than there is room for shows whether the result is complete.
        room = request.limit - len(reached) + 1
        level = await _level(scope, text, request, frontier, reached, room, len(types))
        reached += [
            TraversedNode(node=node, hops=hops, relationships=relationships)
            for node, relationships in level
        ]
        if len(reached) > request.limit:
            total = (
                await _count(scope, statement("traverse_count", **names), request)
                if request.hops == 1
                else None
            )
            return TraverseResult(
                start=start, reached=tuple(reached[: request.limit]), is_complete=False, total=total
            )
        frontier = [node.entity_key for node, _ in level]
        if not frontier:
            break
    total = (
        request.skip + len(reached) if request.hops == 1 and (reached or not request.skip) else None
    )
    return TraverseResult(start=start, reached=tuple(reached), total=total)


def _followed_types(scope: SearchScope, request: TraverseRequest) -> list[str]:
    """The Neo4j types to follow.

    Raises:
        InputError: a type is unknown, or an empty list of types was given.
    """
    if request.relationship_types is not None and not request.relationship_types:
        raise InputError("No relationship type was given; omit relationship_types to follow all")
    if request.neo4j_types is None:
        return list(scope.ontology.relationships)
    return known_types(scope.ontology, request.neo4j_types)


async def _level(  # noqa: PLR0917
    scope: SearchScope,
    text: Statement,
    request: TraverseRequest,
    frontier: Sequence[str],
    reached: Sequence[TraversedNode],
    limit: int,
    types_followed: int,
) -> Level:
    skip = request.skip if request.hops == 1 else 0
    rows = await scope.read(
        text,
        {
            "frontier": list(frontier),
            "seen": [request.entity_key, *(item.node.entity_key for item in reached)],
            **_conditions(request),
            "read_limit": READ_PER_HOP // len(frontier),
            "newest": request.sort == "date",
            # Two nodes have one relationship of each type at most.
            "best_limit": (skip + limit) * types_followed,
            "leads": LEADING_RELATIONSHIPS,
            "skip": skip,
            "limit": limit,
        },
    )
    ontology = scope.ontology

    def reached_by(row: Row) -> tuple[GraphNode, tuple[GraphRelationship, ...]]:
        relationships = (
            read_relationship(item).to_model(ontology) for item in row["relationships"] if item
        )
        return read_node(row["node"], ontology).to_model(ontology), tuple(relationships)

    return await in_turns(reached_by, [row for row in rows if row["node"]])


async def _count(scope: SearchScope, text: Statement, request: TraverseRequest) -> int:
    """Number of nodes within one hop."""
    parameters = {
        "entity_key": request.entity_key,
        "read_limit": READ_PER_HOP,
        **_conditions(request),
    }
    [row] = await scope.read(text, parameters)
    return int(row["count"])


def _conditions(request: TraverseRequest) -> dict[str, bool | list[str] | None]:
    """Which relationships are followed, as parameters."""
    types = request.relationship_types
    return {
        "outgoing": request.direction != "incoming",
        "incoming": request.direction != "outgoing",
        "relationship_types": None if types is None else list(types),
    }
