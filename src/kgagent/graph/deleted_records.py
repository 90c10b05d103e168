"""What deletions of nodes and of relationships share: where deleted records are kept, and for how long."""

from datetime import datetime
from typing import Any

from kgagent.graph.identifiers import Identifier
from kgagent.graph.schema_parts import DELETED_NODE, DELETED_RELATIONSHIP
from kgagent.models.note import as_utc

MAX_PURGED = 1_000
"""Maximum number of expired records that one more deletion purges."""

DELETED_NAMES = {
    "deleted": Identifier(DELETED_RELATIONSHIP),
    "deleted_node": Identifier(DELETED_NODE),
    "all_deleted": Identifier.any_of((DELETED_RELATIONSHIP, DELETED_NODE)),
}
"""The placeholders of the statements that keep, restore and purge deleted records."""


def deletion_parameters(now: datetime, undo_until: datetime | None) -> dict[str, Any]:
    """The parameters of a statement that deletes: when, until when it can be undone, and how much it purges."""
    return {"now": now, "undo_until": undo_until, "purge_limit": MAX_PURGED}


def format_minute(moment: datetime) -> str:
    """A time for a message, such as "2026-01-31T00:00Z"."""
    return as_utc(moment).isoformat(timespec="minutes").replace("+00:00", "Z")
