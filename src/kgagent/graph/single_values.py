"""Free types of which a node has one value at a time, such as "lives in": a write of a new value
ends the old one.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from kgagent.graph.record_saver import with_properties
from kgagent.graph.records import RelationshipRecord
from kgagent.graph.relationships import RelationshipIntent
from kgagent.graph.statements import Fragment, statement
from kgagent.graph.user_graph import UserGraph
from kgagent.graph.writes import WriteOptions
from kgagent.models.endings import begin_of, day_text, end_before, ended, opened
from kgagent.models.free_types import normalised_type, split_types
from kgagent.models.plain import display_name, triplet_text
from kgagent.models.when import OPEN_END, day_number, period_of, periods_of, split_periods
from kgagent.ontology import Ontology
from kgagent.ontology.model import as_words

Subjects = Mapping[str, set[str]]
"""Nodes by their keys, each with the types of which it has one value."""

Pairs = dict[frozenset[str], list[RelationshipRecord]]
"""The relationships between two nodes, as they are stored or as the last plan leaves them."""


_TYPE = {"relationship_type"}


class Span(NamedTuple):
    """When a value holds.

    Attributes:
        begin: the date at which it begins, in EDTF; ".." if that is not known.
        first: the first day of that date, such as 20230204; 0 if it is not known.
        last: its last day.
    """

    begin: str
    first: int
    last: int


@dataclass(frozen=True)
class Ending:
    """What a write makes of another value.

    Attributes:
        record: the relationship of the other value.
        values: its properties that change.
        since: when it no longer held, in EDTF.
        text: what the answer says.
    """

    record: RelationshipRecord
    values: Mapping[str, Any]
    since: str
    text: str


@dataclass(frozen=True)
class Settled:
    """What a write of a value comes to.

    Attributes:
        values: the properties of its relationship.
        notes: the texts of notes to add to it, each with its time.
        endings: what it makes of other values.
        texts: what the answer says.
        corrects: whether the other values never held.
        is_guarded: whether all this depends on the other values.
    """

    values: dict[str, Any]
    notes: tuple[tuple[str, str], ...] = ()
    endings: tuple[Ending, ...] = ()
    texts: tuple[str, ...] = ()
    corrects: bool = False
    is_guarded: bool = False


@dataclass(frozen=True)
class SingleTypes:
    """The free types of an ontology of which a node has one value, as they are compared."""

    of_source: frozenset[str]
    of_target: frozenset[str]
    symmetric: frozenset[str]

    @classmethod
    def of(cls, ontology: Ontology) -> "SingleTypes":
        """Those of an ontology."""
        lists = (
            ontology.single_valued_types,
            ontology.single_holder_types,
            ontology.symmetric_types,
        )
        return cls(*(frozenset(map(normalised_type, types)) for types in lists))

    def subjects(self, names: Iterable[str], source: str, target: str) -> Subjects:
        """The nodes of a relationship, in its direction, that have one value of one of its
        types.
        """
        found: dict[str, set[str]] = defaultdict(set)
        for name in names:
            of_both = name in self.symmetric and name in self.of_source | self.of_target
            if of_both or name in self.of_source:
                found[source].add(name)
            if of_both or name in self.of_target:
                found[target].add(name)
        return found


@dataclass(frozen=True)
class _Value:
    """A relationship with some of its types, and when it holds."""

    record: RelationshipRecord
    names: frozenset[str]
    span: Span

    @property
    def other_types(self) -> str:
        """The types of the relationship beside these."""
        types = split_types(self.record.text("relationship_type"))
        return ", ".join(name for name in types if normalised_type(name) not in self.names)

    @property
    def fact(self) -> str:
        """The value as a short sentence."""
        record = self.record
        types = split_types(record.text("relationship_type"))
        label = ", ".join(name for name in types if normalised_type(name) in self.names)
        ends = {record.from_entity_key: record.from_name, record.to_entity_key: record.to_name}
        source, target = (
            display_name({"name": ends[key]}, key) for key in record.ends_in_direction
        )
        return triplet_text(source, record.neo4j_type, target, label=label)

    def ended(self, until: str) -> dict[str, Any]:
        """The properties that change if it ends: its time, or its type if there are others."""
        if self.other_types:
            return {"relationship_type": self.other_types}
        when = self.record.text("when")
        closed = ended(when, self.record.text("said_on"), until)
        return {} if closed == when else {"when": closed}

    def denied(self) -> dict[str, Any]:
        """The properties that change if it never held."""
        if self.other_types:
            return {"relationship_type": self.other_types}
        plain = as_words(self.record.neo4j_type)
        stated = ("description", "when")
        return {
            "relationship_type": plain,
            **{name: None for name in stated if self.record.properties.get(name)},
        }


@dataclass
class SingleValues:
    """The values of the nodes that some writes are about.

    Attributes:
        graph: the records of the user.
        options: when and where the writes were said.
        guards: parameters of the statement that writes, by which it finds out whether another write
            has changed the values of a node since they were read.
    """

    graph: UserGraph
    options: WriteOptions
    guards: dict[str, dict[str, Any]] = field(default_factory=dict)
    _lists: dict[str, list[list[RelationshipRecord]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Read the ontology."""
        self._types = SingleTypes.of(self.graph.relationships.ontology)

    def subjects(
        self, intent: RelationshipIntent, stored: Sequence[RelationshipRecord] = ()
    ) -> Subjects:
        """The nodes of which an intent may write one value, given the relationships of its pair."""
        if intent.edit is not None:
            return {}
        names = _names(intent.new_type)
        source, target = intent.from_entity_key, intent.to_entity_key
        for record in stored:
            known = _names(record.text("relationship_type"))
            if not names and intent.values.get("when"):
                names = known
            if names & known:
                source, target = record.ends_in_direction
        return self._types.subjects(names, source, target)

    async def read(
        self, intents: Sequence[RelationshipIntent], pairs: Pairs, new: frozenset[str]
    ) -> None:
        """Read the values of the nodes of which intents write one.

        Args:
            intents: the intents.
            pairs: the relationships between the two nodes of each.
            new: keys of nodes that do not exist yet.
        """
        names: dict[str, set[str]] = defaultdict(set)
        for intent in intents:
            for node, of_node in self.subjects(intent, pairs[intent.pair]).items():
                names[node] |= of_node
        self.guards = {
            node: {"key": node, "types": sorted(of_node), "found": []}
            for node, of_node in sorted(names.items())
        }
        known = [guard for node, guard in self.guards.items() if node not in new]
        others = await self._read_others(known, pairs) if known else {}
        self._lists = {node: [] for node in self.guards}
        for pair, records in (*pairs.items(), *others.items()):
            for node in pair & self.guards.keys():
                self._lists[node].append(records)

    async def _read_others(self, nodes: Sequence[Mapping[str, Any]], pairs: Pairs) -> Pairs:
        """The values of nodes beside those of some pairs."""
        store, names = self.graph.relationships.store, self.graph.relationships.names
        is_locked = not self.options.dry_run
        lock = Fragment("_relationship_lock" if is_locked else "_no_lock")
        read = store.read_for_update if is_locked else store.read
        parameters = {"user_id": self.graph.user_id, "nodes": nodes}
        found: dict[str, RelationshipRecord] = {}
        for row in await read(statement("read_single_values", lock=lock, **names), parameters):
            records = [RelationshipRecord.read(one) for one in row["relationships"]]
            self.guards[row["key"]]["found"] = [
                f"{one.element_id} {one.properties.get('version', 0)}" for one in records
            ]
            found |= {record.element_id: record for record in records}
        others: Pairs = defaultdict(list)
        for record in found.values():
            others[_pair(record)].append(record)
        return {pair: records for pair, records in others.items() if pair not in pairs}

    def opened(
        self, intent: RelationshipIntent, stored: RelationshipRecord | None
    ) -> RelationshipIntent:
        """An intent, in which a date alone is the beginning of a value."""
        when = intent.values.get("when")
        if not when or not self.subjects(intent, [stored] if stored else []):
            return intent
        return replace(intent, values={**intent.values, "when": opened(when)})

    def settle(
        self,
        intent: RelationshipIntent,
        stored: RelationshipRecord | None,
        before: RelationshipRecord,
        values: Mapping[str, Any],
    ) -> Settled:
        """Decide what a write of a value ends, or what has ended it already.

        Args:
            intent: the write as it was asked for.
            stored: the relationship before; None for a new one.
            before: the same, or an empty relationship.
            values: the properties that the write sets.
        """
        if intent.edit is not None:
            return Settled(dict(values))
        record = with_properties(before, values)
        known = set[str]() if stored is None else _names(stored.text("relationship_type"))
        names = _names(intent.values.get("relationship_type") if stored else intent.new_type)
        is_stated = bool(names)
        if not names and intent.values.get("when"):
            names = known
        subjects = self._types.subjects(names, *record.ends_in_direction)
        span = _last_period(intent.values.get("when")) or self._now
        if not subjects or span.last < self._now.first:
            return Settled(dict(values))
        value = self._value(record, set().union(*subjects.values()))
        is_new = not value.names <= known
        # Of a relationship that exists, a correction may be about what else is given.
        corrects = intent.correction and (stored is None or set(intent.values) == _TYPE)
        rivals = [one for one in self._rivals(subjects, record) if one.span.last >= span.first]
        later = [one for one in rivals if one.span.first > span.first]
        if corrects or all(one.span.last < self._now.first for one in later):
            later = []
        endings = [
            ending
            for rival in rivals
            if corrects or (rival.span.first <= span.first and not self._is_conflict(rival, span))
            if (ending := self._ending(rival, span, corrects=corrects)) is not None
        ]
        settled = Settled(
            dict(values),
            endings=tuple(endings),
            texts=tuple(ending.text for ending in endings),
            corrects=corrects,
            is_guarded=True,
        )
        if is_stated and not value.other_types and value.span.last < span.first:
            when = f"{record.text('when')}; {span.begin}/.."
            settled.values["when"] = when
            value = replace(value, record=with_properties(record, {"when": when}))
        if later and (is_new or not value.other_types):
            if value.other_types and stored is not None:
                settled.values.pop("when", None)
            successor = min(later, key=lambda one: one.span.first)
            return self._already_ended(settled, value, successor, intent.values.get("when") or "")
        return settled

    def _ending(self, value: _Value, new: Span, *, corrects: bool) -> Ending | None:
        """What becomes of a value because of a new one; None if nothing does."""
        if corrects:
            return Ending(value.record, value.denied(), new.begin, f"{value.fact} (was never so)")
        until = end_before(new.begin, self._now.first)
        changes = value.ended(until) if until else {}
        if not changes:
            return None
        return Ending(value.record, changes, new.begin, f"{value.fact} (until {until})")

    def _already_ended(
        self, settled: Settled, value: _Value, successor: _Value, when: str
    ) -> Settled:
        """What a write comes to whose value, of a time `when`, ended when a known one began.

        Beside other types of its relationship it becomes a note, as the time of the relationship
        is that of all.
        """
        said = _since(successor.record.text("said_on")) or self._today
        until = end_before(successor.span.begin, said.first) or ""
        changes = value.ended(until) if until else {}
        if not changes:
            return settled
        notes: tuple[tuple[str, str], ...] = ()
        if value.other_types:
            notes = ((f"{value.fact}.", ended(when, self.options.said_on or "", until)),)
        text = f"{value.fact} (until {until}, then {successor.fact})"
        return replace(
            settled,
            values=settled.values | changes,
            notes=notes,
            texts=(*settled.texts, text),
        )

    def _rivals(self, subjects: Subjects, record: RelationshipRecord) -> Iterator[_Value]:
        """The other values of nodes."""
        for node, names in subjects.items():
            for other in (one for records in self._lists.get(node, ()) for one in records):
                ends = other.ends_in_direction
                of_other = self._types.subjects(_names(other.text("relationship_type")), *ends)
                if _pair(other) != _pair(record) and (shared := names & of_other.get(node, set())):
                    yield self._value(other, shared)

    def _value(self, record: RelationshipRecord, names: set[str]) -> _Value:
        """A value, which holds in its last period, or since it was said or written."""
        created = str(record.properties.get("created_at", ""))[:10]
        span = (
            _last_period(record.text("when"))
            or _since(record.text("said_on"))
            or (_since(created) if record.element_id else self._today)
            or Span("..", 0, OPEN_END)
        )
        return _Value(record, frozenset(names), span)

    def _is_conflict(self, rival: _Value, span: Span) -> bool:
        """Whether a value and a new one are from two sources, and neither is known to be later."""
        sources = {rival.record.text("source_entity_key"), self.options.source_entity_key or ""}
        return rival.span.first == span.first and len(sources - {""}) > 1

    def replace(self, record: RelationshipRecord, after: RelationshipRecord) -> None:
        """Put what a plan leaves of a relationship in its place."""
        for records in (one for lists in self._lists.values() for one in lists):
            records[:] = [after if one is record else one for one in records]

    @property
    def _today(self) -> Span:
        day = day_number(self.graph.context.clock())
        return Span(day_text(day), day, OPEN_END)

    @property
    def _now(self) -> Span:
        """When the writes were said, or else today."""
        return _since(self.options.said_on) or self._today


def _since(said_on: str | None) -> Span | None:
    """The time from the day on which something was said; None if that is not known."""
    periods = periods_of(said_on)
    first = periods[0].earliest if periods else 0
    return Span(begin_of(said_on or ""), first, OPEN_END) if first else None


def _last_period(when: object) -> Span | None:
    """The period of a text that ends last; None if there is none."""
    if not isinstance(when, str) or not periods_of(when):
        return None
    last = max(split_periods(when), key=lambda text: period_of(text).latest)
    return Span(begin_of(last), *period_of(last))


def _pair(record: RelationshipRecord) -> frozenset[str]:
    return frozenset((record.from_entity_key, record.to_entity_key))


def _names(relationship_type: str | None) -> set[str]:
    return set(map(normalised_type, split_types(relationship_type or "")))
