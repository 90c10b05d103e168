"""Migrating a graph to the current form: schema, embeddings and bookkeeping of all
records.
"""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import Any

from kgagent.batches import batched, check_batch_size
from kgagent.errors import InputError, KgAgentError
from kgagent.graph.deleted_records import LONG_TIMEOUT
from kgagent.graph.property_names import LEVEL_FIELDS, STATEMENTS_HASH
from kgagent.graph.records import Record, RelationshipRecord
from kgagent.graph.statements import statement
from kgagent.graph.writes import WriteOptions
from kgagent.opening import GraphAccess
from kgagent.progress import Progress, SilentProgress
from kgagent.ray_workers import RayEngine
from kgagent.services import GraphServices
from kgagent.upkeep.adopt_records import adopt_records
from kgagent.upkeep.examination import WRONG_LEVEL, Inspected, Intent, Kind, has_wrong_level
from kgagent.upkeep.migration_report import MigrationReport, MigrationStoppedError, Skipped
from kgagent.upkeep.rewrite import Rewrite, Tally, Verdict
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
                job = MigrationJob(kind, user_id, dry_run=dry_run, batch_size=batch_size)
                rewrite = migration(services, job)
                total = await rewrite.scan.count()
                with progress.task(f"{verb} {kind}", total) as advance:
                    if workers is None:
                        await rewrite.run(tally, advance)
                        continue
                    async with rewrite.scan.ids() as ids:
                        blocks = batched(ids, workers.engine.size_for(total))
                        await workers.run(migrate_block, job, blocks, tally, advance)
        except KgAgentError as error:
            raise MigrationStoppedError(error, tally.report(dry_run=dry_run)) from error
        return tally.report(dry_run=dry_run)


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
class MigrationJob:
    """What is migrated, and how.

    Attributes:
        kind: nodes or relationships.
        user_id: their owner; None for all users.
        dry_run: whether nothing is written.
        batch_size: records per embedding call and transaction.
    """

    kind: Kind
    user_id: str | None
    dry_run: bool
    batch_size: int


def migration(
    services: GraphServices, job: MigrationJob, element_ids: Sequence[str] | None = None
) -> Rewrite:
    """The migration of all records of a job, or of those with some ids: levels become numbers, and
    relationships get the owner of their nodes.
    """
    scan = Scan(services, job.kind, job.user_id, element_ids)
    to_index = set[str]()

    def judge(inspected: Inspected) -> Verdict:
        examined = scan.examine(inspected)
        if examined.has_other_entries:
            to_index.add(inspected.record.element_id)
        if examined.defect:
            return Skipped(what=str(inspected), why=f"it has {examined.defect.phrase}")
        return examined.outdated_texts if examined.issues else None

    def prepare(intent: Intent, stored: Record | None) -> Intent:
        is_indexed = stored is None or stored.element_id not in to_index
        values: dict[str, Any] = {} if is_indexed else {STATEMENTS_HASH: None}
        if not isinstance(stored, RelationshipRecord):
            return replace(intent, values=values)
        if has_wrong_level(stored, services.ontology):
            raise InputError(f"it has {WRONG_LEVEL.phrase}")
        levels = {name: stored.known_level(services.ontology, name) for name in LEVEL_FIELDS}
        return replace(intent, values=values | levels)

    options: WriteOptions = WriteOptions(
        prepare=prepare, adopt_foreign=True, keep_updated_at=True, dry_run=job.dry_run
    )
    return Rewrite(scan=scan, judge=judge, options=options, batch_size=job.batch_size)


async def migrate_block(
    services: GraphServices, job: MigrationJob, element_ids: Sequence[str], tally: Tally
) -> None:
    """Migrate records in a worker; the work is that of a migration in one process."""
    await migration(services, job, element_ids).run(tally, lambda _: None)
