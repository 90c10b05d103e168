"""What a write adds to the history of a record."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from kgagent.graph.property_names import LEVEL_FIELDS
from kgagent.graph.records import Record, plain
from kgagent.models.free_types import is_extended
from kgagent.models.history import HistoryEntry, dump_history
from kgagent.models.when import is_extended_when

HISTORY_FIELDS = ("name", "relationship_type", "description", *LEVEL_FIELDS, "when")
"""Properties whose earlier values are kept."""

_DATED = {"description", *LEVEL_FIELDS}
"""Those of which it is also kept when and where the first value was said."""


def history_change(
    stored: Record | None,
    changes: Mapping[str, Any],
    *,
    until: datetime,
    by: str,
    ended: str | None,
    said_on: str | None,
    source_entity_key: str | None,
    corrected: bool,
) -> dict[str, str]:
    """The new history of a record, as a property to write; nothing if no earlier value is replaced.

    The period of a type that changes is kept with the type. That there was no value is noted if it
    is known when or where the new one was said, or if there was one before.

    Args:
        stored: the record before; None for a new one.
        changes: the properties that change; None removes one.
        until: time of the write.
        ended: when the earlier values ended to hold, in EDTF, if it is known.
        said_on: when the new ones were said.
        by: user id of its author.
        source_entity_key: what it comes from.
        corrected: whether the earlier values were never right.
    """
    if stored is None:
        return {}
    noted = {entry.field for entry in stored.history}
    if said_on or source_entity_key:
        noted |= _DATED
    old = {
        name: value
        for name in HISTORY_FIELDS
        if (value := stored.properties.get(name)) not in (None, "") or name in noted & _DATED
    }
    replaced = {
        name: plain(value) if value != "" else None
        for name, value in old.items()
        if name in changes and not is_extension(name, str(value), str(changes[name]))
    }
    period = None
    if "relationship_type" in replaced and not corrected:
        period = replaced.pop("when", None) or stored.text("when") or None
    entries = [
        HistoryEntry(
            field=name,
            value=value,
            when=period if name == "relationship_type" else None,
            until=until,
            ended=ended,
            said_on=said_on,
            by=by,
            source_entity_key=source_entity_key,
            corrected=corrected,
        )
        for name, value in replaced.items()
    ]
    return {"history": dump_history([*stored.history, *entries])} if entries else {}


def is_extension(name: str, stored: str, changed: str) -> bool:
    """Whether a value still has all that a stored one says."""
    if name == "relationship_type":
        return is_extended(stored, changed)
    return name == "when" and is_extended_when(stored, changed)
