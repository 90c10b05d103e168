"""What a write of a relationship ends: the other value of a free type of which a node has one at a
time, such as "lives in", and what the write names.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from kgagent.errors import InputError, NotFoundError
from kgagent.graph.facts import Ending, Fact, Span, heard_on, last_period, since
from kgagent.graph.former_value import FormerValue
from kgagent.graph.named_facts import named_fact, own_types
from kgagent.graph.property_names import HEARD_ON
from kgagent.graph.record_saver import with_properties
from kgagent.graph.records import RelationshipRecord
from kgagent.graph.relationships import RelationshipIntent
from kgagent.graph.statements import Fragment, statement
from kgagent.graph.user_graph import UserGraph
from kgagent.graph.writes import WriteOptions
from kgagent.models.endings import day_text, end_before, has_end, opened
from kgagent.models.free_types import split_types, type_names, with_types
from kgagent.models.when import (
    OPEN_END,
    day_number,
    period_of,
    split_periods,
    with_periods,
)
from kgagent.names import normalised_type, plain_text
from kgagent.ontology.model import Subjects
from kgagent.trust import Trust, level, not_changed

Pairs = dict[frozenset[str], list[RelationshipRecord]]
"""The relationships between two nodes, as they are stored or as the last plan leaves them."""

MAX_NAMED = 100
"""Relationships of a node among which those are that a write names."""

MAX_HEARD = 20
"""Days on which a value was said to hold that its relationship keeps, the newest."""

_TYPE = {"relationship_type"}


@dataclass(frozen=True)
class Settled:
    """What a write of a value comes to.

    Attributes:
        values: the properties of its relationship.
        notes: the texts of notes to add to it, each with its time.
        endings: what it makes of other values.
        texts: what the answer says.
        kept: what it does not end, as that is of a higher class than the call.
        is_guarded: whether all this depends on the other values.
    """

    values: dict[str, Any]
    notes: tuple[tuple[str, str], ...] = ()
    endings: tuple[Ending, ...] = ()
    texts: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    is_guarded: bool = False


@dataclass
class SingleValues:
    """The values of the nodes that some writes are about.

    Attributes:
        graph: the records of the user.
        options: when and where the writes were said.
        trust: their class.
        guards: parameters of the statement that writes, by which it finds out whether another write
            has changed the values of a node since they were read.
    """

    graph: UserGraph
    options: WriteOptions
    trust: Trust
    guards: dict[str, dict[str, Any]] = field(default_factory=dict)
    _lists: dict[str, list[list[RelationshipRecord]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Read the ontology."""
        self._types = self.graph.relationships.ontology

    def subjects(
        self, intent: RelationshipIntent, stored: Sequence[RelationshipRecord] = ()
    ) -> Subjects:
        """The nodes of which an intent may write one value, given the relationships of its pair."""
        source, target = intent.from_entity_key, intent.to_entity_key
        if isinstance(intent.edit, FormerValue):
            names = set[str]()
            for record in stored:
                with suppress(NotFoundError):
                    restored = with_properties(record, intent.edit.values(record))
                    names |= type_names(restored.text("relationship_type"))
                    source, target = record.ends_in_direction
            return self._types.single_value_nodes(names, source, target)
        if intent.edit is not None:
            return {}
        names = type_names(intent.new_type)
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

    def ending_itself(
        self, intent: RelationshipIntent, stored: RelationshipRecord | None
    ) -> tuple[RelationshipIntent, str | None, tuple[str, ...]]:
        """A write that ends types of its own relationship, as one of its time or of the types that
        are left; since when they no longer hold, and what the answer says.

        Raises:
            InputError: it gives a time that would be that of other types too.
        """
        if stored is None or not intent.ends or intent.edit is not None:
            return intent, None, ()
        given = split_types(intent.values.get("relationship_type") or "")
        own = Fact.of(stored, type_names(stored.text("relationship_type")), self._today)
        named = {one: own_types(one, own, type_names(", ".join(given))) for one in intent.ends}
        own = replace(own, names=frozenset().union(*named.values()))
        if not own.names:
            return intent, None, ()
        others = tuple(one for one in intent.ends if not named[one])
        intent = replace(intent, ends=others, adds_type=False)
        new = ", ".join(name for name in given if normalised_type(name) not in own.names)
        values, left = dict(intent.values), own.other_types
        when = values.get("when")
        if new:
            if left and when:
                raise InputError(
                    f"ends: {left!r} has a time of its own; give {new!r} in an item of its own"
                )
            values["relationship_type"] = with_types(left, new)
            return replace(intent, values=values), None, ()
        values.pop("relationship_type", None)
        span = last_period(when) or self._now
        end = (when or "").partition("/")[2]
        until = end if end.strip(".") else end_before(span.begin, self._now.first)
        text = f"{own.text} (until {until})"
        if intent.correction:
            values, text = {**values, **own.denied()}, f"{own.text} (was never so)"
        elif until and (left or not (when and has_end(when))):
            values.pop("when", None)
            values |= own.ended(until, span.first, self._now.first)
        return replace(intent, values=values), span.begin if left else None, (text,)

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
        record = with_properties(before, values)
        if intent.edit is not None:
            if {"when", *_TYPE} & values.keys():
                self._check_restored(record)
            return Settled(dict(values), is_guarded=bool(self.subjects(intent, [before])))
        known = set[str]() if stored is None else type_names(stored.text("relationship_type"))
        names = type_names(intent.values.get("relationship_type") if stored else intent.new_type)
        given = intent.values.get("when")
        if not names and given:
            names = known
        elif names <= known and not given and self.options.repeats:
            names = set()
        span = last_period(given) or self._now
        declared = self._types.single_value_nodes(names, *record.ends_in_direction)
        # What is told of the past ends nothing by itself.
        subjects = declared if span.last >= self._now.first else {}
        named = [self._named(text, intent, span) for text in intent.ends]
        if not declared and not named:
            return Settled(dict(values))
        # Of a relationship that exists, a correction may be about what else is given.
        corrects = intent.correction and (stored is None or set(intent.values) == _TYPE)
        rivals = [one for one in self._rivals(subjects, record) if one.last >= span.first]
        ends = [one for one in rivals if corrects or self._is_ended(one, span)]
        kept = [one for one in (*named, *ends) if level(one.record.trust) > level(self.trust)]
        endings = [
            *self._endings(named, span, corrects=intent.correction),
            *self._endings(ends, span, corrects=corrects),
        ]
        settled = Settled(
            dict(values),
            endings=tuple({id(one.record): one for one in reversed(endings)}.values())[::-1],
            texts=tuple(dict.fromkeys(one.text for one in endings)),
            kept=tuple(not_changed(one.text, one.record.trust, self.trust) for one in kept),
            is_guarded=True,
        )
        if not declared:
            return settled
        if subjects:
            settled.values.update(self._heard(before, span))
        fact = Fact.of(record, set().union(*declared.values()), self._today)
        own = None
        is_replaced = intent.replaces_type(", ".join(known)) and not corrects
        if stored and known & fact.names and not is_replaced:
            own = Fact.of(stored, fact.names, self._today)
        until = self._until(settled, span, rivals, own)
        return self._timed(settled, intent.values.get("when"), fact, own, until)

    def _until(
        self, settled: Settled, span: Span, rivals: Sequence[Fact], own: Fact | None
    ) -> tuple[str, str] | None:
        """When a new value has ended already and what followed; None if it has not.

        It ended when a later one began, if something that began later holds now.

        Args:
            settled: what the write ends.
            span: the time of the new value.
            rivals: the other values.
            own: the new value as it was known before.
        """
        changed = {id(ending.record): ending for ending in settled.endings}
        later: list[tuple[Span, Fact]] = []
        # What is of a lower class ends nothing, whichever of the two is written first.
        for rival in (one for one in rivals if level(one.record.trust) >= level(self.trust)):
            ending = changed.get(id(rival.record))
            after = rival
            if ending is not None:
                if "relationship_type" in ending.values:
                    continue
                record = with_properties(rival.record, ending.values)
                after = Fact.of(record, rival.names, self._today)
            later += [(one, after) for one in after.spans if one.first > span.first]
        known = [*(one for one, _ in later), *(own.spans if own else ())]
        if not later or not any(
            one.first > span.first and one.last >= self._now.first for one in known
        ):
            return None
        first, successor = min(later, key=lambda one: one[0].first)
        said = since(successor.record.text("said_on")) or self._today
        until = end_before(first.begin, said.first)
        return (until, successor.text) if until and span.last >= first.first else None

    def _timed(
        self,
        settled: Settled,
        given: str | None,
        fact: Fact,
        own: Fact | None,
        ended: tuple[str, str] | None,
    ) -> Settled:
        """What a write comes to with the time of its value.

        Beside other types of its relationship, a value that has ended becomes a note, as the time
        of the relationship is that of all.

        Args:
            settled: what it comes to otherwise.
            given: the time of the value, if it is given.
            fact: the value.
            own: the value as it was known before.
            ended: when it has ended and what followed, if it has.
        """
        span = last_period(given) or self._now
        periods = split_periods(given) if given else [f"{span.begin}/.."]
        if ended:
            until = ended[0]
            last = max(periods, key=lambda text: period_of(text).latest)
            closed = until if span.begin == until else f"{span.begin}/{until}"
            periods = [closed if text == last else text for text in periods]
        when, texts = "; ".join(periods), settled.texts
        is_repeated = own is not None and not given and own.on(span.first) is not None
        if is_repeated or (fact.other_types and (own or not ended)):
            return settled
        if ended:
            texts = (*texts, f"{fact.text} (until {ended[0]}, then {ended[1]})")
        if fact.other_types:
            values = {**settled.values, "relationship_type": fact.other_types}
            return replace(settled, values=values, notes=((f"{fact.text}.", when),), texts=texts)
        if not (given or ended or (own and own.record.text("when"))):
            return settled
        values = {
            **settled.values,
            "when": with_periods("; ".join(own.stated) if own else "", when),
        }
        return replace(settled, values=values, texts=texts)

    def _heard(self, before: RelationshipRecord, span: Span) -> dict[str, str]:
        """The days on which a value was said to hold, with that of the writes."""
        said = self.options.said_on
        if not said or span.first > self._now.first:
            return {}
        known = heard_on(before)
        days = sorted({*known, said}, key=period_of)[-MAX_HEARD:]
        return {} if days == known else {HEARD_ON: "; ".join(days)}

    def _check_restored(self, record: RelationshipRecord) -> None:
        """Check that a relationship with an earlier value holds beside no other one of which one
        can.

        Raises:
            InputError: it does.
        """
        day = self._today.first
        names = type_names(record.text("relationship_type"))
        declared = self._types.single_value_nodes(names, *record.ends_in_direction)
        fact = Fact.of(record, set().union(*declared.values()), self._today)
        rivals = [one for one in self._rivals(declared, record) if one.on(day)]
        if rivals and fact.on(day):
            raise InputError(
                f"{fact.text!r} would hold beside {rivals[0].text!r}, and one of them can. Say "
                "with remember which one holds; with correction if the other never did"
            )

    def _named(self, text: str, intent: RelationshipIntent, span: Span) -> Fact:
        """What a write says that it ends.

        Raises:
            InputError: it names no other relationship of the two nodes, or several.
        """
        others = {
            id(one): Fact.of(one, type_names(one.text("relationship_type")), self._today)
            for node in intent.pair
            for records in self._lists[node]
            for one in records
            if one.pair != intent.pair
        }
        fact = named_fact(text, list(others.values()), span.first)
        fingerprint = _fingerprint(fact.record)
        guard = self.guards[next(key for key in intent.pair if key in fact.record.pair)]
        if fact.record.element_id and fingerprint not in guard["found"]:
            guard["ids"].append(fact.record.element_id)
            guard["found"].append(fingerprint)
        return fact

    def _endings(self, facts: Sequence[Fact], new: Span, *, corrects: bool) -> list[Ending]:
        """What becomes of values because of a new one; those that have ended already stay."""
        ends = [self._ending(fact, new, corrects=corrects) for fact in facts]
        return [ending for ending in ends if ending is not None]

    def _ending(self, fact: Fact, new: Span, *, corrects: bool) -> Ending | None:
        """What becomes of a value because of a new one; None if nothing does."""
        if level(fact.record.trust) > level(self.trust):
            return None
        if corrects:
            text = f"{fact.text} (was never so)"
            return Ending(fact.record, fact.denied(), new.begin, text, corrects=True)
        until = end_before(new.begin, self._now.first)
        changes = fact.ended(until, new.first, self._now.first) if until else {}
        if not changes:
            return None
        return Ending(fact.record, changes, new.begin, f"{fact.text} (until {until})")

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

    def _is_ended(self, rival: Fact, new: Span) -> bool:
        """Whether a value holds when a new one begins, and is no conflict with it: two sources, of
        which neither is known to be later, or which both say when it ends.
        """
        held = rival.on(new.first)
        sources = {rival.record.text("source_entity_key"), self.options.source_entity_key or ""}
        if held is None or len(sources - {""}) < 2:  # noqa: PLR2004
            return held is not None
        return held.first < new.first and OPEN_END in {held.last, new.last}

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
