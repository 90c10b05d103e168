"""The history of a node or relationship: earlier values, and the JSON string in which they are
stored.
"""

from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict, JsonValue, TypeAdapter, ValidationError

from kgagent.models.note import UtcTime
from kgagent.models.when import day_number, periods_of

MAX_ENTRIES = 100
"""Entries that a record keeps, the newest."""


class HistoryEntry(BaseModel):
    """A value that a write replaced or removed.

    Attributes:
        field: the property: `name`, `description`, `relationship_type`, `attitude`, `proximity` or
            `when`.
        value: what it was; attitude and proximity from 1 to 5.
        until: time of the write that replaced it; None if unknown.
        ended: when it ended to hold, in EDTF, if not with that write: the date of the conversation,
            or when what took its place began.
        by: user id of the author of that write.
        source_entity_key: what that write came from, usually a Source node.
        corrected: whether the value was never right, instead of having changed.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    field: str
    value: JsonValue
    until: UtcTime | None = None
    ended: str | None = None
    by: str = "unknown"
    source_entity_key: str | None = None
    corrected: bool = False

    @property
    def end(self) -> int | None:
        """The day on which it no longer held, such as 20230204; None if unknown."""
        if periods := periods_of(self.ended):
            return periods[0].earliest
        return None if self.until is None else day_number(self.until)


def values_at(history: Iterable[HistoryEntry], day: int) -> dict[str, JsonValue]:
    """The values that a record had on a day, of the fields that have changed since; corrected ones
    never held.
    """
    entries = [
        (end, entry) for entry in history if not entry.corrected and (end := entry.end) is not None
    ]
    # Of several that ended on one day, the first held before.
    later = sorted((one for one in reversed(entries) if one[0] > day), key=lambda one: -one[0])
    return {entry.field: entry.value for _, entry in later}


def last_end(history: Iterable[HistoryEntry], field: str) -> int | None:
    """The last day on which a value of a field ended; None if no value did."""
    ends = (entry.end for entry in history if entry.field == field and not entry.corrected)
    return max((end for end in ends if end is not None), default=None)


_HISTORY = TypeAdapter(tuple[HistoryEntry, ...])


def parse_history(stored: object) -> tuple[HistoryEntry, ...]:
    """Read a stored history, the oldest entry first; another program's value becomes an entry, so
    that it is kept.
    """
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
