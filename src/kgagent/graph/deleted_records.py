"""Deleted records, kept until they can no longer be restored: where they are."""

from datetime import datetime

from kgagent.graph.identifiers import Identifier
from kgagent.graph.schema_parts import DELETED_NODE, DELETED_RELATIONSHIP
from kgagent.models.note import as_utc

LONG_TIMEOUT = 3_600.0
"""Timeout in seconds of statements that read all records of a user, or of all users."""

DELETED_NAMES = {
    "deleted": Identifier(DELETED_RELATIONSHIP),
    "deleted_node": Identifier(DELETED_NODE),
    "all_deleted": Identifier.any_of((DELETED_RELATIONSHIP, DELETED_NODE)),
}
"""The placeholders of the statements that keep, restore and purge deleted records."""


def format_minute(moment: datetime) -> str:
    """A time for a message, such as "2026-01-31T00:00Z"."""
    return as_utc(moment).isoformat(timespec="minutes").replace("+00:00", "Z")
