"""Timeline: the statements about a node and its relationships that have a time, in order of time."""

from datetime import datetime

from kgagent.errors import NodeNotFoundError
from kgagent.graph.identifiers import Identifier
from kgagent.graph.nodes import NodeRepository
from kgagent.graph.records import ontology_label
from kgagent.graph.statements import statement
from kgagent.graph.store import Row
from kgagent.models import GraphNode, GraphRelationship
from kgagent.models.timeline import TimedStatement, Timeline, statements_of
from kgagent.models.traversal import TraverseRequest
from kgagent.models.when import Period
from kgagent.retrieval.candidates import read_relationship
from kgagent.retrieval.scope import SearchScope
from kgagent.retrieval.traversal import READ_PER_HOP, conditions, followed_types
from kgagent.turns import in_turns


async def timeline(
    scope: SearchScope, request: TraverseRequest, nodes: NodeRepository, *, between: Period | None, now: datetime
) -> Timeline:
    """Read the statements about a node that have a time.

    Args:
        scope: the user's graph.
        request: the node, and which of its relationships are read.
        nodes: reads the node.
        between: only statements of these days; None for all.
        now: notes that have expired by then are omitted.

    Raises:
        NotFoundError: the node does not exist for this user.
        InputError: a type is unknown, or an empty list of types was given.
        StoreError: the database failed.
    """
    ontology = scope.ontology
    types = followed_types(scope, request)
    start = next(iter(await nodes.get(scope.user_id, [request.entity_key])), None)
    if start is None:
        raise NodeNotFoundError(f"Node not found: {request.entity_key}")
    text = statement("read_timeline", labels=Identifier.any_of(ontology.labels), types=Identifier.any_of(types))
    parameters = {"entity_key": start.entity_key, "read_limit": READ_PER_HOP, **conditions(request)}
    rows = [row for row in await scope.read(text, parameters) if row["relationship"]]

    def relationship_of(row: Row) -> GraphRelationship:
        return read_relationship(row["relationship"]).to_model(ontology)

    owners: list[GraphNode | GraphRelationship] = [start, *await in_turns(relationship_of, rows)]
    stated = [one for of_owner in await in_turns(lambda one: list(statements_of(one, now)), owners) for one in of_owner]
    timed = [
        (period, one)
        for period, one in stated
        if period is not None and one is not None and (between is None or period.overlaps(between))
    ]
    timed.sort(key=lambda one: (one[0], _added(one[1])))
    return Timeline(
        node=start,
        statements=tuple(one for _, one in timed),
        untimed=sum(one is None for _, one in stated),
        labels={
            start.entity_key: start.label,
            **{row["other"]["entity_key"]: ontology_label(row["other"]["labels"], ontology) for row in rows},
        },
    )


def _added(one: TimedStatement) -> float:
    return one.note.date_added.timestamp() if one.note and one.note.date_added else 0.0
