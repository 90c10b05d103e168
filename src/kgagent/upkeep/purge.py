"""Purging deleted records, and deleting in batches, as purging and forgetting do.

Deletions and restorations purge some expired records of any user in their own statement; `purge`
purges all of them.
"""

from collections import Counter
from datetime import UTC, datetime

from kgagent.batches import check_batch_size
from kgagent.errors import ConflictError, EntityGoneError, InputError
from kgagent.formatting import counted
from kgagent.graph.deleted_records import DELETED_NAMES
from kgagent.graph.statements import Statement, statement
from kgagent.graph.store import Parameters, Store
from kgagent.models.report import Report
from kgagent.progress import Advance
from kgagent.services import GraphServices

END_OF_TIME = datetime(9999, 12, 31, tzinfo=UTC)
"""Later than any deletion can be restored."""


class PurgeReport(Report):
    """Which deleted records were purged, or with `dry_run` would be.

    Attributes:
        nodes: number of nodes.
        relationships: number of relationships.
        dry_run: whether nothing was purged.
    """

    nodes: int
    relationships: int
    dry_run: bool

    def __str__(self) -> str:
        """The report in one line."""
        done = "would be purged" if self.dry_run else "purged"
        return (
            f"{counted(self.nodes, 'deleted node')} and "
            f"{counted(self.relationships, 'deleted relationship')} {done}"
        )


async def purge(
    services: GraphServices,
    *,
    user_id: str | None = None,
    restorable: bool = False,
    dry_run: bool = False,
    batch_size: int = 200,
) -> PurgeReport:
    """Purge the deleted records that can no longer be restored; see `KnowledgeGraph.purge`."""
    check_batch_size(batch_size)
    if restorable and user_id is None:
        raise InputError("restorable needs a user_id: it ends the undo of one user's deletions")
    store, context = services.store, services.write_context
    parameters = {"user_id": user_id, "now": END_OF_TIME if restorable else context.clock()}
    if dry_run:
        [row] = await store.read(statement("count_expired_deleted", **DELETED_NAMES), parameters)
        return PurgeReport(**row, dry_run=True)
    purged = await delete_in_batches(
        store,
        statement("purge_deleted", **DELETED_NAMES),
        parameters,
        batch_size=batch_size,
        attempts=context.attempts,
    )
    return PurgeReport(**purged, dry_run=False)


async def delete_in_batches(
    store: Store,
    text: Statement,
    parameters: Parameters,
    *,
    batch_size: int,
    attempts: int,
    advance: Advance | None = None,
) -> Counter[str]:
    """Run a statement until it deletes less than a batch, each time in a transaction of its own.

    Args:
        store: the database.
        text: deletes up to `limit` records of each kind; its row counts what it deleted.
        parameters: its other parameters.
        batch_size: its parameter `limit`.
        attempts: maximum number of consecutive attempts if a concurrent write deletes the same
            records.
        advance: receives the number of records deleted.

    Returns:
        The sums of the counts.

    Raises:
        ConflictError: concurrent writes keep deleting the same records.
        StoreError: the database failed; what was deleted until then stays deleted.
    """
    counts = Counter[str]()
    conflicts = 0
    while conflicts < attempts:
        try:
            [row] = await store.write(text, {**parameters, "limit": batch_size})
        except EntityGoneError:
            conflicts += 1
            continue
        conflicts = 0
        counts.update(row)
        if advance is not None:
            advance(sum(row.values()))
        if sum(row.values()) < batch_size:
            return counts
    raise ConflictError(
        "Concurrent writes keep deleting the same records. Call it again to continue"
    )
