"""Walking from a node along its relationships, hop by hop, with bounded rows also at a hub."""

from collections.abc import Sequence

from kgagent.errors import InputError, NodeNotFoundError
from kgagent.graph.identifiers import Identifier
from kgagent.graph.nodes import NodeRepository
from kgagent.graph.records import NodeRecord, RelationshipRecord
from kgagent.graph.relationships import RelationshipRepository
from kgagent.graph.statements import statement
from kgagent.models import GraphNode, GraphRelationship
from kgagent.models.traversal import TraversedNode, TraverseRequest, TraverseResult
from kgagent.ontology import Ontology

RELATIONSHIPS_OF_A_HOP = 1_000_000
"""Relationships read at one hop, at the most, parted evenly among the nodes that it starts from.

Of a node with more, those count that the database gives first, until the graph around that node changes.
"""

LEADING_RELATIONSHIPS = 3


class Traverser:
    """Walks a user's graph from one node, one round trip a hop."""

    def __init__(self, nodes: NodeRepository, relationships: RelationshipRepository, *, timeout: float) -> None:
        self._nodes = nodes
        self._relationships = relationships
        self._timeout = timeout

    async def traverse(self, request: TraverseRequest, user_id: str) -> TraverseResult:
        """Find the nodes around one.

        Raises:
            NotFoundError: the start does not exist for this user.
            InputError: a type is unknown, or an empty list of types was given.
            StoreError: the database failed.
        """
        names = {
            "labels": self._relationships.names["labels"],
            "types": known_types(self._relationships.ontology, request.neo4j_types),
        }
        if request.relationship_types is not None and not request.relationship_types:
            raise InputError("No relationship type was named; leave relationship_types out to follow all")
        start = next(iter(await self._nodes.get(user_id, [request.entity_key])), None)
        if start is None:
            raise NodeNotFoundError(f"Node not found: {request.entity_key}")
        text = statement("traverse_level", **names)
        reached: list[TraversedNode] = []
        frontier = [request.entity_key]
        for hops in range(1, request.hops + 1):
            # One more than there is room for tells whether something is left out.
            room = request.limit - len(reached) + 1
            level = await self._level(text, request, user_id, frontier, reached, room)
            reached += [
                TraversedNode(node=node, hops=hops, relationships=relationships) for node, relationships in level
            ]
            if len(reached) > request.limit:
                return TraverseResult(start=start, reached=tuple(reached[: request.limit]), is_complete=False)
            frontier = [node.entity_key for node, _ in level]
            if not frontier:
                break
        return TraverseResult(start=start, reached=tuple(reached))

    async def _level(  # noqa: PLR0917
        self,
        text: str,
        request: TraverseRequest,
        user_id: str,
        frontier: Sequence[str],
        reached: Sequence[TraversedNode],
        limit: int,
    ) -> list[tuple[GraphNode, tuple[GraphRelationship, ...]]]:
        types = request.relationship_types
        rows = await self._relationships.store.read(
            text,
            {
                "user_id": user_id,
                "frontier": list(frontier),
                "seen": [request.entity_key, *(item.node.entity_key for item in reached)],
                "outgoing": request.direction != "incoming",
                "incoming": request.direction != "outgoing",
                "relationship_types": None if types is None else list(types),
                "read_limit": RELATIONSHIPS_OF_A_HOP // len(frontier),
                "leads": LEADING_RELATIONSHIPS,
                "limit": limit,
            },
            timeout=self._timeout,
        )
        ontology = self._relationships.ontology
        return [
            (
                NodeRecord.read(row["node"], ontology).to_model(ontology),
                tuple(RelationshipRecord.read(item).to_model(ontology) for item in row["relationships"]),
            )
            for row in rows
        ]


def known_types(ontology: Ontology, neo4j_types: Sequence[str] | None) -> Identifier:
    """Quote the types to follow, after checking them; all of them where none are named.

    Raises:
        InputError: a type is unknown, or the list is empty.
    """
    if neo4j_types is None:
        return Identifier.any_of(ontology.relationships)
    for neo4j_type in neo4j_types:
        ontology.relationship(neo4j_type)
    if not neo4j_types:
        raise InputError(
            f"No type was named; leave neo4j_types out, or choose among {', '.join(ontology.relationships)}"
        )
    return Identifier.any_of(name for name in ontology.relationships if name in neo4j_types)
