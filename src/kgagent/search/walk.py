"""Walks outward from nodes, with bounded reads also at a hub: the nodes around one, hop by hop; the
surroundings of several; and what is known of one in order of time.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from kgagent.errors import NodeNotFoundError
from kgagent.graph.identifiers import Identifier
from kgagent.graph.nodes import NodeRepository
from kgagent.graph.records import NodeRecord, RelationshipRecord, ontology_label
from kgagent.graph.statements import statement
from kgagent.graph.store import Row
from kgagent.models import GraphExpansion, GraphNode, GraphRelationship
from kgagent.models.search import SearchFilters
from kgagent.models.timeline import TimedStatement, Timeline, statements_of
from kgagent.models.traversal import (
    JoinedRelationships,
    TraversedNode,
    TraverseRequest,
    TraverseResult,
)
from kgagent.models.when import Period
from kgagent.ontology import Ontology
from kgagent.search.arguments import known_types
from kgagent.search.candidates import read_record, read_relationship
from kgagent.search.scope import RelationshipFilter, SearchScope

READ_PER_HOP = 400_000
"""Relationships that one hop of a walk reads at most, divided evenly among the nodes that it starts
from. Of a node with more, Neo4j returns some; which ones stays the same until the graph around the
node changes.
"""

MAX_OF_TYPE = 100
"""Relationships of a type between two nodes that a traversal reads in an adopted graph; elsewhere
there is at most one.
"""

READ_AS_OF = 10_000
"""Nodes that a hop of a traversal reads at most as of a day: which of them it keeps is decided when
they were read.
"""

LEADING_RELATIONSHIPS = 3
"""Relationships that are returned with each node of a traversal."""


async def start_of(scope: SearchScope, entity_key: str, nodes: NodeRepository) -> GraphNode:
    """The node that a walk starts from.

    Raises:
        NodeNotFoundError: it does not exist for this user.
    """
    for node in await nodes.get(scope.user_id, [entity_key]):
        return node
    raise NodeNotFoundError(f"Node not found: {entity_key}")


async def traverse(
    scope: SearchScope, request: TraverseRequest, nodes: NodeRepository
) -> TraverseResult:
    """Find the nodes around one node, with one round trip for each hop.

    Raises:
        NotFoundError: the start does not exist for this user.
        InputError: a type is unknown.
        StoreError: the database failed.
    """
    ontology = scope.ontology
    types = (
        list(ontology.relationships)
        if request.neo4j_types is None
        else known_types(ontology, request.neo4j_types)
    )
    start = await start_of(scope, request.entity_key, nodes)
    filters = SearchFilters.model_construct(
        relationship_types=request.relationship_types,
        as_of=request.as_of,
        known_as_of=request.known_as_of,
    )
    kept = RelationshipFilter.of(scope, filters)
    names = {**scope.places, "types": Identifier.any_of(types)}
    followed = {
        **kept.parameters,
        "outgoing": request.direction != "incoming",
        "incoming": request.direction != "outgoing",
    }
    of_pair = len(types) * (1 if ontology.adopted_for is None else MAX_OF_TYPE)
    is_paged = request.hops == 1
    skip = request.skip if is_paged else 0
    reached: list[TraversedNode] = []
    frontier, past = [request.entity_key], list[str]()
    # Of another time, pages are cut from what was valid then.
    is_then = kept.is_of_other_time
    skipped = 0 if is_then else skip
    for hops in range(1, request.hops + 1):
        # Reading one more than there is room for shows whether the result is complete.
        room = request.limit - len(reached) + 1
        most = READ_AS_OF if is_then else room
        level = await scope.read_as(
            partial(_reached, ontology=ontology, kept=kept),
            statement("traverse_level", **names),
            {
                **followed,
                "frontier": frontier,
                "seen": [request.entity_key, *(item.node.entity_key for item in reached)],
                "past": past,
                "read_limit": READ_PER_HOP // len(frontier),
                "newest": request.sort == "date",
                "best_limit": (skip + most) * of_pair,
                "leads": of_pair if is_then else LEADING_RELATIONSHIPS,
                "skip": skipped,
                "limit": most,
            },
        )
        page = level[skip - skipped :][:room]
        reached += [
            TraversedNode(node=one.node, hops=hops, relationships=one.leading) for one in page
        ]
        if len(reached) > request.limit:
            total = None
            if is_paged and is_then:
                total = len(level)
            elif is_paged:
                counted = {**followed, "entity_key": start.entity_key, "read_limit": READ_PER_HOP}
                [row] = await scope.read(statement("traverse_count", **names), counted)
                total = int(row["count"])
            return TraverseResult(
                start=start, reached=tuple(reached[: request.limit]), is_complete=False, total=total
            )
        frontier = [one.node.entity_key for one in page]
        past = [one.node.entity_key for one in page if one.is_past]
        if not frontier:
            break
    total = skip + len(reached) if is_paged and (reached or not skip) else None
    return TraverseResult(start=start, reached=tuple(reached), total=total)


class _Reached(NamedTuple):
    """A node that a hop reached, with what leads to it, and whether only the past does."""

    node: GraphNode
    leading: tuple[GraphRelationship, ...]
    is_past: bool


def _reached(rows: list[Row], ontology: Ontology, kept: RelationshipFilter) -> list[_Reached]:
    reached = []
    for row in rows:
        node = read_record(row, ontology, kept=kept)
        found = (
            read_record({"relationship": one}, ontology, kept=kept) for one in row["relationships"]
        )
        leading = [one.to_model(ontology) for one in found if isinstance(one, RelationshipRecord)]
        if isinstance(node, NodeRecord) and leading:
            reached.append(
                _Reached(
                    node.to_model(ontology), tuple(leading[:LEADING_RELATIONSHIPS]), row["past"]
                )
            )
    return reached


async def expand_around(
    scope: SearchScope,
    entity_keys: Sequence[str],
    *,
    max_relationships: int,
    max_neighbors: int,
    as_of: str | None,
    known_as_of: str | None,
) -> GraphExpansion:
    """Read the surroundings of nodes in one statement; see `RetrievalService.expand_graph`.

    Raises:
        StoreError: the database failed.
    """
    keys = list(dict.fromkeys(entity_keys))
    if not keys:
        return GraphExpansion()
    parameters = {"around": keys, "among_limit": max_relationships, "neighbor_limit": max_neighbors}
    kept = RelationshipFilter.of(scope, SearchFilters(as_of=as_of, known_as_of=known_as_of))
    return await scope.read_as(
        lambda rows: surroundings(rows[0], scope, kept),
        scope.statement("expand_around"),
        {**parameters, **kept.parameters},
    )


def surroundings(row: Row, scope: SearchScope, kept: RelationshipFilter) -> GraphExpansion:
    """Make models of what `_surroundings.cypher` returns, as the filter has them."""

    def models(kind: str, found: Iterable[Any]) -> list[Any]:
        read = (read_record({kind: one}, scope.ontology, kept=kept) for one in found)
        return [
            kept.without_other_notes(record.to_model(scope.ontology))
            for record in read
            if record is not None
        ]

    relationships = models("relationship", row["among"])
    neighbors: list[GraphNode] = []
    for one in row["neighbors"]:
        if leading := models("relationship", one["relationships"]):
            neighbors += models("node", [one["node"]])
            relationships += leading
    return GraphExpansion(neighbors=tuple(neighbors), relationships=tuple(relationships))


async def by_strength(
    scope: SearchScope, entity_key: str, *, skip: int, limit: int
) -> JoinedRelationships:
    """Read the relationships of a node, the strongest first; see
    `RetrievalService.relationships_of`.
    """

    def made_of(rows: list[Row]) -> JoinedRelationships:
        [row] = rows
        found = [one for one in row["found"] if one["relationship"]]
        return JoinedRelationships(
            relationships=tuple(
                read_relationship(one["relationship"]).to_model(scope.ontology) for one in found
            ),
            total=row["count"],
            labels=_labels(found, scope.ontology),
        )

    parameters = {"entity_key": entity_key, "read_limit": READ_PER_HOP, "skip": skip}
    return await scope.read_as(
        made_of,
        scope.statement("read_relationships_by_strength"),
        {**parameters, "limit": limit, **RelationshipFilter(now=scope.clock()).parameters},
    )


async def timeline(
    scope: SearchScope, entity_key: str, nodes: NodeRepository, *, between: Period, now: datetime
) -> Timeline:
    """Read the statements about a node and its relationships that have a time, in order of time.

    Args:
        scope: the user's graph.
        entity_key: the node.
        nodes: reads the node.
        between: only statements of these days; what began earlier comes last.
        now: notes that have expired by then are omitted.

    Raises:
        NotFoundError: the node does not exist for this user.
        StoreError: the database failed.
    """
    start = await start_of(scope, entity_key, nodes)

    def made_of(rows: list[Row]) -> Timeline:
        found = [row for row in rows if row["relationship"]]
        owners: list[GraphNode | GraphRelationship] = [
            start,
            *(read_relationship(row["relationship"]).to_model(scope.ontology) for row in found),
        ]
        stated = [one for owner in owners for one in statements_of(owner, now)]
        timed = [
            (period, one)
            for period, one in stated
            if period is not None and one is not None and period.overlaps(between)
        ]
        timed.sort(key=lambda one: (one[0].earliest < between.earliest, one[0], _added(one[1])))
        return Timeline(
            node=start,
            statements=tuple(one for _, one in timed),
            untimed=sum(one is None for _, one in stated),
            labels={start.entity_key: start.label, **_labels(found, scope.ontology)},
        )

    parameters = {
        **RelationshipFilter(now=now).parameters,
        "entity_key": start.entity_key,
        "read_limit": READ_PER_HOP,
    }
    return await scope.read_as(made_of, scope.statement("read_timeline"), parameters)


def _labels(rows: Iterable[Row], ontology: Ontology) -> dict[str, str]:
    """The labels of the nodes at the other ends."""
    others = [row["other"] for row in rows]
    return {one["entity_key"]: ontology_label(one["labels"], ontology) for one in others}


def _added(one: TimedStatement) -> float:
    return one.note.date_added.timestamp() if one.note and one.note.date_added else 0.0
