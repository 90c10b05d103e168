"""The whole migration of a graph: schema, embeddings, records and texts of stored items."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

from kgagent.errors import KgAgentError
from kgagent.graph.schema_parts import STORE_TEXT
from kgagent.graph.store_texts import outdated_texts
from kgagent.migration.batch_engine import BatchEngine
from kgagent.migration.migrate import migrate
from kgagent.migration.passes import InspectedT, IntentT, NodePass, Pass, RelationshipPass, Task
from kgagent.migration.report import MigrationReport, MigrationStoppedError, Tally
from kgagent.migration.store_texts import migrate_store_texts
from kgagent.opening import GraphAccess
from kgagent.progress import Progress, SilentProgress
from kgagent.ray_workers import RayEngine
from kgagent.services import GraphServices


async def migrate_graph(
    services: GraphServices,
    *,
    user_id: str | None,
    dry_run: bool,
    rebuild_indexes: bool,
    batch_size: int,
    progress: Progress | None,
    engine: BatchEngine | RayEngine | None = None,
    access: GraphAccess | None = None,
) -> MigrationReport:
    """Migrate a graph; see `KnowledgeGraph.migrate`.

    With a `BatchEngine`, texts are embedded before vector indexes are rebuilt, because that can take a day in which the
    graph would have no vector search.
    """
    reported = progress or SilentProgress()
    schema, embedder = services.schema, services.write_context.embedder
    preparation = workers = None
    async with AsyncExitStack() as opened:
        if not dry_run and not rebuild_indexes:
            await schema.ensure()
        if isinstance(engine, RayEngine):
            workers = await opened.enter_async_context(engine.open(services, access))
        elif engine is not None and not dry_run:
            batches = await opened.enter_async_context(engine.open(embedder))
            try:
                await batches.embed(_outdated(services, user_id), reported)
            except KgAgentError as error:
                raise MigrationStoppedError(error, Tally(dry_run).report()) from error
            preparation, embedder = batches.preparation, batches.embedder
        if not dry_run and rebuild_indexes:
            with reported.task("Rebuilding the vector indexes"):
                await schema.rebuild_vector_indexes()
        if not dry_run:
            await schema.drop_replaced_constraints()
        report = await migrate(
            nodes=services.nodes,
            relationships=services.relationships,
            write_context=services.write_context,
            user_id=user_id,
            dry_run=dry_run,
            batch_size=batch_size,
            progress=progress,
            preparation=preparation,
            workers=workers,
        )
        if not schema.covers(STORE_TEXT):
            return report
        return await migrate_store_texts(report, services.store, embedder, user_id=user_id, batch_size=batch_size)


async def _outdated(services: GraphServices, user_id: str | None) -> AsyncIterator[str]:
    """Every text that the migration needs an embedding of."""
    context = services.write_context
    async for text in _texts(NodePass(services.nodes, context, user_id=user_id, dry_run=True)):
        yield text
    async for text in _texts(RelationshipPass(services.relationships, context, user_id=user_id, dry_run=True)):
        yield text
    if services.schema.covers(STORE_TEXT):
        async for text in outdated_texts(services.store, context.embedder, user_id=user_id):
            yield text


async def _texts(migration: Pass[InspectedT, IntentT]) -> AsyncIterator[str]:
    async with migration.inspect() as records:
        async for inspected in records:
            verdict = migration.judge(inspected)
            if isinstance(verdict, Task) and verdict.text is not None:
                yield verdict.text
