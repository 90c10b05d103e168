"""What a user's graph must hold and what a search of it must find, in plain Python without
kgagent's code.
"""

import calendar
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import Any

Ends = tuple[str, str]
Days = tuple[date, date]

LABELS = {"Ada": "Person", "Bo": "Person", "Cy": "Person", "Chess": "Concept", "Talk": "Source"}
"""The nodes of each user, by name."""

TYPES = {
    ("Person", "Person"): "has_relationship_with",
    ("Person", "Concept"): "engages_with",
    ("Person", "Source"): "engages_with_source",
    ("Concept", "Source"): "covered_in",
}
"""Neo4j type between two labels."""

LIFETIMES = {"week": 7, "month": 30, "year": 365}
"""Days after which a note expires; never with another lifetime."""

HISTORY_FIELDS = ("relationship_type", "description", "attitude", "proximity", "when")
"""Fields whose earlier values are kept, in the order in which one write adds them."""


def days_of(when: str) -> Days:
    """The first and the last day that a period in EDTF can mean."""
    if "/" not in when:
        return _one(when)
    first, last = when.split("/")
    return (
        date.min if first == ".." else _one(first)[0],
        date.max if last == ".." else _one(last)[1],
    )


def is_within(when: str, period: str) -> bool:
    """Whether one of some periods has a day in common with another one."""
    return any(overlap(days_of(one), days_of(period)) for one in when.split("; "))


def with_periods(stored: str, given: str) -> str:
    """The periods of two texts, without those of the first that one of the second overlaps.

    To say only until when it was ends the last time that had begun by then.
    """
    known, new = stored.split("; ") if stored else [], list[str]()
    for one in given.split("; "):
        begun = [old for old in known if date.min < days_of(old)[0] <= days_of(one)[1]]
        first = max(begun, key=days_of).split("/")[0] if begun and one.startswith("../") else ".."
        new.append(one if first == ".." else one.replace("..", first, 1))
    kept = [old for old in known if not is_within("; ".join(new), old)]
    return "; ".join(sorted({*kept, *new}, key=days_of))


def _one(text: str) -> Days:
    parts = text.removeprefix("about ").rstrip("~?%").split("-")
    if len(parts) == 3:
        day = date(*map(int, parts))
        return day, day
    if len(parts) == 2:
        year, month = map(int, parts)
        return date(year, month, 1), date(year, month, calendar.monthrange(year, month)[1])
    years = [int(parts[0].replace("X", digit)) for digit in "09"]
    return date(years[0], 1, 1), date(years[1], 12, 31)


def stored_when(given: str) -> str:
    """How a given time is stored."""
    periods = given.split("; ")
    return "; ".join(
        f"{one.removeprefix('about ')}~" if one.startswith("about ") else one for one in periods
    )


def _times(when: str | None, said_on: str | None) -> dict[str, str | None]:
    """The times of a note."""
    return {"when": stored_when(when) if when else said_on, "said_on": said_on}


def overlap(one: Days, other: Days) -> bool:
    """Whether two periods have a day in common."""
    return max(one[0], other[0]) <= min(one[1], other[1])


@dataclass(frozen=True)
class Note:
    """A note."""

    content: str
    when: str | None
    source: str | None
    expires_at: datetime | None = None
    said_on: str | None = None
    added: date = field(default=date.min, compare=False)

    @property
    def identity(self) -> tuple[str, str | None, str | None]:
        """What makes two notes of a record the same."""
        return self.content, self.when, self.source

    @property
    def known(self) -> date:
        """The day since when it is known."""
        return days_of(self.said_on)[0] if self.said_on else self.added

    @property
    def shown(self) -> "Note":
        """The note as answers have it."""
        return replace(self, said_on=None) if self.said_on == self.when else self


@dataclass(frozen=True)
class Replaced:
    """A value that a write replaced."""

    field: str
    value: Any
    until: datetime
    source: str | None = None
    corrected: bool = False
    ended: str | None = None
    said_on: str | None = None
    when: str | None = None

    @property
    def end(self) -> date:
        """The day on which it no longer held."""
        stated = self.ended or self.said_on
        return days_of(stated)[0] if stated else self.until.date()

    @property
    def known(self) -> date:
        """The day on which what replaced it was heard."""
        return days_of(self.said_on)[0] if self.said_on else self.until.date()

    def has(self, name: str) -> bool:
        """Whether it has a former value of a field; a type that ended has its period."""
        is_ended_type = self.field == "relationship_type" and not self.corrected
        return name == self.field or (name == "when" and is_ended_type)

    def before(self, name: str) -> Any:
        """The former value of a field."""
        return self.value if name == self.field else self.when

    def preceded_by(self, name: str, value: Any) -> "Replaced":
        """With another former value of a field."""
        return replace(self, **{"value" if name == self.field else "when": value})


@dataclass
class Stated:
    """A value that somebody stated.

    Attributes:
        value: None if there is none from then on.
        begins: the day from which it holds; None if it always did.
        when: of a type, its period.
    """

    value: Any
    begins: date | None = None
    when: str | None = None


@dataclass
class Record:
    """A node, or the relationship of two nodes: its values, notes and history.

    Attributes:
        values: the present ones.
        notes: all notes.
        history: what writes replaced.
        stated: of each field what was stated, in the order of writing; what was wrong is not there.
        said_on: when it was first said.
        source: where that was.
        created: the time of the first write.
    """

    values: dict[str, Any] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    history: list[Replaced] = field(default_factory=list)
    stated: dict[str, list[Stated]] = field(default_factory=dict)
    said_on: str | None = None
    source: str | None = None
    created: datetime = datetime.min

    def __post_init__(self) -> None:
        """Put together what was stated, from the history of a stored record or from nothing."""
        self._restate()

    def _restate(self) -> None:
        """Put together what was stated, from the history."""
        self.stated = {name: self._stated(name) for name in HISTORY_FIELDS if name != "when"}
        # The present type has the period of the record, and one to which others were added shares
        # theirs.
        following = None
        for one in reversed(self.stated["relationship_type"]):
            if following is None:
                one.when = self.values.get("when")
            elif has_all(following.value, one.value):
                one.when = following.when
            following = one

    def _stated(self, name: str) -> list[Stated]:
        """What was stated of a field, one after the other."""
        every, begins = list[Stated](), None
        for old in self.history:
            if old.field == name and not old.corrected:
                is_first = not every and old.value is None
                every += [] if is_first else [Stated(old.value, begins, old.when)]
                begins = None if is_first and not old.said_on else old.end
        is_known = self.values.get(name) not in {None, ""} or every
        return [*every, Stated(self.values.get(name) or None, begins)] if is_known else []

    def change(
        self,
        values: Mapping[str, Any],
        now: datetime,
        *,
        source: str | None = None,
        corrected: bool = False,
        ended: str | None = None,
        said_on: str | None = None,
    ) -> None:
        """Set values; None removes one.

        Args:
            values: the new values.
            now: the time of the write.
            source: where they are from.
            corrected: whether the old ones were wrong.
            ended: when the old ones ended, if the new ones say when they began.
            said_on: when that was said.
        """
        old_type = self.values.get("relationship_type")
        new_type = str(values.get("relationship_type", old_type))
        is_other_type = new_type != old_type and not new_type.startswith(f"{old_type}, ")
        if said_on and not corrected:
            told = [name for name in ("description", "attitude", "proximity") if values.get(name)]
            earlier = {
                name for name in told if self._tell(name, values[name], now, said_on, source)
            }
            values = {name: value for name, value in values.items() if name not in earlier}
        for name in HISTORY_FIELDS:
            old, new = self.values.get(name), values.get(name)
            if name not in values or new == old:
                continue
            is_noted = name != "relationship_type" and (
                said_on or source or any(one.field == name for one in self.history)
            )
            goes_with_type = name == "when" and is_other_type and not corrected
            if (old not in (None, "") or is_noted) and not goes_with_type:
                period = self.values.get("when") if name == "relationship_type" else None
                self.history.append(
                    Replaced(
                        name,
                        old or None,
                        now,
                        source,
                        corrected,
                        ended,
                        said_on,
                        None if corrected else period,
                    )
                )
        self.values |= values
        self._restate()

    def former(self, name: str) -> dict[str, Any] | None:
        """The values that a field gets if its last other value returns; None if it had none."""
        present = self.values.get(name) or None
        entries = [one for one in self.history if one.field == name and one.value != present]
        if not entries:
            return None
        last = entries[-1]
        is_period = (
            name == "relationship_type"
            and not last.corrected
            and not has_all(self.values["relationship_type"], last.value)
        )
        return {name: last.value, **({"when": last.when} if is_period else {})}

    def _tell(
        self, name: str, value: object, now: datetime, said_on: str, source: str | None
    ) -> bool:
        """Put a value among those that were said before and after it; whether there are any after.

        Each step in the life of a field is what was said and the value that it led to. The new one
        comes before the first change that was said later. Corrections of the value until then that
        were said later are said again after it.
        """
        said = days_of(said_on)[0]
        of_field = [one for one in self.history if one.field == name]
        first, *led_to = [*(one.value for one in of_field), self.values.get(name) or None]
        steps = list(zip(of_field, led_to, strict=True))
        changes = [
            number
            for number, (one, _) in enumerate(steps)
            if one.known > said and not one.corrected
        ]
        cut = changes[0] if changes else len(steps)
        before, after = steps[:cut], steps[cut:]
        last = max(
            (number for number, (one, _) in enumerate(before) if not one.corrected), default=-1
        )
        late = [one for one, _ in before[last + 1 :] if one.known > said]
        # Each leads to what the next one found, and the last to what is right by now.
        found = [*(one.value for one in late[1:]), *(to for _, to in before[-1:])]
        again = list(zip(late, found, strict=False))
        if not again and not after:
            return False
        new = Replaced(name, None, now, source, said_on=said_on)
        if (before[-1][1] if before else first) == value:
            return True
        if again:
            again[0] = (replace(again[0][0], corrected=False), again[0][1])
        elif after[0][1] == value:
            # It was said earlier than was known.
            del after[0]
        steps = [*before, (new, value), *again, *after]
        values = [first, *(to for _, to in steps)]
        life = [replace(one, value=old) for (one, _), old in zip(steps, values, strict=False)]
        self.history = [one for one in self.history if one.field != name] + life
        return True

    def add(self, note: Note, now: datetime) -> None:
        """Add a note; one that repeats a current one can only make it last longer, and be known
        earlier.
        """
        for place, old in enumerate(self.notes):
            if old.identity == note.identity and (old.expires_at is None or old.expires_at > now):
                if old.expires_at is not None and (
                    note.expires_at is None or note.expires_at > old.expires_at
                ):
                    self.notes[place] = replace(old, expires_at=note.expires_at)
                if note.known < old.known:
                    self.notes[place] = replace(self.notes[place], said_on=note.said_on)
                return
        self.notes.append(note)

    def edit(self, content: str, changes: Mapping[str, Any] | None) -> bool:
        """Change or remove the notes with a content; a repeated change finds its result. Whether
        there were any.
        """
        contents = [note.content for note in self.notes]
        if content not in contents:
            content = (changes or {}).get("content", content)
        if content not in contents:
            return False
        edited: dict[object, Note] = {}
        for note in self.notes:
            if note.content != content:
                edited[note.identity] = note
            elif changes is not None:
                after = replace(note, **changes)
                edited[after.identity] = after
        self.notes = list(edited.values())
        return True

    def hear(self, said_on: str | None, source: str | None) -> None:
        """Note that it was said on a day, which may be the first: then its first values were said
        later than that.
        """
        if not said_on or days_of(said_on)[0] >= self.known:
            return
        later = []
        for name in HISTORY_FIELDS[1:]:
            every = [one.before(name) for one in self.history if one.has(name)]
            if [*every, self.values.get(name)][0] not in (None, ""):
                later.append(Replaced(name, None, self.created, self.source, said_on=self.said_on))
        self.history = [*later, *self.history]
        self.said_on, self.source = said_on, source or self.source
        self._restate()

    def values_on(self, as_of: str | None) -> dict[str, Any]:
        """The values at the end of a period, each the last that was stated of those that had begun;
        None for the present ones.
        """
        if as_of is None:
            return self.values
        last = days_of(as_of)[1]
        since = days_of(self.said_on)[0] if self.said_on else date.min
        begun = {
            name: [one for one in every if (one.begins or since) <= last]
            for name, every in self.stated.items()
        }
        begun["relationship_type"] = (
            begun["relationship_type"] or self.stated["relationship_type"][:1]
        )
        values = {name: every[-1].value for name, every in begun.items() if every}
        if types := begun["relationship_type"]:
            values["when"] = types[-1].when
        for name, every in self.stated.items():
            if values.get("when") and every and not begun[name]:
                values[name] = every[0].value
        return values

    def is_valid(self, as_of: str) -> bool:
        """Whether a relationship holds on one of some days: within its period, or since it was
        first said.
        """
        if when := self.values_on(as_of).get("when"):
            return is_within(when, as_of)
        return self.said_on is None or days_of(self.said_on)[0] <= days_of(as_of)[1]

    @property
    def known(self) -> date:
        """The day since when it is known: when it was first said, or else created."""
        return days_of(self.said_on)[0] if self.said_on else self.created.date()

    def known_on(self, known_as_of: str | None) -> "Record | None":
        """What was known of it at the end of a period; None if nothing was.

        Of the values of a field, one after the other, those that were heard of by then.
        """
        if known_as_of is None:
            return self
        last = days_of(known_as_of)[1]
        if self.known > last:
            return None
        values, history = dict(self.values), list(self.history)
        heard = [place for place, old in enumerate(history) if old.known <= last]
        for name in HISTORY_FIELDS:
            told = [place for place, old in enumerate(history) if old.has(name)]
            # The value before each write of the field, and the present one.
            every = [self.history[place].before(name) for place in told]
            every.append(self.values.get(name))
            value = every[0]
            for number, place in enumerate(told, 1):
                if place in heard:
                    history[place] = history[place].preceded_by(name, value)
                    value = every[number]
            values[name] = value
        notes = [note for note in self.notes if note.known <= last]
        kept = [history[place] for place in heard]
        return Record(
            values, notes, kept, said_on=self.said_on, source=self.source, created=self.created
        )

    def said(self, name: str, as_of: str | None = None) -> str | None:
        """When the value of a field at the end of a period was said; None if there was none, or
        that is not known.
        """
        last = days_of(as_of)[1] if as_of else date.max
        changes = [old for old in self.history if old.field == name and old.end <= last]
        if not self.values_on(as_of).get(name):
            return None
        return changes[-1].said_on if changes else self.said_on

    @property
    def days(self) -> set[str]:
        """The days on which a relationship without a time, or a part of it, was said."""
        parts = ("relationship_type", "description", "attitude", "proximity")
        return {day for day in (self.said_on, *map(self.said, parts)) if day}

    def current_notes(self, now: datetime) -> list[Note]:
        """The notes that have not expired."""
        return [note for note in self.notes if note.expires_at is None or note.expires_at > now]


@dataclass(frozen=True)
class Filter:
    """The filters of a search; None keeps all."""

    labels: tuple[str, ...] | None = None
    neo4j_types: tuple[str, ...] | None = None
    relationship_types: tuple[str, ...] | None = None
    as_of: str | None = None
    known_as_of: str | None = None
    between: str | None = None
    min_attitude: int | None = None
    max_attitude: int | None = None
    min_proximity: int | None = None
    max_proximity: int | None = None

    def allows(self, ends: Ends, record: Record) -> bool:
        """Whether a relationship with these values can be found, by itself or by a note."""
        labels = [LABELS[name] for name in ends]
        values = record.values_on(self.as_of)
        types = (values.get("relationship_type") or "").split(", ")
        conditions = [
            self.labels is None or any(label in self.labels for label in labels),
            self.neo4j_types is None or TYPES[labels[0], labels[1]] in self.neo4j_types,
            self.relationship_types is None
            or any(name in types for name in self.relationship_types),
            self.as_of is None or record.is_valid(self.as_of),
        ]
        for name in ("attitude", "proximity"):
            level, least, most = (
                values.get(name),
                getattr(self, f"min_{name}"),
                getattr(self, f"max_{name}"),
            )
            conditions += [
                least is None or (level is not None and level >= least),
                most is None or (level is not None and level <= most),
            ]
        return all(conditions)

    def keeps(self, ends: Ends, record: Record) -> bool:
        """Whether a relationship is found by itself."""
        known = record.known_on(self.known_as_of)
        if known is None:
            return False
        # The time of the relationship itself is the present one.
        when: str = record.values.get("when") or ""
        times = {when} if when else record.days
        is_dated = self.between is None or any(is_within(time, self.between) for time in times)
        return self.allows(ends, known) and is_dated

    def keeps_node(self, record: Record) -> bool:
        """Whether a node is found by itself: between some days, if its description of then was said
        on one of them.
        """
        known = record.known_on(self.known_as_of)
        said = known.said("description", self.as_of) if known else None
        return self.between is None or (said is not None and is_within(said, self.between))

    def keeps_note(self, note: Note) -> bool:
        """Whether a note is shown."""
        if note.when is None:
            return self.between is None
        periods = note.when.split("; ")
        begun = [
            one
            for one in periods
            if self.as_of is None or days_of(one)[0] <= days_of(self.as_of)[1]
        ]
        return bool(begun) and (self.between is None or is_within("; ".join(begun), self.between))

    def notes(self, record: Record, now: datetime) -> list[Note]:
        """The notes of a record that are shown."""
        known = record.known_on(self.known_as_of)
        notes = [] if known is None else known.current_notes(now)
        return [note for note in notes if self.keeps_note(note)]


@dataclass
class UserModel:
    """The graph of one user.

    Attributes:
        keys: entity_key of each node.
        nodes: by name.
        relationships: by the names of their nodes, in the order of `LABELS`.
        deleted_nodes: by name.
        deleted: relationships, the last deletion last: their nodes, the node with which they were
            deleted or "".
    """

    keys: dict[str, str]
    nodes: dict[str, Record] = field(default_factory=dict)
    relationships: dict[Ends, Record] = field(default_factory=dict)
    deleted_nodes: dict[str, Record] = field(default_factory=dict)
    deleted: list[tuple[Ends, str, Record]] = field(default_factory=list)

    def record(self, at: str | Ends) -> Record | None:
        """A node, or the relationship of two nodes, if it exists."""
        return self.nodes.get(at) if isinstance(at, str) else self.relationships.get(at)

    @staticmethod
    def note(
        given: Mapping[str, Any],
        now: datetime,
        *,
        said_on: str | None = None,
        source: str | None = None,
    ) -> Note:
        """A note as it is stored, with the time and the source of its call."""
        days = LIFETIMES.get(given.get("lifetime") or "")
        return Note(
            given["content"],
            source=source,
            expires_at=None if days is None else now + timedelta(days=days),
            added=now.date(),
            **_times(given.get("when"), said_on),
        )

    def remember(self, call: Mapping[str, Any], now: datetime) -> int:
        """Apply a call of remember, whose items name nodes; the number of items that fail."""
        source = None if call.get("source") is None else self.keys[call["source"]]
        said_on = call.get("said_on")
        failures = 0
        for item in call["nodes"]:
            node = self.nodes[item["at"]]
            node.hear(said_on, source)
            node.change(
                {"description": item["description"]},
                now,
                source=source,
                corrected=bool(item.get("correction")),
                said_on=said_on,
            )
        for item in call["relationships"]:
            failures += not self._remember_relationship(item, now, said_on, source)
        for item in call["notes"]:
            ends = item["at"]
            record = self.record(ends)
            if (
                record is None
                and isinstance(ends, tuple)
                and item.get("replaces") is None
                and self.can_join(ends)
            ):
                record = self.new_relationship(ends, {}, now, said_on, source)
            if record is None:
                failures += 1
            elif item.get("replaces") is None:
                record.add(self.note(item, now, said_on=said_on, source=source), now)
            else:
                changes: dict[str, Any] = {"content": item["content"]}
                changes |= _times(item.get("when"), said_on) if item.get("when") or said_on else {}
                changes |= {"source": source} if source else {}
                if not record.edit(item["replaces"], changes):
                    failures += 1
                    continue
            if record is not None:
                record.hear(said_on, source)
        return failures

    def _remember_relationship(
        self, item: Mapping[str, Any], now: datetime, said_on: str | None, source: str | None
    ) -> bool:
        ends, record = item["at"], self.relationships.get(item["at"])
        given = {name: item[name] for name in HISTORY_FIELDS if item.get(name)}
        if "when" in given:
            given["when"] = stored_when(given["when"])
        if not self.can_join(ends):
            return False
        notes = [self.note(note, now, said_on=said_on, source=source) for note in item["notes"]]
        if record is None:
            record = self.new_relationship(ends, given, now, said_on, source)
        else:
            corrected = bool(item.get("correction"))
            old_type, new_type = record.values["relationship_type"], given.get("relationship_type")
            # A type that only says the Neo4j type in words gives way to any other.
            day = told_from(given.get("when"), said_on, now)
            is_after = not corrected and is_other_after(record, old_type, new_type, day)
            adds_type = not (
                item.get("replaces") or corrected or old_type == in_words(ends) or is_after
            )
            if new_type and adds_type:
                kept = self._add_type(ends, record, given)
                notes = [
                    self.note(one, now, said_on=said_on, source=source) for one in kept
                ] + notes
            is_other = (
                bool(new_type)
                and not adds_type
                and set((new_type or "").split(", ")) != set(old_type.split(", "))
            )
            ended = with_time(
                record,
                given,
                replaces=corrected or is_other,
                ends=is_after
                or (not corrected and is_new_type(ends, old_type, new_type if is_other else None)),
            )
            record.hear(said_on, source)
            record.change(
                given, now, source=source, corrected=corrected, ended=ended, said_on=said_on
            )
        for note in notes:
            record.add(note, now)
        return True

    def can_join(self, ends: Ends) -> bool:
        """Whether two nodes exist."""
        return all(name in self.nodes for name in ends)

    def new_relationship(
        self,
        ends: Ends,
        values: Mapping[str, Any],
        now: datetime,
        said_on: str | None,
        source: str | None,
    ) -> Record:
        """Create a relationship; without a type it has its Neo4j type in words."""
        values = {"relationship_type": in_words(ends), **values}
        self.relationships[ends] = record = Record(
            values, said_on=said_on, source=source, created=now
        )
        return record

    @staticmethod
    def _add_type(
        ends: Ends,
        record: Record,
        given: dict[str, Any],
    ) -> list[dict[str, Any]]:
        """Add a type to those of a relationship; the note that a second description becomes, or a time
        that is not that of all types.
        """
        known, added = (
            record.values["relationship_type"].split(", "),
            given["relationship_type"].split(", "),
        )
        given["relationship_type"] = ", ".join(
            [*known, *(name for name in added if name not in known)]
        )
        description = given.get("description")
        if set(known) == set(added):
            return []
        when = given.pop("when", None)
        if description and record.values.get("description") not in {None, "", description}:
            content = given.pop("description")
        elif when:
            content = f"{ends[0]} {', '.join(added)} {ends[1]}."
        else:
            return []
        return [{"content": content, "when": when}]

    def delete_relationship(self, ends: Ends, with_node: str) -> None:
        """Delete a relationship, perhaps with a node."""
        self.deleted.append((ends, with_node, self.relationships.pop(ends)))

    def restore_relationship(self, ends: Ends) -> bool:
        """Restore the relationship of two nodes that was deleted last; whether that is possible."""
        deleted = [one for one in self.deleted if one[0] == ends]
        if not deleted or ends in self.relationships or not self.can_join(ends):
            return False
        self.deleted.remove(deleted[-1])
        self.relationships[ends] = deleted[-1][2]
        return True

    def delete_node(self, name: str) -> bool:
        """Delete a node with its relationships; whether it exists."""
        if name not in self.nodes:
            return False
        for ends in [ends for ends in self.relationships if name in ends]:
            self.delete_relationship(ends, name)
        # Of two deletions, the last one counts.
        self.deleted_nodes[name] = self.nodes.pop(name)
        return True

    def restore_node(self, name: str) -> bool:
        """Restore a node with the relationships deleted with it whose other node exists; whether it
        was deleted.
        """
        if name not in self.deleted_nodes:
            return False
        self.nodes[name] = self.deleted_nodes.pop(name)
        for one in [one for one in self.deleted if one[1] == name]:
            if all(other in self.nodes for other in one[0]):
                self.deleted.remove(one)
                self.relationships[one[0]] = one[2]
        # What was skipped is restored by itself, and by no later restoration of the node.
        self.deleted = [
            (ends, "" if other == name else other, record) for ends, other, record in self.deleted
        ]
        return True

    def forget_deleted(self, name: str) -> None:
        """Drop what was deleted of a node that is gone."""
        self.deleted = [one for one in self.deleted if name not in one[0]]
        self.deleted_nodes.pop(name, None)

    def found(
        self, filters: Filter, now: datetime
    ) -> tuple[dict[Ends, list[Note]], dict[str, list[Note]]]:
        """The relationships and nodes that a search returns which compares all, each with the notes
        that are shown.
        """
        relationships = {
            ends: filters.notes(record, now)
            for ends, record in self.relationships.items()
            if filters.keeps(ends, record)
            or (
                (known := record.known_on(filters.known_as_of)) is not None
                and filters.allows(ends, known)
                and filters.notes(record, now)
            )
        }
        joined = {name for ends in relationships for name in ends}
        nodes = {
            name: filters.notes(record, now)
            for name, record in self.nodes.items()
            if record.known_on(filters.known_as_of) is not None
            and (filters.labels is None or LABELS[name] in filters.labels)
            and (name in joined or filters.keeps_node(record) or filters.notes(record, now))
        }
        return relationships, nodes

    def timeline(
        self, name: str, between: str | None, now: datetime
    ) -> list[tuple[Days, str, str]]:
        """The dated statements of a node and its relationships: days, time and text, in order."""
        records = [
            self.nodes[name],
            *(record for ends, record in self.relationships.items() if name in ends),
        ]
        statements = [
            (days_of(when), when, text)
            for record in records
            for every, text in _statements(record, now)
            for when in every.split("; ")
            if between is None or overlap(days_of(when), days_of(between))
        ]
        first = days_of(between)[0] if between else date.min
        return sorted(statements, key=lambda one: (one[0][0] < first, one))


def _statements(record: Record, now: datetime) -> Iterator[tuple[str, str]]:
    said_on = record.said_on
    first = record.values.get("relationship_type", "").split(", ")[0]
    for old in record.history:
        if old.field == "relationship_type" and not old.corrected and not has_all(old.value, first):
            said_on = old.said_on
    description, described = record.values.get("description") or "", record.said("description")
    if when := record.values.get("when"):
        yield when, description
    elif not record.values.get("relationship_type"):
        if described:
            yield described, description
    else:
        for day in record.days - {record.said_on} | ({said_on} if said_on else set()):
            yield day, description if described in {day, None} else ""
    yield from ((note.when, note.content) for note in record.current_notes(now) if note.when)


def has_all(text: str, other: str | None, separator: str = ", ") -> bool:
    """Whether a text lists all that another one lists."""
    return set((other or "").split(separator)) <= set(text.split(separator))


def told_from(when: str | None, said_on: str | None, now: datetime) -> date:
    """The first known day of which a statement speaks."""
    if when:
        first, last = days_of(when.split("; ")[0])
        return first if first > date.min else last
    return days_of(said_on)[0] if said_on else now.date()


def is_other_after(record: Record, old: str, new: str | None, day: date) -> bool:
    """Whether the time of a relationship was over on a day from which it is told to be something
    else: the time is that of the types that it had.
    """
    when: str = record.values.get("when") or ""
    is_over = bool(when) and all(days_of(one)[1] < day for one in when.split("; "))
    return is_over and bool(new) and not set(str(new).split(", ")) & set(old.split(", "))


def is_new_type(ends: Ends, old: str, new: str | None) -> bool:
    """Whether a relationship that had a type becomes something that it was not before."""
    return (
        bool(new)
        and old != in_words(ends)
        and not set(str(new).split(", ")) <= set(old.split(", "))
    )


def in_words(ends: Ends) -> str:
    """The type of a relationship that only says its Neo4j type."""
    return TYPES[LABELS[ends[0]], LABELS[ends[1]]].replace("_", " ")


def with_time(record: Record, values: dict[str, Any], *, replaces: bool, ends: bool) -> str | None:
    """Give values the periods that a relationship will have; when what they replace ended, if they
    say so.

    Args:
        record: the relationship.
        values: what changes.
        replaces: whether the time takes the place of the stored periods, instead of being one more.
        ends: whether what it was ends, and its period with it.
    """
    if not values.get("when"):
        if ends and record.values.get("when"):
            values["when"] = None
        return None
    if replaces:
        first = str(values["when"]).split("; ")[0].split("/")[0]
        return None if first == ".." else first
    values["when"] = with_periods(record.values.get("when") or "", values["when"])
    return None


def shown_notes(notes: Iterable[Note]) -> Sequence[tuple[str, str]]:
    """Notes in a form that can be compared."""
    return sorted((note.content, note.when or "") for note in notes)


@dataclass
class OneValue:
    """What a node has one of at a time, such as a home: on which days each value is the one.

    Attributes:
        spans: first and last days by value.
        heard: the days on which each was said to hold.
    """

    spans: dict[str, list[Days]] = field(default_factory=dict)
    heard: dict[str, set[date]] = field(default_factory=dict)

    def on(self, day: date) -> set[str]:
        """The values of a day: one, and what is told of the past beside it."""
        return {
            value
            for value, spans in self.spans.items()
            if any(first <= day <= last for first, last in spans)
        }

    def tell(self, value: str, said: date, when: Days | None = None) -> None:
        """Somebody says that a value holds: from the day on which that is said, or within days."""
        first, last = when or (said, date.max)
        if last < said:
            self._put(value, (first, last))
            return
        for other in self.spans.keys() - {value}:
            self._end(other, first, said)
        later = [
            (start, end, other)
            for other, spans in self.spans.items()
            for start, end in spans
            if start > first
        ]
        rivals = [start for start, _, other in later if other != value]
        if rivals and any(end >= said for _, end, _ in later):
            # Something else is known of a later time, up to now: this was before.
            last = min(last, min(rivals) - timedelta(days=1))
        if when or value not in self.on(first):
            self._put(value, (first, last))
        if first <= said:
            self.heard.setdefault(value, set()).add(said)

    def deny(self, value: str) -> None:
        """A value was never right."""
        self.spans.pop(value, None)
        self.heard.pop(value, None)

    def rivals(self, value: str, day: date) -> set[str]:
        """The other values that hold on a day or later."""
        return {
            other
            for other, spans in self.spans.items()
            if other != value and any(last >= day for _, last in spans)
        }

    def _put(self, value: str, span: Days) -> None:
        others = [one for one in self.spans.get(value, ()) if not overlap(one, span)]
        self.spans[value] = [*others, span]

    def _end(self, value: str, day: date, said: date) -> None:
        """Another value began on a day, which somebody said on a day: what is only known of later
        days holds again.
        """
        left: list[Days] = []
        before = day - timedelta(days=1)
        for first, last in self.spans[value]:
            if not first <= day <= last:
                left.append((first, last))
                continue
            if first < day:
                left.append((first, before))
            again = [one for one in self.heard.get(value, ()) if max(day, said) < one <= last]
            if again:
                left.append((min(again), last))
        self.spans[value] = left or [(date.min, before)]
