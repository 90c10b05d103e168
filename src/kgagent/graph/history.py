"""What a write adds to the history of a record."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from kgagent.graph.property_names import LEVEL_FIELDS
from kgagent.graph.records import Record, plain
from kgagent.models.free_types import is_extended
from kgagent.models.history import HistoryEntry
from kgagent.models.when import OPEN_END, first_day, is_extended_when
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
    stored: Record, values: Mapping[str, Any], origin: Origin, trust: Trust, *, corrected: bool
) -> tuple[list[HistoryEntry], set[str]]:
    """The history of a record with the values that were said before others, and which of the
    properties these are: a description or a level of an earlier conversation is a former one.

    The values of a field stand in the order in which they were said, each since it was first said.
    What a correction says takes the place of what was wrong, and if it was said after the new
    value, it holds again since then.

    Args:
        stored: the record.
        values: the properties that the write gives, also those that do not change.
        origin: where they come from.
        trust: their class.
        corrected: whether the values before were never right, whenever that was said.
    """
    history, earlier = list(stored.history), set[str]()
    said, since = first_day(origin.said_on) or OPEN_END, asdict(origin)
    if said < stored.known_since and values.keys() & {"said_on", *_DATED}:
        history = [*_first_noted(stored, origin), *history]
    for name in () if corrected else _DATED:
        value, present = plain(values.get(name)), plain(stored.properties.get(name)) or None
        places = [place for place, one in enumerate(history) if one.field == name]
        later = [place for place in places if history[place].known_since > said]
        changes = [place for place in places if not history[place].corrected]
        end = next((place for place in changes if place in later), len(history))
        begin = max((place for place in changes if place < end), default=-1)
        again = [history[place] for place in later if begin < place < end]
        if value in (None, "") or (end == len(history) and not again):
            continue
        earlier.add(name)
        former = HistoryEntry(field=name, value=present, trust=stored.trust, **since)
        if end < len(history):
            former = history[end].model_copy(update={**since, "ended": None})
        after = next((history[place].value for place in places if place > end), present)
        if former.value == value:
            continue
        if again:
            first = {"value": value, "corrected": False, "trust": trust}
            history[end:end] = [former, again[0].model_copy(update=first), *again[1:]]
        elif after == value:
            # It was said earlier than was known.
            history[end] = former
        else:
            changed = {"value": value, "trust": trust}
            history[end : end + 1] = [former, history[end].model_copy(update=changed)]
    return history, earlier


def _first_noted(stored: Record, origin: Origin) -> list[HistoryEntry]:
    """When and where the first values of a record were said, once something is said earlier."""
    of_record = {
        "until": stored.created,
        "by": origin.by,
        "said_on": stored.text("said_on") or None,
        "source_entity_key": stored.text("source_entity_key") or None,
    }
    first = {
        name: next(
            (getattr(one, one.replaced[name]) for one in stored.history if name in one.replaced),
            stored.properties.get(name),
        )
        for name in _FIRST_NOTED
    }
    noted = [name for name, value in first.items() if value not in (None, "")]
    return [HistoryEntry(field=name, value=None, **of_record) for name in noted]


def is_extension(name: str, stored: str, changed: str) -> bool:
    """Whether a value still has all that a stored one says."""
    if name == "relationship_type":
        return is_extended(stored, changed)
    return name == "when" and is_extended_when(stored, changed)
