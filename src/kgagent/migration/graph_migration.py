"""The whole migration of a graph: schema, embeddings, records and texts of stored items."""

from contextlib import AsyncExitStack

from kgagent.graph.schema_parts import STORE_TEXT
from kgagent.migration.migrate import migrate
from kgagent.migration.report import MigrationReport
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
    engine: RayEngine | None = None,
    access: GraphAccess | None = None,
) -> MigrationReport:
    """Migrate a graph; see `KnowledgeGraph.migrate`."""
    reported = progress or SilentProgress()
    schema, embedder = services.schema, services.write_context.embedder
    workers = None
    async with AsyncExitStack() as opened:
        if not dry_run and not rebuild_indexes:
            await schema.ensure()
        if engine is not None:
            workers = await opened.enter_async_context(engine.open(services, access))
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
            workers=workers,
        )
        if not schema.covers(STORE_TEXT):
            return report
        return await migrate_store_texts(report, services.store, embedder, user_id=user_id, batch_size=batch_size)
