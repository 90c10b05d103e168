"""Migrating a graph to the current form: schema, embeddings and bookkeeping of all records, texts of stored items."""

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, replace
from typing import Any

from kgagent.batches import batched
from kgagent.errors import InputError, KgAgentError
from kgagent.graph.nodes import NodeIntent, NodeStrategy, NodeWriteOptions
from kgagent.graph.property_names import LEVEL_FIELDS
from kgagent.graph.records import NodeRecord, RelationshipRecord
from kgagent.graph.relationships import RelationshipIntent, RelationshipStrategy, RelationshipWriteOptions
from kgagent.graph.schema_parts import STORE_TEXT
from kgagent.graph.store_texts import count_store_texts, embed_outdated_texts
from kgagent.graph.writes import WriteContext
from kgagent.opening import GraphAccess
from kgagent.progress import Advance, Progress, SilentProgress
from kgagent.ray_workers import RayEngine, RayWorkers
from kgagent.services import GraphServices
from kgagent.upkeep.conditions import Defect, Examination, examine_node, examine_relationship, stored_level
from kgagent.upkeep.migration_report import Counts, MigrationReport, MigrationStoppedError
from kgagent.upkeep.rewrite import Change, IntentT, Rewrite, Skipped, Tally
from kgagent.upkeep.scan import (
    Inspected,
    InspectedNode,
    InspectedRelationship,
    Kind,
    NodeScan,
    RelationshipScan,
)


async def migrate(
    services: GraphServices,
    *,
    user_id: str | None = None,
    dry_run: bool = False,
    rebuild_indexes: bool = False,
    batch_size: int = 200,
    progress: Progress | None = None,
    engine: RayEngine | None = None,
    access: GraphAccess | None = None,
) -> MigrationReport:
    """Migrate a graph; see `KnowledgeGraph.migrate`.

    The content of a record and its `updated_at` never change. Of several relationships of one type between two nodes,
    only the one that the tools use is migrated; the others are skipped and reported.
    """
    if batch_size < 1:
        raise InputError(f"batch_size must be at least 1, got {batch_size}")
    reported = progress or SilentProgress()
    schema = services.schema
    async with AsyncExitStack() as opened:
        if not dry_run and not rebuild_indexes:
            await schema.ensure()
        workers = await opened.enter_async_context(engine.open(services, access)) if engine else None
        if not dry_run and rebuild_indexes:
            with reported.task("Rebuilding the vector indexes"):
                await schema.rebuild_vector_indexes()
        if not dry_run:
            await schema.drop_replaced_constraints()
        return await _migrate_records(
            services,
            Selection(user_id=user_id, dry_run=dry_run, batch_size=batch_size),
            reported,
            workers,
        )


@dataclass(frozen=True, kw_only=True)
class Selection:
    """What is migrated, and how.

    Attributes:
        user_id: owner of the records; None is every user.
        dry_run: whether nothing is written.
        batch_size: records per embedding call and transaction.
        element_ids: ids of the records; None is all.
    """

    user_id: str | None
    dry_run: bool
    batch_size: int
    element_ids: Sequence[str] | None = None


@dataclass(frozen=True, kw_only=True)
class NodeMigration(NodeIntent):
    """A node to migrate.

    Attributes:
        element_id: id of the node that was examined.
    """

    element_id: str


@dataclass(frozen=True, kw_only=True)
class RelationshipMigration(RelationshipIntent):
    """A relationship to migrate.

    Attributes:
        element_id: id of the relationship that was examined.
    """

    element_id: str


async def _migrate_records(
    services: GraphServices, selection: Selection, progress: Progress, workers: RayWorkers | None
) -> MigrationReport:
    tally, started, store_texts = Tally(), time.perf_counter(), 0

    def report() -> MigrationReport:
        return MigrationReport(
            nodes=Counts.of(tally, "nodes"),
            relationships=Counts.of(tally, "relationships"),
            skipped=tuple(tally.skipped),
            seconds=time.perf_counter() - started,
            dry_run=selection.dry_run,
            store_texts=store_texts,
        )

    verb = "Examining" if selection.dry_run else "Migrating"
    try:
        for rewrite in (node_migration(services, selection), relationship_migration(services, selection)):
            kind, total = rewrite.scan.kind, await rewrite.scan.count()
            with progress.task(f"{verb} {kind}", total) as advance:
                if workers is None:
                    await rewrite.run(tally, advance)
                else:
                    await _run_on_workers(workers, rewrite, selection, tally, total=total, advance=advance)
        if services.schema.covers(STORE_TEXT):
            store_texts = await _migrate_store_texts(services, selection)
    except KgAgentError as error:
        raise MigrationStoppedError(error, report()) from error
    return report()


async def _migrate_store_texts(services: GraphServices, selection: Selection) -> int:
    """Embed texts of stored items again that have no embedding of the present model, or count them."""
    store, embedder, user_id = services.store, services.write_context.embedder, selection.user_id
    if selection.dry_run:
        return (await count_store_texts(store, embedder, user_id=user_id)).outdated
    return await embed_outdated_texts(store, embedder, user_id=user_id, batch_size=selection.batch_size)


def node_migration(services: GraphServices, selection: Selection) -> Rewrite[InspectedNode, NodeIntent]:
    """The migration of nodes; one is refused if another node has the key of the node that was examined."""
    nodes, context = services.nodes, services.write_context

    def judge(node: InspectedNode) -> Change[NodeIntent] | Skipped | None:
        record = node.record
        intent = NodeMigration(entity_key=record.entity_key, element_id=record.element_id)
        return _verdict(node, examine_node(node, nodes, context.embedder, context.clock()), intent)

    def prepare(intent: NodeIntent, stored: NodeRecord | None) -> NodeIntent:
        if stored and isinstance(intent, NodeMigration) and stored.element_id != intent.element_id:
            raise InputError(f"another node has the same entity_key ({stored.element_id})")
        return intent

    options = NodeWriteOptions(prepare=prepare, keep_updated_at=True, dry_run=selection.dry_run)

    def strategy(user_id: str, context: WriteContext) -> NodeStrategy:
        return NodeStrategy(nodes, context, user_id=user_id, options=options)

    return Rewrite(
        scan=NodeScan(nodes=nodes, user_id=selection.user_id, element_ids=selection.element_ids),
        judge=judge,
        strategy=strategy,
        context=context,
        batch_size=selection.batch_size,
        dry_run=selection.dry_run,
    )


def relationship_migration(
    services: GraphServices, selection: Selection
) -> Rewrite[InspectedRelationship, RelationshipIntent]:
    """The migration of relationships: levels become numbers, and relationships get the owner of their nodes."""
    relationships, context = services.relationships, services.write_context

    def judge(relationship: InspectedRelationship) -> Change[RelationshipIntent] | Skipped | None:
        record = relationship.record
        intent = RelationshipMigration(
            from_entity_key=record.from_entity_key,
            to_entity_key=record.to_entity_key,
            neo4j_type=record.neo4j_type,
            element_id=record.element_id,
        )
        examined = examine_relationship(relationship, relationships, context.embedder, context.clock())
        return _verdict(relationship, examined, intent)

    def prepare(intent: RelationshipIntent, stored: RelationshipRecord | None) -> RelationshipIntent:
        if stored is None:
            return intent
        if isinstance(intent, RelationshipMigration) and stored.element_id != intent.element_id:
            raise InputError(f"{Defect.DUPLICATE} ({stored.element_id})")
        levels = {field: stored_level(relationships.ontology, stored, field) for field in LEVEL_FIELDS}
        return replace(intent, values=levels)

    options = RelationshipWriteOptions(
        prepare=prepare, adopt_foreign=True, keep_updated_at=True, dry_run=selection.dry_run
    )

    def strategy(user_id: str, context: WriteContext) -> RelationshipStrategy:
        return RelationshipStrategy(relationships, context, user_id=user_id, options=options)

    return Rewrite(
        scan=RelationshipScan(
            relationships=relationships, user_id=selection.user_id, element_ids=selection.element_ids
        ),
        judge=judge,
        strategy=strategy,
        context=context,
        batch_size=selection.batch_size,
        dry_run=selection.dry_run,
    )


def _verdict(inspected: Inspected, examined: Examination, intent: IntentT) -> Change[IntentT] | Skipped | None:
    if examined.defect:
        return Skipped(str(inspected), str(examined.defect))
    if not examined.conditions:
        return None
    return Change(what=str(inspected), user_id=inspected.user_id, intent=intent, text=examined.outdated_text)


@dataclass(frozen=True)
class MigrationBlock:
    """Records of one kind that a worker migrates."""

    kind: Kind
    selection: Selection


@dataclass(frozen=True)
class MigratedBlock:
    """The counts of a block, and the error that stopped it."""

    examined: int
    tally: Tally
    error: KgAgentError | None


async def _run_on_workers(
    workers: RayWorkers,
    rewrite: Rewrite[Any, Any],
    selection: Selection,
    tally: Tally,
    *,
    total: int,
    advance: Advance,
) -> None:
    """Migrate by worker processes: this process lists the records, and each worker migrates blocks of them."""

    async def blocks() -> AsyncIterator[MigrationBlock]:
        async with rewrite.scan.ids() as ids:
            async for element_ids in batched(ids, workers.engine.size_for(total)):
                yield MigrationBlock(rewrite.scan.kind, replace(selection, element_ids=element_ids))

    async with aclosing(workers.run(migrate_block, blocks())) as migrated:
        async for block in migrated:
            tally.merge(block.tally)
            advance(block.examined)
            if block.error is not None:
                raise block.error


async def migrate_block(services: GraphServices, block: MigrationBlock) -> MigratedBlock:
    """Migrate a block in a worker; the work is that of a migration in one process."""
    tally, error = Tally(), None
    rewrite: Rewrite[Any, Any] = (
        node_migration(services, block.selection)
        if block.kind == "nodes"
        else relationship_migration(services, block.selection)
    )
    try:
        await rewrite.run(tally, lambda _: None)
    except KgAgentError as stopped:
        error = stopped
    return MigratedBlock(len(block.selection.element_ids or ()), tally, error)
