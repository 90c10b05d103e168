"""The history of a node or relationship: earlier values, and the JSON string in which they are
stored.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    JsonValue,
    TypeAdapter,
    ValidationError,
)

from kgagent.models.free_types import split_types, type_names
from kgagent.models.note import Note, UtcTime, dump_notes
from kgagent.models.when import (
    OPEN_END,
    OPEN_START,
    Period,
    beginning,
    day_number,
    first_day,
    overlaps,
    periods_of,
)
from kgagent.names import normalised_type
from kgagent.trust import OWN, TRUST_CLASS, Trust, level, read_trust, stored_trust

MAX_ENTRIES = 100
"""Entries that a record keeps, the newest."""

_WORDS = ("description", "name", "relationship_type")
"""The fields that the class of trust of a record is about."""


class HistoryEntry(BaseModel):
    """A value that a write replaced or removed.

    Attributes:
        field: the property: `name`, `description`, `relationship_type`, `attitude`, `proximity` or
            `when`.
        value: what it was; attitude and proximity from 1 to 5. None if there was none, which is
            only noted to keep when and from where the present value came.
        when: of a `relationship_type`, when it held, in EDTF: the `when` of the relationship then.
        until: time of the write that replaced it; None if unknown.
        ended: when it ended to hold, in EDTF, if what took its place says when it began.
        said_on: when that was said, in EDTF; without `ended`, the value held until then.
        by: user id of the author of that write.
        source_entity_key: what that write came from, usually a Source node.
        corrected: whether the value was never right, instead of having changed.
        trust: class of the call that had written the value.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    field: str
    value: JsonValue
    when: str | None = None
    until: UtcTime | None = None
    ended: str | None = None
    said_on: str | None = None
    by: str = "unknown"
    source_entity_key: str | None = None
    corrected: bool = False
    trust: Annotated[Trust, BeforeValidator(read_trust)] = OWN

    @property
    def end_date(self) -> str | None:
        """The date on which it no longer held, in EDTF; None if unknown."""
        stated = beginning(self.ended or self.said_on or "..")
        return stated or (f"{self.until:%Y-%m-%d}" if self.until else None)

    @property
    def end(self) -> int | None:
        """The day on which it no longer held, such as 20230204; None if unknown."""
        return first_day(self.end_date)

    @property
    def known_since(self) -> int:
        """The day since when it is known what took its place, such as 20230204; 0 if unknown."""
        written = OPEN_START if self.until is None else day_number(self.until)
        return first_day(self.said_on) or written

    @property
    def replaced(self) -> dict[str, str]:
        """The properties that were replaced, each with the field that has its value: the period of
        a type goes with it.
        """
        is_type = self.field == "relationship_type" and not self.corrected
        return {self.field: "value", **({"when": "when"} if is_type else {})}


class _Value(NamedTuple):
    """A value of a field, one after the other.

    Attributes:
        began: when it began, in EDTF; None if that is not known.
        value: what it is; None if there is none from then on.
        entry: the entry that has it; None for the present one.
    """

    began: str | None
    value: Any
    entry: HistoryEntry | None

    @property
    def begin(self) -> int:
        """The day on which it began, such as 20230204; 0 if that is not known."""
        return first_day(self.began) or OPEN_START


def _values(present: Mapping[str, Any], history: Iterable[HistoryEntry], name: str) -> list[_Value]:
    """The values of a field, the oldest first, without those that were wrong: what was right all
    the time is there in their place.
    """
    began, found = present.get("said_on"), list[_Value]()
    for entry in history:
        if entry.field != name or entry.corrected or entry.end is None:
            continue
        if found or entry.value is not None:
            found.append(_Value(began, entry.value, entry))
        elif not entry.said_on:
            # When the first value began is not known.
            continue
        began = entry.end_date
    return [*found, _Value(began, present.get(name), None)]


def values_on(
    present: Mapping[str, Any], history: Sequence[HistoryEntry], day: int
) -> dict[str, Any]:
    """The values that a record had on a day, of the fields that had others than the present ones.

    Each value holds from the day on which the one before ended. Of those that began by a day, the
    one that stands last holds, so that a later statement about an earlier time counts. The first
    one holds from the beginning of the period `when`, or else since the record was first said. The
    period belongs to the type: a type that ended has its own, one to which another was added has
    that of both, and another period of the same type corrects the one before.

    Args:
        present: the properties of the record.
        history: its earlier values, the oldest first.
        day: the day, such as 20230204.
    """
    found: dict[str, _Value | None] = {}
    types, period = present.get("relationship_type"), present.get("when")
    for one in reversed(_values(present, history, "relationship_type")):
        if one.entry is not None:
            period = period if has_all_types(types, one.value) else one.entry.when
            types, found["relationship_type"] = one.value, one
        if one.begin <= day:
            break
    for name in ("name", "description", "attitude", "proximity"):
        every = _values(present, history, name)
        is_known = bool(period) or name == "name"
        begun = [one for one in every if one.begin <= day] or (every[:1] if is_known else [])
        found[name] = begun[-1] if begun else None
    values = {
        name: None if one is None else one.value
        for name, one in found.items()
        if (present.get(name) if one is None else one.entry)
    }
    if "relationship_type" in values:
        values["when"] = period
    classes = {name: one.entry.trust for name, one in found.items() if one and one.entry}
    return values | _trust_then(present, classes)


def _trust_then(present: Mapping[str, Any], returned: Mapping[str, Trust]) -> dict[str, Any]:
    """The class of the words of a record that got values of another time, if it may differ.

    Args:
        present: the properties of the record.
        returned: the class of each of these values.
    """
    words = {name: returned[name] for name in _WORDS if name in returned}
    if not words:
        return {}
    classes = [*words.values()]
    if "description" not in words:
        classes.append(read_trust(present.get(TRUST_CLASS)))
    return {TRUST_CLASS: stored_trust(min(classes, key=level))}


def known_on(
    present: Mapping[str, Any], history: Sequence[HistoryEntry], notes: Sequence[Note], day: int
) -> dict[str, Any]:
    """The properties by which a record as it was known on a day differs from the present one, with
    its history and its notes.

    What was written or said after that day is taken back, the newest first, corrections too: the
    value that it replaced returns, or becomes what the next known write replaced.

    Args:
        present: the properties of the record.
        history: its earlier values, the oldest first.
        notes: its notes.
        day: the day, such as 20230204.
    """
    values: dict[str, Any] = {}
    returned: dict[str, Trust] = {}
    known: list[HistoryEntry] = []
    for entry in reversed(history):
        if entry.known_since <= day:
            known.append(entry)
            continue
        for name, field in entry.replaced.items():
            value = getattr(entry, field)
            later = [place for place, one in enumerate(known) if name in one.replaced]
            if later:
                one = known[later[-1]]
                update = {one.replaced[name]: value, "trust": entry.trust}
                known[later[-1]] = one.model_copy(update=update)
            else:
                values[name], returned[name] = value, entry.trust
    values |= _trust_then(present, returned)
    if len(known) < len(history):
        values["history"] = dump_history(reversed(known)) if known else None
    if kept := [note for note in notes if note.known_since <= day]:
        return {**values, "notes": dump_notes(kept)} if len(kept) < len(notes) else values
    return {**values, "notes": None} if present.get("notes") else values


def has_all_types(types: object, former: object) -> bool:
    """Whether a text lists all types of a former one, so that only others were added."""
    return type_names(str(former or "")) <= type_names(str(types or ""))


def is_valid(record: Mapping[str, Any], period: Period) -> bool:
    """Whether a relationship with some properties holds on a day of a period at least.

    Without a `when`, it holds from the day on which it was first said, and at any time if that is
    not known either.
    """
    if periods := periods_of(record.get("when")):
        return overlaps(periods, period)
    return (first_day(record.get("said_on")) or OPEN_START) <= period.latest


class Stated(NamedTuple):
    """When and where present values of a record were last stated.

    Attributes:
        said_on: the date of the conversation, in EDTF; None if unknown.
        source_entity_key: what it came from, usually a Source node; None if unknown.
    """

    said_on: str | None
    source_entity_key: str | None


def last_stated(
    present: Mapping[str, Any], history: Iterable[HistoryEntry]
) -> dict[Stated, list[str]]:
    """When and where the type, the description and the levels of a record were last stated: names
    of the fields, without those of which neither is known.
    """
    first = Stated(present.get("said_on"), present.get("source_entity_key"))
    names = ("relationship_type", "description", "attitude", "proximity")
    found = {name: first for name in names if present.get(name)}
    for entry in history:
        if entry.field in found:
            found[entry.field] = Stated(entry.said_on, entry.source_entity_key)
    return {
        stated: [name for name in found if found[name] == stated]
        for stated in dict.fromkeys(found.values())
        if any(stated)
    }


def said_of_type(
    present: Mapping[str, Any], history: Iterable[HistoryEntry], names: Collection[str] = ()
) -> str | None:
    """When some types of a relationship were said, in EDTF; None if that is not known.

    Args:
        present: the properties of the relationship.
        history: its earlier values, the oldest first.
        names: the types, as they are compared; without any, the first one.
    """
    said = present.get("said_on") or None
    first = split_types(str(present.get("relationship_type") or ""))[:1]
    wanted = set(names) or set(map(normalised_type, first))
    for entry in history:
        if entry.field == "relationship_type" and not entry.corrected:
            said = said if wanted <= type_names(str(entry.value or "")) else entry.said_on
    return said


class FormerDescription(Note):
    """A description that a write replaced, as a statement about the time until then."""

    former: Literal[True] = True


def former_descriptions(
    present: Mapping[str, Any], history: Sequence[HistoryEntry], day: int = OPEN_END
) -> list[FormerDescription]:
    """The descriptions that a record had before the one of a day; none that was wrong.

    Args:
        present: the properties of the record.
        history: its earlier values, the oldest first.
        day: the day, such as 20230204.
    """
    found: list[FormerDescription] = []
    for one, following in pairwise(_values(present, history, "description")):
        text, entry = one.value, one.entry
        if entry and following.begin <= day and isinstance(text, str) and text.strip():
            when, ended = f"{one.began or '..'}/{following.began}", f"../{following.began}"
            found.append(
                FormerDescription(
                    content=text,
                    added_by=entry.by,
                    when=when if periods_of(when) else ended,
                    trust=entry.trust,
                )
            )
    return found


def had_other_type(history: Iterable[HistoryEntry]) -> bool:
    """Whether a relationship was something else before, with a time of its own."""
    return any(entry.field == "relationship_type" and not entry.corrected for entry in history)


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
