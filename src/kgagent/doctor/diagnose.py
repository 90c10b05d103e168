"""The diagnosis of a whole graph."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import TypeVar

from kgagent.doctor.diagnosis import Diagnosis, DiagnosisFacts
from kgagent.doctor.issues import MigrationIssues
from kgagent.doctor.note_sources import NoteSources
from kgagent.doctor.owners import owner_findings
from kgagent.doctor.record_checks import NodeChecks, RelationshipChecks
from kgagent.doctor.server_checks import embedder_findings, feature_findings, schema_findings
from kgagent.doctor.store_text_checks import store_text_findings
from kgagent.embedding.base import Embedder
from kgagent.graph.inspection import count_nodes, count_relationships, inspect_nodes, inspect_relationships
from kgagent.graph.nodes import NodeRepository
from kgagent.graph.relationships import RelationshipRepository
from kgagent.graph.schema import Schema
from kgagent.graph.schema_parts import STORE_TEXT
from kgagent.graph.store_texts import count_store_texts
from kgagent.progress import Advance, Progress, SilentProgress

InspectedT = TypeVar("InspectedT")

PROGRESS_INTERVAL = 500
"""Records between two reports of progress."""


async def diagnose(
    *,
    schema: Schema,
    nodes: NodeRepository,
    relationships: RelationshipRepository,
    embedder: Embedder,
    clock: Callable[[], datetime],
    user_id: str | None = None,
    check_embedder: bool = False,
    progress: Progress | None = None,
) -> Diagnosis:
    """Examine the server, its indexes and every record, and report what is wrong and how to fix it.

    Nothing is changed and no vector is read. Records are streamed; only eight bytes a node and the names of up to
    10,000 sources stay in memory.

    Args:
        schema: the constraints and indexes that should exist.
        nodes: repository of the nodes.
        relationships: repository of the relationships.
        embedder: the embedder in use.
        clock: returns the current time with a time zone; expired notes do not count.
        user_id: owner of the graph; a relationship belongs to the owner of its start node. None examines all users.
        check_embedder: make one embedding to test the embedder.
        progress: receives the number of records examined.

    Raises:
        StoreError: the database failed.
    """
    store, progress = nodes.store, progress or SilentProgress()
    issues, sources = MigrationIssues(user_id), NoteSources(nodes)
    node_checks = NodeChecks(nodes, embedder, clock, issues, sources)
    relationship_checks = RelationshipChecks(relationships, embedder, clock, issues, sources)

    findings = feature_findings(store.features) + await schema_findings(store, schema)
    if check_embedder:
        findings += await embedder_findings(embedder)
    with progress.task("Examining nodes", await count_nodes(nodes, user_id)) as advance:
        await _check_each(inspect_nodes(nodes, user_id), node_checks.check, advance)
    with progress.task("Examining relationships", await count_relationships(relationships, user_id)) as advance:
        await _check_each(inspect_relationships(relationships, user_id), relationship_checks.check, advance)

    findings += [*node_checks.findings(), *relationship_checks.findings(), *await sources.findings()]
    findings += await owner_findings(nodes, user_id)
    stored_items = 0
    if schema.covers(STORE_TEXT):
        texts = await count_store_texts(store, embedder, user_id=user_id)
        findings += store_text_findings(texts, embedder, issues)
        stored_items = texts.items
    facts = DiagnosisFacts(
        uri=store.uri,
        server_version=store.features.version,
        filtered_vector_indexes=store.features.filtered_vector_indexes,
        vectors_on_the_wire=store.features.vectors_on_the_wire,
        embedder=str(embedder),
        user_id=user_id,
        nodes=node_checks.examined,
        relationships=relationship_checks.examined,
        store_items=stored_items,
    )
    return Diagnosis.of(findings, facts)


async def _check_each(
    records: AbstractAsyncContextManager[AsyncIterator[InspectedT]],
    check: Callable[[InspectedT], None],
    advance: Advance,
) -> None:
    checked = 0
    async with records as stream:
        async for record in stream:
            check(record)
            checked += 1
            if checked % PROGRESS_INTERVAL == 0:
                advance(PROGRESS_INTERVAL)
    advance(checked % PROGRESS_INTERVAL)
