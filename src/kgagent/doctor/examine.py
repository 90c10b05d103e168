"""The examination of a whole graph."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import TypeVar

from kgagent.doctor.diagnosis import Diagnosis, Facts, worst_first
from kgagent.doctor.issues import MigrationIssues
from kgagent.doctor.records import NodeExamination, RelationshipExamination
from kgagent.doctor.server import examine_embedder, examine_features, examine_schema
from kgagent.embedding.base import Embedder
from kgagent.graph.inspection import count_nodes, count_relationships, inspect_nodes, inspect_relationships
from kgagent.graph.nodes import NodeRepository
from kgagent.graph.relationships import RelationshipRepository
from kgagent.graph.schema import Schema
from kgagent.progress import Advance, Progress, SilentProgress

InspectedT = TypeVar("InspectedT")

EXAMINED_BETWEEN_TELLING = 500


async def examine(
    *,
    schema: Schema,
    nodes: NodeRepository,
    relationships: RelationshipRepository,
    embedder: Embedder,
    clock: Callable[[], datetime],
    user_id: str | None = None,
    ask_embedder: bool = False,
    progress: Progress | None = None,
) -> Diagnosis:
    """Look at the server, its indexes and every record once, and say what is wrong and how to mend it.

    Nothing is changed, no vector is fetched, and memory stays flat but for eight bytes a node.

    Args:
        schema: the constraints and indexes that there should be.
        nodes: gives the database and the nodes.
        relationships: gives the relationships.
        embedder: the one in use.
        clock: gives the time, with zone; notes that have expired by then do not count.
        user_id: whose graph; relationships count to whom they start at. None is every user's.
        ask_embedder: make one embedding to see whether the embedder works.
        progress: shows how many records have been examined.

    Raises:
        StoreError: the database failed.
    """
    store, shown = nodes.store, progress or SilentProgress()
    issues = MigrationIssues(user_id)
    examined_nodes = NodeExamination(nodes, embedder, clock, issues)
    examined_relationships = RelationshipExamination(relationships, embedder, clock, issues)

    found = examine_features(store.features) + await examine_schema(store, schema)
    if ask_embedder:
        found += await examine_embedder(embedder)
    with shown.task("Examining nodes", await count_nodes(nodes, user_id)) as advance:
        await _each(inspect_nodes(nodes, user_id), examined_nodes.take, advance)
    with shown.task("Examining relationships", await count_relationships(relationships, user_id)) as advance:
        await _each(inspect_relationships(relationships, user_id), examined_relationships.take, advance)

    facts = Facts(
        uri=store.uri,
        server_version=store.features.version,
        filtered_vector_indexes=store.features.filtered_vector_indexes,
        vectors_on_the_wire=store.features.vectors_on_the_wire,
        embedder=str(embedder),
        user_id=user_id,
        nodes=examined_nodes.examined,
        relationships=examined_relationships.examined,
    )
    findings = [*found, *examined_nodes.findings(), *examined_relationships.findings()]
    return Diagnosis(findings=worst_first(findings), facts=facts)


async def _each(
    records: AbstractAsyncContextManager[AsyncIterator[InspectedT]],
    take: Callable[[InspectedT], None],
    advance: Advance,
) -> None:
    taken = 0
    async with records as stream:
        async for record in stream:
            take(record)
            taken += 1
            if taken % EXAMINED_BETWEEN_TELLING == 0:
                advance(EXAMINED_BETWEEN_TELLING)
    advance(taken % EXAMINED_BETWEEN_TELLING)
