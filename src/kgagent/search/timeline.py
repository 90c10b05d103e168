"""Timeline: the statements about a node and its relationships that have a time, in order of
time.
"""

from datetime import datetime

from kgagent.errors import NodeNotFoundError
from kgagent.graph.nodes import NodeRepository
from kgagent.graph.records import ontology_label
from kgagent.graph.store import Row
from kgagent.models import GraphNode, GraphRelationship
from kgagent.models.timeline import TimedStatement, Timeline, statements_of
from kgagent.models.when import Period
from kgagent.search.candidates import read_relationship
from kgagent.search.scope import SearchScope
from kgagent.search.traversal import READ_PER_HOP
from kgagent.turns import in_turns


async def timeline(
    scope: SearchScope, entity_key: str, nodes: NodeRepository, *, between: Period, now: datetime
) -> Timeline:
    """Read the statements about a node and its relationships that have a time.

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
    ontology = scope.ontology
    start = next(iter(await nodes.get(scope.user_id, [entity_key])), None)
    if start is None:
        raise NodeNotFoundError(f"Node not found: {entity_key}")
    parameters = {"entity_key": start.entity_key, "read_limit": READ_PER_HOP}
    rows = [
        row
        for row in await scope.read(scope.statement("read_timeline"), parameters)
        if row["relationship"]
    ]

    def relationship_of(row: Row) -> GraphRelationship:
        return read_relationship(row["relationship"]).to_model(ontology)

    owners: list[GraphNode | GraphRelationship] = [start, *await in_turns(relationship_of, rows)]
    stated = [
        one
        for of_owner in await in_turns(lambda one: list(statements_of(one, now)), owners)
        for one in of_owner
    ]
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
        labels={
            start.entity_key: start.label,
            **{
                row["other"]["entity_key"]: ontology_label(row["other"]["labels"], ontology)
                for row in rows
            },
        },
    )


def _added(one: TimedStatement) -> float:
    return one.note.date_added.timestamp() if one.note and one.note.date_added else 0.0
