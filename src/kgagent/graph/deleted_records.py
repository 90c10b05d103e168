"""Deleted records, kept until they can no longer be restored: where they are, and which there
are.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kgagent.graph.identifiers import Identifier
from kgagent.graph.nodes import NodeRepository
from kgagent.graph.schema_parts import DELETED_NODE, DELETED_RELATIONSHIP
from kgagent.graph.statements import statement
from kgagent.graph.store import Row
from kgagent.models.note import as_utc

LONG_TIMEOUT = 3_600.0
"""Timeout in seconds of statements that read all records of a user, or of all users."""

DELETED_NAMES = {
    "deleted": Identifier(DELETED_RELATIONSHIP),
    "deleted_node": Identifier(DELETED_NODE),
    "all_deleted": Identifier.any_of((DELETED_RELATIONSHIP, DELETED_NODE)),
}
"""The placeholders of the statements that keep, restore and purge deleted records."""

MAX_RESTORABLE = 1_000
"""Records that are listed, the latest first."""


@dataclass(frozen=True, kw_only=True)
class RestorableRecord:
    """A deleted or merged node, or a deleted relationship between two nodes that exist.

    Attributes:
        name: name of the node, or the relationship as two names and a type.
        label: label of the node; empty for a relationship.
        entity_keys: the key of the node, or those of the nodes that the relationship was from and
            to.
        undo_until: until when it can be restored.
        merged_into: key of the node into which it was merged; empty if it was deleted.
    """

    name: str
    label: str
    entity_keys: tuple[str, ...]
    undo_until: datetime
    merged_into: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The record as JSON types."""
        label = {"label": self.label} if self.label else {}
        names = ("entity_key",) if self.label else ("from_entity_key", "to_entity_key")
        keys = dict(zip(names, self.entity_keys, strict=True))
        merged = {"merged_into": self.merged_into} if self.merged_into else {}
        until = format_minute(self.undo_until)
        return {"name": self.name, **label, **keys, **merged, "undo_until": until}

    def __str__(self) -> str:
        """The record in one line."""
        label = f" ({self.label})" if self.label else ""
        merged = f"merged into {self.merged_into}  " if self.merged_into else ""
        return (
            f"{self.name}{label}  {' '.join(self.entity_keys)}  {merged}until "
            f"{format_minute(self.undo_until)}"
        )


async def restorable_records(
    nodes: NodeRepository, *, user_id: str, now: datetime
) -> list[RestorableRecord]:
    """Read the deleted records that can be restored, at most `MAX_RESTORABLE`.

    Args:
        nodes: repository of the nodes.
        user_id: owner of the records.
        now: the time, with time zone.

    Raises:
        StoreError: the database failed.
    """
    rows = await nodes.store.read(
        statement("list_restorable", labels=nodes.names["labels"], **DELETED_NAMES),
        {"user_id": user_id, "now": now, "limit": MAX_RESTORABLE},
    )
    latest: dict[tuple[object, ...], RestorableRecord] = {}
    # A record that another transaction purged while it was read has lost its properties.
    whole = (
        row for row in rows if row["undo_until"] and (row["labels"] or (row["from"] and row["to"]))
    )
    for record in (_record(row, nodes.ontology.labels) for row in whole):
        # A relationship may have been deleted several times.
        latest.setdefault((record.label, record.entity_keys, record.name), record)
    return list(latest.values())


def _record(row: Row, labels: Mapping[str, object]) -> RestorableRecord:
    until = row["undo_until"].to_native()
    if row["labels"] is not None:
        label = next((name for name in labels if name in row["labels"]), row["labels"][0])
        return RestorableRecord(
            name=row["name"] or "",
            label=label,
            entity_keys=(row["entity_key"],),
            undo_until=until,
            merged_into=row["merged_into"] or "",
        )
    start, end = row["from"], row["to"]
    return RestorableRecord(
        name=" ".join(filter(None, (start["name"], row["relationship_type"], end["name"]))),
        label="",
        entity_keys=(start["entity_key"], end["entity_key"]),
        undo_until=until,
    )


def format_minute(moment: datetime) -> str:
    """A time for a message, such as "2026-01-31T00:00Z"."""
    return as_utc(moment).isoformat(timespec="minutes").replace("+00:00", "Z")
