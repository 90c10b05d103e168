"""What a write adds to the history of a record."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from kgagent.graph.property_names import LEVEL_FIELDS
from kgagent.graph.records import Record, plain
from kgagent.models.free_types import is_extended
from kgagent.models.history import HistoryEntry, dump_history
from kgagent.models.when import is_extended_when, periods_of

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
    history = [*stored.history, *entries]
    return {"history": dump_history(history)} if entries else {}


def with_earlier(
    stored: Record,
    changes: Mapping[str, Any],
    *,
    until: datetime,
    by: str,
    said_on: str | None,
    source_entity_key: str | None,
) -> tuple[Sequence[HistoryEntry], set[str]]:
    """The history of a record with the values that were said before the present ones, and which of
    the properties that change these are: a description or a level of an earlier conversation is a
    former one.

    Args:
        stored: the record.
        changes: the properties that change.
        until: time of the write.
        by: user id of its author.
        said_on: when the values were said.
        source_entity_key: what they come from.
    """
    history, earlier, said = list(stored.history), set[str](), periods_of(said_on)
    for name in _DATED & changes.keys() if said else ():
        places = [
            place
            for place, entry in enumerate(history)
            if entry.field == name and not entry.corrected
        ]
        last = history[places[-1]] if places else None
        known = last.said_on if last else stored.text("said_on")
        if (
            changes[name] in (None, "")
            or stored.properties.get(name) in (None, "")
            or (last and last.ended)
            or not periods_of(known)
            or said >= periods_of(known)
        ):
            continue
        earlier.add(name)
        value, source = plain(changes[name]), stored.text("source_entity_key") or None
        if any(history[place].value == value for place in places):
            continue
        if last:
            began = {"said_on": said_on, "source_entity_key": source_entity_key}
            history[places[-1]], source = last.model_copy(update=began), last.source_entity_key
        history.append(
            HistoryEntry(
                field=name,
                value=value,
                until=until,
                said_on=known,
                by=by,
                source_entity_key=source,
            )
        )
    return history, earlier


def is_extension(name: str, stored: str, changed: str) -> bool:
    """Whether a value still has all that a stored one says."""
    if name == "relationship_type":
        return is_extended(stored, changed)
    return name == "when" and is_extended_when(stored, changed)
