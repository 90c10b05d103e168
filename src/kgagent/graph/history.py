"""What a write adds to the history of a record."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from kgagent.graph.property_names import LEVEL_FIELDS
from kgagent.graph.records import Record, plain
from kgagent.models.free_types import is_extended
from kgagent.models.history import HistoryEntry
from kgagent.models.when import is_earlier, is_extended_when
from kgagent.trust import Trust

HISTORY_FIELDS = ("name", "relationship_type", "description", *LEVEL_FIELDS, "when")
"""Properties whose earlier values are kept."""

_DATED = ("description", *LEVEL_FIELDS)
"""Those of which one that was said earlier is a former value."""

_FIRST_NOTED = (*_DATED, "when")
"""Those of which it is also kept when and where the first value was said."""


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Where the values of a write come from.

    Attributes:
        until: time of the write, until which it held what it replaces.
        by: user id of its author.
        said_on: when the values were said, in EDTF; None if unknown.
        source_entity_key: what they come from; None if unknown.
    """

    until: datetime
    by: str
    said_on: str | None
    source_entity_key: str | None


def replaced_values(
    stored: Record,
    changes: Mapping[str, Any],
    origin: Origin,
    *,
    ended: str | None,
    corrected: bool,
) -> list[HistoryEntry]:
    """What a write adds to the history of a record: the earlier values that it replaces.

    The period of a type that another one replaces is kept with the type; one that is added shares
    the period. That there was no value is noted if it
    is known when or where the new one was said, or if there was one before.

    Args:
        stored: the record before.
        changes: the properties that change; None removes one.
        origin: where they come from.
        ended: when the earlier values ended to hold, in EDTF, if it is known.
        corrected: whether the earlier values were never right.
    """
    noted = {entry.field for entry in stored.history}
    if origin.said_on or origin.source_entity_key:
        noted |= {*_FIRST_NOTED}
    old = {
        name: value
        for name in HISTORY_FIELDS
        if (value := stored.properties.get(name)) not in (None, "")
        or name in noted.intersection(_FIRST_NOTED)
    }
    replaced = {
        name: plain(value) if value != "" else None
        for name, value in old.items()
        if name in changes
    }
    period, former = None, replaced.get("relationship_type")
    if former is not None and not corrected:
        period = stored.text("when") or None
        if not is_extended(str(former), str(changes["relationship_type"])):
            replaced.pop("when", None)
    return [
        HistoryEntry(
            field=name,
            value=value,
            when=period if name == "relationship_type" else None,
            ended=ended,
            corrected=corrected,
            trust=stored.trust,
            **asdict(origin),
        )
        for name, value in replaced.items()
    ]


def with_earlier(
    stored: Record, changes: Mapping[str, Any], origin: Origin, trust: Trust
) -> tuple[list[HistoryEntry], set[str]]:
    """The history of a record with the values that were said before the present ones, and which of
    the properties that change these are: a description or a level of an earlier conversation is a
    former one.

    Args:
        stored: the record.
        changes: the properties that change.
        origin: where they come from.
        trust: their class.
    """
    history, earlier = list(stored.history), set[str]()
    for name in _DATED:
        value, present = changes.get(name), stored.properties.get(name)
        places = [
            place
            for place, entry in enumerate(history)
            if entry.field == name and not entry.corrected
        ]
        last = history[places[-1]] if places else None
        known = last.said_on if last else stored.text("said_on")
        if value in (None, "") or present in (None, "") or (last and last.ended):
            continue
        if not is_earlier(origin.said_on, known):
            continue
        earlier.add(name)
        if any(history[place].value == plain(value) for place in places):
            continue
        source = stored.text("source_entity_key") or None
        if last:
            began = {"said_on": origin.said_on, "source_entity_key": origin.source_entity_key}
            history[places[-1]], source = last.model_copy(update=began), last.source_entity_key
        since = replace(origin, said_on=known, source_entity_key=source)
        history.append(HistoryEntry(field=name, value=plain(value), trust=trust, **asdict(since)))
    return history, earlier


def is_extension(name: str, stored: str, changed: str) -> bool:
    """Whether a value still has all that a stored one says."""
    if name == "relationship_type":
        return is_extended(stored, changed)
    return name == "when" and is_extended_when(stored, changed)
