"""The proactive migration: it brings every node and relationship of a graph to the current form."""

from kgagent.errors import InputError, KgAgentError
from kgagent.graph.nodes import NodeRepository
from kgagent.graph.relationships import RelationshipRepository
from kgagent.graph.writes import WriteContext
from kgagent.migration.on_workers import run_on_workers
from kgagent.migration.passes import InspectedT, IntentT, NodePass, Pass, RelationshipPass
from kgagent.migration.pipeline import Pipeline
from kgagent.migration.report import MigrationReport, MigrationStoppedError, Tally
from kgagent.progress import Progress, SilentProgress
from kgagent.ray_workers import RayWorkers


async def migrate(
    *,
    nodes: NodeRepository,
    relationships: RelationshipRepository,
    write_context: WriteContext,
    user_id: str | None = None,
    dry_run: bool = False,
    batch_size: int = 200,
    concurrency: int = 3,
    progress: Progress | None = None,
    workers: RayWorkers | None = None,
) -> MigrationReport:
    """Embed records without a current embedding, remove the properties of old graphs, and add missing bookkeeping.

    The content of a record and its `updated_at` never change. Each decision depends only on the stored record, so an
    interrupted run is continued by the next one. Writes use the same compare-and-set as the tools, so both may run
    concurrently. Of several relationships of one type between two nodes, only the one that the tools use is migrated;
    the others are skipped and reported.

    The constraints and indexes must exist (`Schema.ensure`). If the embedder makes embeddings of another length than
    before, call `Schema.rebuild_vector_indexes` first.

    Args:
        nodes: the database, the ontology and the nodes.
        relationships: the relationships.
        write_context: the embedder, the clock and the number of attempts.
        user_id: owner of the records; None is every user.
        dry_run: count what would be done; write nothing and make no embedding call.
        batch_size: records per embedding call and transaction, from 1.
        concurrency: maximum number of concurrent batches, from 1.
        progress: shows how many records have been examined.
        workers: processes that migrate the records, each with so many batches; None is this process.

    Raises:
        InputError: a size is below 1.
        MigrationStoppedError: the database or the embedder failed; its report says what was done.
    """
    if batch_size < 1 or concurrency < 1:
        raise InputError(f"batch_size and concurrency must be at least 1, got {batch_size} and {concurrency}")
    tally = Tally(dry_run)
    reported = progress or SilentProgress()

    async def run(migration: Pass[InspectedT, IntentT]) -> None:
        verb = "Examining" if dry_run else "Migrating"
        total = await migration.count()
        with reported.task(f"{verb} {migration.kind}", total) as advance:
            sizes = {"batch_size": batch_size, "concurrency": concurrency}
            if workers is not None:
                await run_on_workers(workers, migration, tally, advance, total=total, **sizes)
            else:
                await Pipeline(migration, tally, advance, **sizes).run()

    try:
        await run(NodePass(nodes, write_context, user_id=user_id, dry_run=dry_run))
        await run(RelationshipPass(relationships, write_context, user_id=user_id, dry_run=dry_run))
    except KgAgentError as error:
        raise MigrationStoppedError(error, tally.report()) from error
    return tally.report()
