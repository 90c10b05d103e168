"""What a write of a relationship ends: the other value of a free type of which a node has one at a
time, such as "lives in", and what the write names.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kgagent.graph.facts import Ending, Fact, Span, last_period, since
from kgagent.graph.named_facts import named_fact
from kgagent.graph.record_saver import with_properties
from kgagent.graph.records import RelationshipRecord
from kgagent.graph.relationships import RelationshipIntent
from kgagent.graph.statements import Fragment, statement
from kgagent.graph.user_graph import UserGraph
from kgagent.graph.writes import WriteOptions
from kgagent.models.endings import day_text, end_before, ended, opened
from kgagent.models.free_types import type_names
from kgagent.models.when import OPEN_END, day_number
from kgagent.names import normalised_type, plain_text
from kgagent.ontology.model import Subjects

Pairs = dict[frozenset[str], list[RelationshipRecord]]
"""The relationships between two nodes, as they are stored or as the last plan leaves them."""

MAX_NAMED = 100
"""Relationships of a node among which those are that a write names."""

_TYPE = {"relationship_type"}


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
        self._types = self.graph.relationships.ontology

    def subjects(
        self, intent: RelationshipIntent, stored: Sequence[RelationshipRecord] = ()
    ) -> Subjects:
        """The nodes of which an intent may write one value, given the relationships of its pair."""
        if intent.edit is not None:
            return {}
        names = type_names(intent.new_type)
        source, target = intent.from_entity_key, intent.to_entity_key
        for record in stored:
            known = type_names(record.text("relationship_type"))
            if not names and intent.values.get("when"):
                names = known
            if names & known:
                source, target = record.ends_in_direction
        return self._types.single_value_nodes(names, source, target)

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
        texts: dict[str, list[str]] = defaultdict(list)
        for intent in intents:
            for node, of_node in self.subjects(intent, pairs[intent.pair]).items():
                names[node] |= of_node
            for node in intent.pair if intent.ends else ():
                texts[node] += [plain_text(normalised_type(one)) for one in intent.ends]
        self.guards = {
            node: {
                "key": node,
                "types": sorted(map(plain_text, names[node])),
                "ids": [],
                "found": [],
            }
            for node in sorted(names.keys() | texts.keys())
        }
        others: Pairs = defaultdict(list)
        for record in (await self._read_others(texts, new)).values():
            if record.pair not in pairs:
                others[record.pair].append(record)
        self._lists = {node: [] for node in self.guards}
        for pair, records in (*pairs.items(), *others.items()):
            for node in pair & self.guards.keys():
                self._lists[node].append(records)

    async def _read_others(
        self, texts: Mapping[str, Sequence[str]], new: frozenset[str]
    ) -> dict[str, RelationshipRecord]:
        """The values of nodes, and relationships of nodes that texts may name, by element id."""
        known = [guard for node, guard in self.guards.items() if node not in new]
        single = [guard for guard in known if guard["types"]]
        named = [{**guard, "texts": texts[guard["key"]]} for guard in known if texts[guard["key"]]]
        found: dict[str, RelationshipRecord] = {}
        if single:
            for node, records in await self._read("read_single_values", single):
                self.guards[node]["found"] = list(map(_fingerprint, records))
                found |= {record.element_id: record for record in records}
        if named:
            for _, records in await self._read("read_named_relationships", named):
                found = {record.element_id: record for record in records} | found
        return found

    async def _read(
        self, name: str, nodes: Sequence[Mapping[str, Any]]
    ) -> list[tuple[str, list[RelationshipRecord]]]:
        """The relationships of nodes that a statement finds, by the keys of the nodes."""
        store, names = self.graph.relationships.store, self.graph.relationships.names
        is_locked = not self.options.dry_run
        lock = Fragment("_relationship_lock" if is_locked else "_no_lock")
        read = store.read_for_update if is_locked else store.read
        parameters = {"user_id": self.graph.user_id, "nodes": nodes, "limit": MAX_NAMED}
        return [
            (row["key"], [RelationshipRecord.read(one) for one in row["relationships"]])
            for row in await read(statement(name, lock=lock, **names), parameters)
        ]

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
        known = set[str]() if stored is None else type_names(stored.text("relationship_type"))
        names = type_names(intent.values.get("relationship_type") if stored else intent.new_type)
        is_stated = bool(names)
        if not names and intent.values.get("when"):
            names = known
        span = last_period(intent.values.get("when")) or self._now
        # What is told of the past ends nothing by itself.
        subjects: Subjects = {}
        if span.last >= self._now.first:
            subjects = self._types.single_value_nodes(names, *record.ends_in_direction)
        named = [self._named(text, intent, record, span) for text in intent.ends]
        if not subjects and not named:
            return Settled(dict(values))
        # Of a relationship that exists, a correction may be about what else is given.
        corrects = intent.correction and (stored is None or set(intent.values) == _TYPE)
        rivals = [one for one in self._rivals(subjects, record) if one.span.last >= span.first]
        ends = [
            one
            for one in rivals
            if corrects or (one.span.first <= span.first and not self._is_conflict(one, span))
        ]
        endings = self._endings([*named, *ends], span, corrects=corrects)
        settled = Settled(
            dict(values),
            endings=endings,
            texts=tuple(ending.text for ending in endings),
            corrects=corrects,
            is_guarded=True,
        )
        fact = Fact.of(record, set().union(*subjects.values()), self._today)
        if is_stated and subjects and not fact.other_types and fact.span.last < span.first:
            when = f"{record.text('when')}; {span.begin}/.."
            settled.values["when"] = when
            fact = replace(fact, record=with_properties(record, {"when": when}))
        done = {id(ending.record) for ending in endings}
        later = [
            one for one in rivals if one.span.first > span.first and id(one.record) not in done
        ]
        if all(one.span.last < self._now.first for one in later):
            return settled
        successor = min(later, key=lambda one: one.span.first)
        past = self._already_ended(settled, fact, successor, known, intent.values.get("when"))
        again = since(before.text("said_on")) if known & fact.names else None
        if again and not before.text("when") and again.first > successor.span.first:
            # It was said again of a later day.
            when = "; ".join(filter(None, (past.values.get("when"), f"{again.begin}/..")))
            return replace(past, values={**past.values, "when": when})
        return past

    def _named(
        self, text: str, intent: RelationshipIntent, record: RelationshipRecord, span: Span
    ) -> Fact:
        """What a write says that it ends.

        Raises:
            InputError: it names no other relationship of the two nodes, or several.
        """
        others = {
            id(one): Fact.of(one, type_names(one.text("relationship_type")), self._today)
            for node in intent.pair
            for records in self._lists[node]
            for one in records
            if one.pair != record.pair
        }
        fact = named_fact(text, list(others.values()), span.first)
        fingerprint = _fingerprint(fact.record)
        guard = self.guards[next(key for key in intent.pair if key in fact.record.pair)]
        if fact.record.element_id and fingerprint not in guard["found"]:
            guard["ids"].append(fact.record.element_id)
            guard["found"].append(fingerprint)
        return fact

    def _endings(self, facts: Sequence[Fact], new: Span, *, corrects: bool) -> tuple[Ending, ...]:
        """What becomes of facts because of a new one; those that have ended already stay."""
        once = {id(fact.record): fact for fact in reversed(facts)}
        ends = [self._ending(fact, new, corrects=corrects) for fact in reversed(once.values())]
        return tuple(ending for ending in ends if ending is not None)

    def _ending(self, fact: Fact, new: Span, *, corrects: bool) -> Ending | None:
        """What becomes of a value because of a new one; None if nothing does."""
        if corrects:
            return Ending(fact.record, fact.denied(), new.begin, f"{fact.text} (was never so)")
        until = end_before(new.begin, self._now.first)
        changes = fact.ended(until) if until else {}
        if not changes:
            return None
        return Ending(fact.record, changes, new.begin, f"{fact.text} (until {until})")

    def _already_ended(
        self, settled: Settled, fact: Fact, successor: Fact, known: set[str], when: str | None
    ) -> Settled:
        """What a write comes to whose value ended when a known one began.

        Beside other types of its relationship it becomes a note, as the time of the relationship
        is that of all.

        Args:
            settled: what it comes to otherwise.
            fact: the value.
            successor: the known one.
            known: the types that the relationship had before.
            when: the time of the value, if it is given.
        """
        said = since(successor.record.text("said_on")) or self._today
        until = end_before(successor.span.begin, said.first)
        is_note = bool(fact.other_types)
        changes = fact.ended(until) if until and not (is_note and fact.names <= known) else {}
        if not until or not changes:
            return settled
        values, notes = settled.values | changes, settled.notes
        if is_note:
            notes = ((f"{fact.text}.", ended(when or "", self.options.said_on or "", until)),)
        if is_note and known:
            values.pop("when", None)
        text = f"{fact.text} (until {until}, then {successor.text})"
        return replace(settled, values=values, notes=notes, texts=(*settled.texts, text))

    def _rivals(self, subjects: Subjects, record: RelationshipRecord) -> Iterator[Fact]:
        """The other values of nodes."""
        for node, names in subjects.items():
            for other in (one for records in self._lists.get(node, ()) for one in records):
                ends = other.ends_in_direction
                of_other = self._types.single_value_nodes(
                    type_names(other.text("relationship_type")), *ends
                )
                if other.pair != record.pair and (shared := names & of_other.get(node, set())):
                    yield Fact.of(other, shared, self._today)

    def _is_conflict(self, rival: Fact, span: Span) -> bool:
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
        return since(self.options.said_on) or self._today


def _fingerprint(record: RelationshipRecord) -> str:
    """A relationship and its version, as the statement that writes compares them."""
    return f"{record.element_id} {record.properties.get('version', 0)}"
