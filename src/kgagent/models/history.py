"""The history of a node or relationship: earlier values, and the JSON string in which they are stored."""

from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict, JsonValue, TypeAdapter, ValidationError

from kgagent.models.note import UtcTime

MAX_ENTRIES = 100
"""Entries that a record keeps, the newest."""


class HistoryEntry(BaseModel):
    """A value that a write replaced or removed.

    Attributes:
        field: the property: `name`, `description`, `relationship_type`, `attitude`, `proximity` or `when`.
        value: what it was; attitude and proximity from 1 to 5.
        until: time of the write that replaced it; None if unknown.
        by: user id of the author of that write.
        source_entity_key: what that write came from, usually a Source node.
        corrected: whether the value was never right, instead of having changed.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    field: str
    value: JsonValue
    until: UtcTime | None = None
    by: str = "unknown"
    source_entity_key: str | None = None
    corrected: bool = False


_HISTORY = TypeAdapter(tuple[HistoryEntry, ...])


def parse_history(stored: object) -> tuple[HistoryEntry, ...]:
    """Read a stored history, the oldest entry first; another program's value becomes an entry, so that it is kept."""
    if stored is None or stored in ("", []):
        return ()
    if isinstance(stored, str):
        try:
            return _HISTORY.validate_json(stored)
        except ValidationError:
            pass
    value = stored if isinstance(stored, str | int | float | bool) else str(stored)
    return (HistoryEntry(field="history", value=value),)


def dump_history(entries: Iterable[HistoryEntry]) -> str:
    """Write the newest entries as one JSON string, the form in which they are stored."""
    return _HISTORY.dump_json(tuple(entries)[-MAX_ENTRIES:], exclude_defaults=True).decode()
