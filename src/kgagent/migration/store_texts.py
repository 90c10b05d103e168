"""The last part of a migration: the texts of stored items that another model embedded."""

from dataclasses import replace

from kgagent.embedding.base import Embedder
from kgagent.errors import KgAgentError
from kgagent.graph.store import Store
from kgagent.graph.store_texts import count_store_texts, embed_outdated_texts
from kgagent.migration.report import MigrationReport, MigrationStoppedError


async def migrate_store_texts(
    report: MigrationReport, store: Store, embedder: Embedder, *, user_id: str | None, batch_size: int
) -> MigrationReport:
    """Embed texts of stored items again that have no embedding of the present model.

    Args:
        report: what was migrated until now; with `dry_run` the texts are only counted.
        store: the database.
        embedder: the present embedder.
        user_id: owner of the items; None is every user.
        batch_size: texts per embedding call and transaction.

    Raises:
        MigrationStoppedError: the database or the embedder failed; its report says what was done.
    """
    try:
        if report.dry_run:
            texts = (await count_store_texts(store, embedder, user_id=user_id)).outdated
        else:
            texts = await embed_outdated_texts(store, embedder, user_id=user_id, batch_size=batch_size)
    except KgAgentError as error:
        raise MigrationStoppedError(error, report) from error
    return replace(report, store_texts=texts)
