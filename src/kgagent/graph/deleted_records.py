"""Deleted records, kept until they can no longer be restored: where they are, and purging those that have expired.

Deletions and restorations purge some expired records of any user in their own statement; `purge` purges all of them.
"""

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from kgagent.errors import InputError
from kgagent.formatting import counted
from kgagent.graph.identifiers import Identifier
from kgagent.graph.schema_parts import DELETED_NODE, DELETED_RELATIONSHIP
from kgagent.graph.statements import statement
from kgagent.graph.store import Row, Store
from kgagent.models.note import as_utc

MAX_BATCH = 10_000

LONG_TIMEOUT = 3_600.0
"""Timeout in seconds of statements that read all records of a user, or of all users."""

DELETED_NAMES = {
    "deleted": Identifier(DELETED_RELATIONSHIP),
    "deleted_node": Identifier(DELETED_NODE),
    "all_deleted": Identifier.any_of((DELETED_RELATIONSHIP, DELETED_NODE)),
}
"""The placeholders of the statements that keep, restore and purge deleted records."""

END_OF_TIME = datetime(9999, 12, 31, tzinfo=UTC)
"""Later than any deletion can be restored."""


@dataclass(frozen=True, kw_only=True)
class PurgeReport:
    """Which deleted records were purged, or with `dry_run` would be.

    Attributes:
        nodes: number of nodes.
        relationships: number of relationships.
        dry_run: whether nothing was purged.
    """

    nodes: int
    relationships: int
    dry_run: bool

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON types."""
        return asdict(self)

    def __str__(self) -> str:
        """The report in one line."""
        done = "would be purged" if self.dry_run else "purged"
        return f"{counted(self.nodes, 'deleted node')} and {counted(self.relationships, 'deleted relationship')} {done}"


async def purge(
    store: Store,
    *,
    user_id: str | None,
    now: datetime,
    restorable: bool = False,
    dry_run: bool = False,
    batch_size: int = 200,
) -> PurgeReport:
    """Purge the deleted records that can no longer be restored, each batch in a transaction of its own.

    Args:
        store: the database.
        user_id: owner of the records; None is every user.
        now: the time, with time zone.
        restorable: whether those of the user that can still be restored are purged too.
        dry_run: only count them.
        batch_size: records per transaction, 1 to 10,000.

    Raises:
        InputError: `batch_size` is none of these, or `restorable` is given without a user.
        StoreError: the database failed; what was purged until then stays purged.
    """
    if type(batch_size) is not int or not 1 <= batch_size <= MAX_BATCH:
        raise InputError(f"batch_size must be an integer from 1 to {MAX_BATCH:,}, got {batch_size!r}")
    if restorable and user_id is None:
        raise InputError("restorable needs a user_id: it ends the undo of one user's deletions")
    parameters = {"user_id": user_id, "now": END_OF_TIME if restorable else now, "limit": batch_size}
    if dry_run:
        [row] = await store.read(statement("count_expired_deleted", **DELETED_NAMES), parameters)
        return PurgeReport(**row, dry_run=True)
    batches: list[Row] = []
    while not batches or sum(batches[-1].values()) == batch_size:
        batches += await store.write(statement("purge_deleted", **DELETED_NAMES), parameters)
    return PurgeReport(
        nodes=sum(row["nodes"] for row in batches),
        relationships=sum(row["relationships"] for row in batches),
        dry_run=False,
    )


def format_minute(moment: datetime) -> str:
    """A time for a message, such as "2026-01-31T00:00Z"."""
    return as_utc(moment).isoformat(timespec="minutes").replace("+00:00", "Z")
