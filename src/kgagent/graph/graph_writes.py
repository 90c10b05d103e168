"""What a write of nodes and relationships reads, decides and saves: nodes first, then the
relationships that may join new ones.
"""

import json
from collections.abc import Collection, Hashable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import starmap
from types import MappingProxyType
from typing import Any, TypeVar

from kgagent.errors import InputError, KgAgentError, NodeNotFoundError
from kgagent.graph.adopted import is_foreign, without_others
from kgagent.graph.aliases import changed_aliases
from kgagent.graph.existing_records import node_exists, relationship_exists
from kgagent.graph.facts import Ending
from kgagent.graph.history import Origin, replaced_values, with_earlier
from kgagent.graph.nodes import NodeIntent
from kgagent.graph.pair_state import End, PairState
from kgagent.graph.property_names import ADOPTED, LEVEL_FIELDS, SOURCE_TEXT, TRUST
from kgagent.graph.quotes import Quotes
from kgagent.graph.record_saver import RecordSaver, changed_properties, with_properties
from kgagent.graph.record_trust import beside, trust_after
from kgagent.graph.records import NodeRecord, RelationshipRecord
from kgagent.graph.reference_forms import message_key
from kgagent.graph.relationships import RelationshipIntent, not_found
from kgagent.graph.single_values import Pairs, SingleValues
from kgagent.graph.user_graph import UserGraph
from kgagent.graph.writes import PlannedWrite, WriteOptions, WriteResult
from kgagent.models import GraphNode, GraphRelationship, Note
from kgagent.models.free_types import is_same, new_types, type_names, with_types
from kgagent.models.history import dump_history
from kgagent.models.note import times_of_note
from kgagent.models.when import (
    OPEN_END,
    beginning,
    day_number,
    first_day,
    is_past,
    periods_of,
    with_periods,
)
from kgagent.names import normalised_name, normalised_type, shorten_name
from kgagent.ontology import Ontology
from kgagent.ontology.model import as_words
from kgagent.trust import level, lower, read_trust, stored_trust

Intent = NodeIntent | RelationshipIntent
IntentT = TypeVar("IntentT", NodeIntent, RelationshipIntent)
NodeWriteResult = WriteResult[GraphNode]
RelationshipWriteResult = WriteResult[GraphRelationship]
GraphWriteResult = NodeWriteResult | RelationshipWriteResult


@dataclass
class NodeState:
    """A node as it is stored, or as the last plan leaves it; None if it does not exist."""

    record: NodeRecord | None


State = NodeState | PairState


class GraphStrategy:
    """Creates and changes the nodes and relationships of one user; see `compare_and_set`.

    Nodes that are known to be new are not read at first. If one exists by the time of the write,
    the write conflicts and is retried.

    Attributes:
        quotes: those of the notes to add that the texts of their sources do not contain.
    """

    def __init__(
        self,
        graph: UserGraph,
        options: WriteOptions | None = None,
        *,
        new: Collection[str] = (),
        stored: Mapping[str, End] = MappingProxyType({}),
        sources: Set[str] = frozenset(),
    ) -> None:
        """Prepare.

        Args:
            graph: the records of the user.
            options: how these writes differ from plain ones.
            new: keys of nodes that did not exist yet.
            stored: nodes of the user by their keys.
            sources: keys of new nodes that are only written with others.
        """
        self._graph = graph
        self._options = options or WriteOptions()
        self._trust = lower(graph.context.trust, self._options.trust)
        self._saver = RecordSaver(graph, self._options)
        self._values = SingleValues(graph, self._options, self._trust)
        self._new = frozenset(new)
        self._stored = stored
        self._sources = sources
        self._planned: dict[str, NodeRecord] = {}
        self.quotes = Quotes()

    def identity(self, intent: Intent) -> Hashable:
        """The node's key, the two nodes in either order, or the nodes that have one value of the
        type.
        """
        if isinstance(intent, NodeIntent):
            return intent.entity_key
        return frozenset(self._values.subjects(intent)) or intent.pair

    async def read(self, intents: Sequence[Intent]) -> Sequence[State]:
        """Read the nodes, and the relationships with their two nodes; intents about one record
        share its state.
        """
        new, self._new, self._planned = self._new, frozenset(), {}
        nodes = [one.entity_key for one in intents if isinstance(one, NodeIntent)]
        self._has_others = len(intents) > len(self._sources & set(nodes))
        for_update = not self._options.dry_run
        records = await self._graph.nodes.read(
            self._graph.user_id, [key for key in nodes if key not in new], for_update=for_update
        )
        states = {key: NodeState(records.get(key)) for key in nodes}
        pairs = [one for one in intents if isinstance(one, RelationshipIntent)]
        unread = [one for one in pairs if not self._is_new(one, new)]
        read = await self._graph.relationships.read_pairs(
            self._graph.user_id,
            unread,
            adopt_foreign=self._options.adopt_foreign,
            for_update=for_update,
        )
        known = {id(one): pair for one, pair in zip(unread, read, strict=True)}
        shared: Pairs = {}

        def pair_state(one: RelationshipIntent) -> PairState:
            pair = known.get(id(one)) or PairState(
                first=self._stored.get(one.from_entity_key),
                second=self._stored.get(one.to_entity_key),
                relationships=[],
            )
            return replace(pair, relationships=shared.setdefault(one.pair, pair.relationships))

        found: list[State] = [
            states[one.entity_key] if isinstance(one, NodeIntent) else pair_state(one)
            for one in intents
        ]
        await self._values.read(pairs, shared, new)
        await self.quotes.check(self._graph.nodes, self._graph.user_id, intents)
        return found

    def _is_new(self, intent: RelationshipIntent, new: frozenset[str]) -> bool:
        """Whether one of two nodes is new and the other is known, so that they have no
        relationship.
        """
        return bool(intent.pair & new) and intent.pair <= new | self._stored.keys()

    def plan(self, intent: Intent, state: State) -> PlannedWrite[Any]:
        """Decide what to write; nodes are planned before the relationships that join them.

        Raises:
            NotFoundError: what is to be changed does not exist for this user.
            AlreadyExistsError: what is to be created exists.
            InputError: a value is invalid.
        """
        intent = self.quotes.checked(intent)
        if isinstance(intent, NodeIntent):
            assert isinstance(state, NodeState)  # noqa: S101
            plan = self._plan_node(intent, state.record)
            self._planned[intent.entity_key] = state.record = plan.after
            return plan
        assert isinstance(state, PairState)  # noqa: S101
        state.relationships[:] = map(self._with_new_names, state.relationships)
        first = self._end(intent.from_entity_key, state.first)
        second = self._end(intent.to_entity_key, state.second)
        return self._plan_relationship(intent, replace(state, first=first, second=second))

    async def save(
        self, plans: Mapping[int, PlannedWrite[Any]]
    ) -> Mapping[int, WriteResult[Any] | KgAgentError]:
        """Embed and write; a plan that met a conflict is missing from the result."""
        keys = {getattr(plan.after, "entity_key", "") for plan in plans.values()}
        if self._has_others and keys <= self._sources:
            return dict.fromkeys(plans, InputError("Nothing that comes from it was written"))
        return await self._saver.save(plans, list(self._values.guards.values()))

    def _plan_node(self, intent: NodeIntent, stored: NodeRecord | None) -> PlannedWrite[NodeRecord]:
        if self._options.prepare is not None:
            intent = self._options.prepare(intent, stored)
        if stored is None:
            if intent.mode == "update" or intent.label is None:
                raise NodeNotFoundError(f"Node not found: {intent.entity_key}")
            own = {"entity_key": intent.entity_key, "user_id": self._graph.user_id}
            before = NodeRecord(
                element_id="", label=intent.label, vector_length=None, properties=own
            )
            values = {**self._first_said, **intent.initial, **intent.values}
        else:
            before, values = stored, dict(intent.values)
            if intent.edit is not None:
                values = intent.edit.values(stored)
            _check_node(intent, stored, self._graph.nodes.ontology)
            # The time of a source's text is its own.
            values = {**({} if stored.text(SOURCE_TEXT) else self._said_before(stored)), **values}
        values |= changed_aliases(before, values=values, added=intent.aliases)
        said = {**intent.initial, **values}
        intent, values = self._beside(intent, stored, values)
        plan = self._changed(intent, stored, before, values, said=said)
        return replace(plan, warnings=(*plan.warnings, *intent.remarks))

    def _plan_relationship(
        self, intent: RelationshipIntent, state: PairState
    ) -> PlannedWrite[RelationshipRecord]:
        ontology = self._graph.relationships.ontology
        stored, blank = self._graph.relationships.find(intent, state)
        if self._options.prepare is not None:
            intent = self._options.prepare(intent, stored)
        said = {**intent.initial, **intent.values}
        intent, ended, ended_texts = self._values.ending_itself(intent, stored)
        intent = asked = self._values.opened(intent, stored)
        if stored is None:
            if intent.mode == "update":
                raise not_found(intent, state)
            plain_type = {"relationship_type": as_words(blank.neo4j_type)}
            given = {**self._first_said, **plain_type, **intent.initial, **intent.values}
            intent = replace(intent, values=given)
        elif intent.mode == "create":
            raise relationship_exists(state, stored, ontology)
        else:
            intent = asked = self._following(self._on_stored(intent, stored), stored)
            said |= intent.values if intent.edit is not None else {}
            replaces_type = intent.replaces_type(stored.text("relationship_type"))
            if intent.adds_type:
                intent = self._with_added_type(intent, stored)
            when = intent.values.get("when")
            if when and replaces_type:
                ended = beginning(when)
            elif replaces_type and not intent.correction and _is_new_type(intent, stored):
                # The period was that of the former type.
                intent = replace(intent, values={**intent.values, "when": None})
            elif when:
                when = with_periods(stored.text("when"), when)
                intent = replace(intent, values={**intent.values, "when": when})
            intent = replace(intent, values={**intent.values, **self._said_before(stored)})
        before = stored or with_properties(blank, {"user_id": self._graph.user_id})
        values = {
            name: ontology.level(before.neo4j_type, name, value) if name in LEVEL_FIELDS else value
            for name, value in intent.values.items()
        }
        intent, values = self._beside(intent, stored, values, asked.values.get("when"))
        asked = replace(asked, values=asked.values if values else {})
        settled = self._values.settle(asked, stored, before, values)
        ended_notes = dict(settled.notes)
        kept = (note for note in intent.notes if note.content not in ended_notes)
        intent = replace(intent, notes=(*starmap(self._note, settled.notes), *kept))
        plan = self._changed(intent, stored, before, settled.values, said=said, ended=ended)
        state.relationships[:] = [
            plan.after,
            *(record for record in state.relationships if record is not stored),
        ]
        return replace(
            plan,
            asked_from=intent.from_entity_key,
            endings=tuple(self._plan_ending(one) for one in settled.endings),
            ended=(*(ended_texts if values else ()), *settled.texts),
            warnings=(*plan.warnings, *intent.remarks, *settled.kept),
            is_guarded=settled.is_guarded,
        )

    def _beside(
        self,
        intent: IntentT,
        stored: NodeRecord | RelationshipRecord | None,
        values: dict[str, Any],
        when: str | None = None,
    ) -> tuple[IntentT, dict[str, Any]]:
        """A write and the values that it sets; those of a record of a higher class stay, and a note
        keeps what the write says.

        Raises:
            InputError: it brings back an earlier value, or changes the text of a source.
        """
        if stored is None or level(self._trust) >= level(stored.trust):
            return intent, values
        text, remark = beside(stored, values, self._trust, self._graph.nodes.ontology)
        if remark and (intent.edit is not None or SOURCE_TEXT in values):
            raise InputError(remark)
        if intent.edit is not None:
            # What becomes of a note depends on its own class.
            return intent, {"notes": values["notes"]}
        notes = (*intent.notes, self._note(text, when)) if text else intent.notes
        remarks = (*intent.remarks, remark) if remark else intent.remarks
        return replace(intent, notes=notes, remarks=remarks), {}

    def _plan_ending(self, ending: Ending) -> PlannedWrite[RelationshipRecord]:
        """Decide what to write to a relationship that a value of another one ends."""
        before = self._with_new_names(ending.record)
        intent = RelationshipIntent(
            from_entity_key=before.from_entity_key,
            to_entity_key=before.to_entity_key,
            correction=ending.corrects,
        )
        plan = self._changed(intent, before, before, ending.values, said={}, ended=ending.since)
        self._values.replace(ending.record, plan.after)
        return plan

    @property
    def _first_said(self) -> dict[str, Any]:
        """When and where a record is first said, as far as known."""
        said = {
            "said_on": self._options.said_on,
            "source_entity_key": self._options.source_entity_key,
        }
        return {name: value for name, value in said.items() if value}

    def _said_before(self, stored: NodeRecord | RelationshipRecord) -> dict[str, Any]:
        """When and where a record was first said, if that is before what is known."""
        said = first_day(self._options.said_on) or OPEN_END
        return self._first_said if said < stored.known_since else {}

    def _changed(
        self,
        intent: Intent,
        stored: Any,  # noqa: ANN401
        before: Any,  # noqa: ANN401
        values: Mapping[str, Any],
        *,
        said: Mapping[str, Any],
        ended: str | None = None,
    ) -> PlannedWrite[Any]:
        """A record with new values and notes, and what they replace in its history; `said` are the
        values that the call itself gives.
        """
        context, options = self._graph.context, self._options
        levels = self._levels_stored_as_text(before)
        trust = lower(self._trust, read_trust(values.get(TRUST)))
        values = {name: value for name, value in values.items() if name != TRUST}
        changes = changed_properties(before, {**levels, **values}, intent.notes, context)
        if stored is None:
            if (own := stored_trust(trust)) is not None:
                changes[TRUST] = own
            return PlannedWrite(None, with_properties(before, changes), changes)
        known = with_properties(stored, levels)
        origin = Origin(
            until=context.clock(),
            by=self._graph.user_id,
            said_on=options.said_on,
            source_entity_key=options.source_entity_key,
        )
        history, earlier = with_earlier(known, values, origin, trust, corrected=intent.correction)
        earlier &= changes.keys()
        changes = {name: value for name, value in changes.items() if name not in earlier}
        others = {
            name: value
            for name, value in changes.items()
            if name not in levels or value != levels[name]
        }
        history += replaced_values(known, others, origin, ended=ended, corrected=intent.correction)
        if history != list(known.history):
            changes["history"] = dump_history(history)
        if (after := trust_after(stored, changes, said, trust)) != stored.trust:
            changes[TRUST] = stored_trust(after)
        if is_foreign(stored.properties, self._graph.nodes.ontology):
            changes = without_others(stored.properties, changes)
        names = " and ".join(sorted(earlier))
        kept = f"Kept as former: {names}, as the present one was said later"
        return PlannedWrite(
            stored, with_properties(before, changes), changes, warnings=(kept,) if earlier else ()
        )

    def _levels_stored_as_text(self, record: NodeRecord | RelationshipRecord) -> dict[str, Any]:
        """The numbers of levels that an old graph holds as words or as text."""
        if not isinstance(record, RelationshipRecord):
            return {}
        ontology = self._graph.relationships.ontology
        texts = (name for name in LEVEL_FIELDS if isinstance(record.properties.get(name), str))
        known = {name: record.known_level(ontology, name) for name in texts}
        return {name: level for name, level in known.items() if level is not None}

    def _on_stored(
        self, intent: RelationshipIntent, stored: RelationshipRecord
    ) -> RelationshipIntent:
        """A write of a relationship that exists: a type that only says the Neo4j type in words
        gives way to another.

        Such a type says nothing of a direction, so the other one may read in either.

        Raises:
            InputError: a note to edit does not exist, or see `_in_other_direction`.
        """
        if intent.edit is not None:
            return replace(intent, values=intent.edit.values(stored))
        given = intent.values.get("relationship_type")
        ontology = self._graph.relationships.ontology
        is_turned = intent.from_entity_key != stored.start
        # The type of another program's relationship is a statement with a direction.
        is_plain = not (is_turned and ADOPTED in stored.properties)
        is_plain &= _is_plain(stored)
        if given and is_plain and new_types(as_words(stored.neo4j_type), given):
            turned = {"is_reversed": not stored.properties.get("is_reversed")} if is_turned else {}
            return replace(intent, adds_type=False, values={**intent.values, **turned})
        if not given or not is_turned or type_names(given) <= ontology.symmetric_types:
            return intent
        return self._in_other_direction(intent, stored, given)

    def _following(
        self, intent: RelationshipIntent, stored: RelationshipRecord
    ) -> RelationshipIntent:
        """A write of a type that holds after the period of a relationship: it takes the place of
        the other types, as the period is theirs.
        """
        given = type_names(intent.values.get("relationship_type"))
        when = intent.values.get("when")
        told = next(iter(periods_of(when)), None)
        day = told and (told.earliest or told.latest)
        day = day or first_day(self._options.said_on) or day_number(self._graph.context.clock())
        is_other = given and not given & type_names(stored.text("relationship_type"))
        if not is_other or intent.correction or not is_past(stored.text("when"), day):
            return intent
        return replace(intent, adds_type=False, values={**intent.values, "when": when})

    def _in_other_direction(
        self, intent: RelationshipIntent, stored: RelationshipRecord, given: str
    ) -> RelationshipIntent:
        """A write whose type reads against the direction of the stored relationship.

        That Tom is "mentor of" Felix is another fact than that Felix is "mentor of" Tom, so it
        becomes a note that says it in full. The stored type is taken for given in the wrong order
        if only one of the labels can be the first, or if only notes are added.

        Raises:
            InputError: the type is to replace the stored one.
        """
        definition = self._graph.relationships.ontology.relationship(stored.neo4j_type)
        is_same_type = not new_types(stored.text("relationship_type"), given)
        if is_same_type and definition.has_fixed_direction:
            return intent
        values = dict(intent.values)
        values.pop("relationship_type")
        turned = {
            "relationship_type": given,
            "is_reversed": not stored.properties.get("is_reversed"),
        }
        said = with_properties(stored, turned).triplet
        if is_same_type and intent.notes and not values:
            remark = (
                f"Only the notes were stored, not {said!r}: the relationship is {stored.triplet!r}"
            )
            return replace(intent, values=values, remarks=(remark,))
        if not intent.adds_type:
            raise _opposite_direction(stored)
        description = values.pop("description", None) or ""
        if normalised_type(given) not in normalised_type(description):
            description = f"{said}: {description}" if description else said
        note = self._note(description, values.pop("when", None))
        remark = (
            f"{said!r} is kept as a note, because the relationship has the opposite direction: "
            f"{stored.triplet!r}"
        )
        return replace(intent, values=values, notes=(note, *intent.notes), remarks=(remark,))

    def _note(self, content: str, when: str | None) -> Note:
        """A note that keeps what a write says beside what is stored."""
        return Note(
            content=content,
            added_by=self._graph.user_id,
            date_added=self._graph.context.clock(),
            source_entity_key=self._options.source_entity_key,
            trust=self._trust,
            **times_of_note(when, self._options.said_on),
        )

    def _with_added_type(
        self, intent: RelationshipIntent, stored: RelationshipRecord
    ) -> RelationshipIntent:
        """A write that adds a type; a second description becomes a note, with its time.

        The time of a relationship is that of all its types, so that of one becomes a note too.

        Raises:
            InputError: the relationship would have too many types.
        """
        old, given = stored.text("relationship_type"), intent.values.get("relationship_type")
        if not given or not old:
            return intent
        values = {**intent.values, "relationship_type": with_types(old, given)}
        if is_same(old, given) or level(self._trust) < level(stored.trust):
            return replace(intent, values=values)
        when, content = values.pop("when", None), None
        if values.get("description") and stored.text("description") not in {
            "",
            values["description"],
        }:
            content = values.pop("description")
        elif when:
            content = f"{with_properties(stored, {'relationship_type': given}).triplet}."
        added = (self._note(content, when),) if content else ()
        return replace(intent, values=values, notes=(*added, *intent.notes))

    def _end(self, key: str, stored: End | None) -> End | None:
        """A node of a relationship as it will be."""
        record = self._planned.get(key)
        if record is None:
            return stored
        return End(
            element_id=record.element_id,
            entity_key=key,
            label=record.label,
            name=record.text("name"),
        )

    def _with_new_names(self, record: RelationshipRecord) -> RelationshipRecord:
        """A relationship with the names that its nodes will have."""
        names = {key: node.text("name") for key, node in self._planned.items()}
        first = names.get(record.from_entity_key, record.from_name)
        second = names.get(record.to_entity_key, record.to_name)
        if (first, second) == (record.from_name, record.to_name):
            return record
        return replace(record, from_name=first, to_name=second)


def _is_new_type(intent: RelationshipIntent, stored: RelationshipRecord) -> bool:
    """Whether a relationship that had a type becomes something that it was not before."""
    given = str(intent.values.get("relationship_type") or "")
    return not _is_plain(stored) and bool(new_types(stored.text("relationship_type"), given))


def _is_plain(stored: RelationshipRecord) -> bool:
    """Whether the type of a relationship only says its Neo4j type in words."""
    return is_same(stored.text("relationship_type"), as_words(stored.neo4j_type))


def _check_node(intent: NodeIntent, stored: NodeRecord, ontology: Ontology) -> None:
    """Refuse a node that exists where another one is meant, and a name that its key depends on.

    Raises:
        AlreadyExistsError: the node to create exists.
        InputError: it has another label, or the name to change is part of its key.
    """
    old, new = stored.text("name"), intent.values.get("name")
    if intent.label not in {None, stored.label}:
        if intent.mode == "create":
            raise InputError(
                f"This {intent.label} would have the key of the {stored.label} {old!r}; choose "
                f"another name"
            )
        raise InputError(f"{old!r} has the label {stored.label}, not {intent.label}")
    if intent.mode == "create":
        raise node_exists(stored)
    is_renamed = new is not None and normalised_name(new) != normalised_name(old)
    if is_renamed and ontology.label(stored.label).key_includes_name:
        raise InputError(
            f"Nodes of label {stored.label} are identified by their names, so {old!r} cannot "
            f"become {new!r}; give the new one in aliases, and both refer to it"
        )


def _opposite_direction(stored: RelationshipRecord) -> InputError:
    """The error for a type that is to replace the stored one and reads in the other direction."""
    start, end = stored.ends_in_direction
    names = {stored.from_entity_key: stored.from_name, stored.to_entity_key: stored.to_name}
    ends = json.dumps({"from": message_key(start), "to": message_key(end)})
    return InputError(
        f"The relationship exists in the opposite direction: {stored.triplet!r}. Nothing was "
        f"stored. Repeat it with "
        f"{ends}, without relationship_type or with one that reads from "
        f"{shorten_name(names[start])} to "
        f"{shorten_name(names[end])}"
    )
