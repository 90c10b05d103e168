"""Migrating a graph to the current form: schema, embeddings and bookkeeping of all
records.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, replace

from kgagent.batches import batched, check_batch_size
from kgagent.errors import InputError, KgAgentError
from kgagent.graph.deleted_records import LONG_TIMEOUT
from kgagent.graph.property_names import LEVEL_FIELDS
from kgagent.graph.records import Record, RelationshipRecord
from kgagent.graph.statements import statement
from kgagent.graph.writes import WriteOptions
from kgagent.opening import GraphAccess
from kgagent.progress import Advance, Progress, SilentProgress
from kgagent.ray_workers import RayEngine, RayWorkers
from kgagent.services import GraphServices
from kgagent.upkeep.adopt_records import adopt_records
from kgagent.upkeep.examination import WRONG_LEVEL, Inspected, Intent, Kind, has_wrong_level
from kgagent.upkeep.migration_report import MigrationReport, MigrationStoppedError
from kgagent.upkeep.rewrite import Rewrite, Skipped, Tally, Verdict
from kgagent.upkeep.scan import KINDS, Scan


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
    """Migrate a graph; see `KnowledgeGraph.migrate`. In a graph that was adopted, new records are
    adopted first.

    The content of a record and its `updated_at` never change. Of several relationships of one type
    between two nodes, only the one that the tools use is migrated; the others are skipped and
    reported.
    """
    check_batch_size(batch_size)
    schema, progress = services.schema, progress or SilentProgress()
    verb, tally = "Examining" if dry_run else "Migrating", Tally()
    async with AsyncExitStack() as opened:
        if not dry_run and not rebuild_indexes:
            await schema.ensure()
        if rebuild_indexes and services.ontology.adopted_for is None:
            await _refuse_adopted(services)
        workers = (
            await opened.enter_async_context(engine.open(services, access)) if engine else None
        )
        if not dry_run and rebuild_indexes:
            with progress.task("Rebuilding the vector indexes"):
                await schema.rebuild_vector_indexes()
        try:
            owner = services.ontology.adopted_for
            if owner is not None and user_id in {None, owner} and not dry_run:
                await adopt_records(services.store, services.ontology, progress)
            for kind in KINDS:
                block = MigrationBlock(kind, user_id, dry_run=dry_run, batch_size=batch_size)
                rewrite = migration(services, block)
                total = await rewrite.scan.count()
                with progress.task(f"{verb} {kind}", total) as advance:
                    if workers is None:
                        await rewrite.run(tally, advance)
                    else:
                        await _run_on_workers(
                            workers, _blocks(block, rewrite.scan, workers, total), tally, advance
                        )
        except KgAgentError as error:
            raise MigrationStoppedError(
                error, MigrationReport.of(tally, dry_run=dry_run)
            ) from error
        return MigrationReport.of(tally, dry_run=dry_run)


async def _refuse_adopted(services: GraphServices) -> None:
    """Refuse records that were adopted: with another ontology, embeddings of other programs would
    be overwritten.
    """
    [row] = await services.store.read(statement("total_adopted_nodes"), {}, timeout=LONG_TIMEOUT)
    if row["found"]:
        raise InputError(
            f"{row['found']:,} nodes were adopted with another ontology. Set KGAGENT_ONTOLOGY to "
            f"its file, such as "
            "kgagent-ontology.yaml, or take the adoption back first: kgagent adopt --undo"
        )


@dataclass(frozen=True)
class MigrationBlock:
    """Records to migrate.

    Attributes:
        kind: nodes or relationships.
        user_id: their owner; None for all users.
        dry_run: whether nothing is written.
        batch_size: records per embedding call and transaction.
        element_ids: only the records with these ids.
    """

    kind: Kind
    user_id: str | None
    dry_run: bool
    batch_size: int
    element_ids: Sequence[str] | None = None


def migration(services: GraphServices, block: MigrationBlock) -> Rewrite:
    """The migration of a block: levels become numbers, and relationships get the owner of their
    nodes.
    """
    scan = Scan.of(services, block.kind, block.user_id, element_ids=block.element_ids)
    context = services.write_context

    def judge(inspected: Inspected) -> Verdict:
        examined = scan.examine(inspected, context)
        if examined.defect:
            return Skipped(str(inspected), f"it has {examined.defect.phrase}")
        return examined.outdated_texts if examined.issues else None

    def prepare(intent: Intent, stored: Record | None) -> Intent:
        if not isinstance(stored, RelationshipRecord):
            return intent
        if has_wrong_level(stored, services.ontology):
            raise InputError(f"it has {WRONG_LEVEL.phrase}")
        return replace(
            intent,
            values={name: stored.known_level(services.ontology, name) for name in LEVEL_FIELDS},
        )

    options: WriteOptions = WriteOptions(
        prepare=prepare, adopt_foreign=True, keep_updated_at=True, dry_run=block.dry_run
    )
    return Rewrite(
        scan=scan, judge=judge, options=options, context=context, batch_size=block.batch_size
    )


@dataclass(frozen=True)
class MigratedBlock:
    """The counts of a block that a worker migrated, and the error that stopped it."""

    examined: int
    tally: Tally
    error: KgAgentError | None


async def migrate_block(services: GraphServices, block: MigrationBlock) -> MigratedBlock:
    """Migrate a block in a worker; the work is that of a migration in one process."""
    tally, error = Tally(), None
    try:
        await migration(services, block).run(tally, lambda _: None)
    except KgAgentError as stopped:
        error = stopped
    return MigratedBlock(len(block.element_ids or ()), tally, error)


async def _blocks(
    block: MigrationBlock, scan: Scan, workers: RayWorkers, total: int
) -> AsyncIterator[MigrationBlock]:
    """Divide a block into smaller ones for workers."""
    async with scan.ids() as ids:
        async for element_ids in batched(ids, workers.engine.size_for(total)):
            yield replace(block, element_ids=element_ids)


async def _run_on_workers(
    workers: RayWorkers, blocks: AsyncIterator[MigrationBlock], tally: Tally, advance: Advance
) -> None:
    async with aclosing(workers.run(migrate_block, blocks)) as migrated:
        async for block in migrated:
            tally.merge(block.tally)
            advance(block.examined)
            if block.error is not None:
                raise block.error
