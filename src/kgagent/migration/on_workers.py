"""A pass by worker processes: this process lists the records, and each worker migrates blocks of them."""

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from kgagent.batches import batched
from kgagent.errors import KgAgentError
from kgagent.migration.passes import InspectedT, IntentT, NodePass, Pass, RelationshipPass
from kgagent.migration.pipeline import Pipeline
from kgagent.migration.report import Kind, Tally
from kgagent.progress import Advance
from kgagent.ray_workers import RayWorkers
from kgagent.services import GraphServices


@dataclass(frozen=True, kw_only=True)
class MigrationBlock:
    """Records of one kind to migrate.

    Attributes:
        kind: nodes or relationships.
        element_ids: ids of the records.
        user_id: owner of the records; None is every user.
        dry_run: whether nothing is written.
        batch_size: records per embedding call and transaction.
        concurrency: maximum number of concurrent batches.
    """

    kind: Kind
    element_ids: Sequence[str]
    user_id: str | None
    dry_run: bool
    batch_size: int
    concurrency: int


@dataclass(frozen=True)
class MigratedBlock:
    """The counts of a block, and the error that stopped it."""

    examined: int
    tally: Tally
    error: KgAgentError | None


async def run_on_workers(
    workers: RayWorkers,
    migration: Pass[InspectedT, IntentT],
    tally: Tally,
    advance: Advance,
    *,
    total: int,
    batch_size: int,
    concurrency: int,
) -> None:
    """Run a pass; see `Pipeline`.

    Args:
        workers: the worker processes.
        migration: lists the records.
        tally: receives the counts.
        advance: receives the number of records examined.
        total: number of records.
        batch_size: records per embedding call and transaction.
        concurrency: maximum number of concurrent batches of each worker.

    Raises:
        KgAgentError: the database or the embedder failed, or Ray; written batches stay written.
    """

    async def blocks() -> AsyncIterator[MigrationBlock]:
        async with migration.ids() as found:
            async for element_ids in batched(found, workers.engine.size_for(total)):
                yield MigrationBlock(
                    kind=migration.kind,
                    element_ids=element_ids,
                    user_id=migration.user_id,
                    dry_run=migration.dry_run,
                    batch_size=batch_size,
                    concurrency=concurrency,
                )

    async with aclosing(workers.run(migrate_block, blocks())) as migrated:
        async for block in migrated:
            tally.merge(block.tally)
            advance(block.examined)
            if block.error is not None:
                raise block.error


async def migrate_block(services: GraphServices, block: MigrationBlock) -> MigratedBlock:
    """Migrate a block in a worker; the work is that of a migration in one process."""
    tally = Tally(block.dry_run)
    error = None
    try:
        await Pipeline(
            _pass(services, block),
            tally,
            lambda _: None,
            batch_size=block.batch_size,
            concurrency=block.concurrency,
        ).run()
    except KgAgentError as stopped:
        error = stopped
    return MigratedBlock(len(block.element_ids), tally, error)


def _pass(services: GraphServices, block: MigrationBlock) -> Pass[Any, Any]:
    chosen: dict[str, Any] = {
        "user_id": block.user_id,
        "dry_run": block.dry_run,
        "element_ids": block.element_ids,
    }
    if block.kind == NodePass.kind:
        return NodePass(services.nodes, services.write_context, **chosen)
    return RelationshipPass(services.relationships, services.write_context, **chosen)
