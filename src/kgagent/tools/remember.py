"""remember: create and update many nodes, relationships and notes in one call."""

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

from pydantic import BaseModel

from kgagent.errors import InputError, KgAgentError
from kgagent.graph.compare_and_set import compare_and_set
from kgagent.graph.graph_writes import GraphIntent, GraphStrategy, GraphWriteResult
from kgagent.graph.nodes import NodeIntent, NodeStrategy, NodeWriteResult
from kgagent.graph.pair_state import End
from kgagent.graph.property_names import LEVEL_FIELDS
from kgagent.graph.records import RelationshipRecord
from kgagent.graph.referenced_nodes import FoundNodes
from kgagent.graph.relationships import RelationshipStrategy, RelationshipWriteResult
from kgagent.graph.writes import WriteResult
from kgagent.models import GraphNode, GraphRelationship
from kgagent.models.note import Note
from kgagent.ontology import Ontology
from kgagent.tools.arguments import describe_lifetimes
from kgagent.tools.base import Tool
from kgagent.tools.context import ToolContext
from kgagent.tools.labels import known_label
from kgagent.tools.note_edits import NoteCorrection
from kgagent.tools.note_expiry import expiries
from kgagent.tools.payload import error_text, one_line
from kgagent.tools.relationship_results import describe_direction, fields_in_words, kept_description
from kgagent.tools.remember_arguments import (
    RememberArguments,
    RememberedNode,
    RememberedNote,
    RememberedRelationship,
    Unchecked,
)
from kgagent.tools.remember_plan import (
    Intents,
    RememberedNodeIntent,
    RememberedRelationshipIntent,
    kept_statement,
    node_options,
    relationship_options,
)
from kgagent.tools.remember_references import References, not_people_in, references_in, unknown_in_call
from kgagent.tools.remember_results import (
    CreatedNodeReference,
    Failure,
    ListName,
    NoteCounts,
    RememberResult,
    ReplacedValue,
    WriteCounts,
    replaced_notes,
    replaced_values,
    summary,
)
from kgagent.tools.remember_targets import Target, Targets, asked_of_targets, find_targets
from kgagent.turns import in_turns

ItemT = TypeVar("ItemT", bound=BaseModel)
ResultT = TypeVar("ResultT", NodeWriteResult, RelationshipWriteResult)
Place = tuple[ListName, int]
"""The list and the position of an item."""

MAX_NAMED = 3
"""Names that one hint repeats."""


class Remember(Tool[RememberArguments]):
    """Creates and updates nodes, relationships and notes."""

    name = "remember"
    arguments = RememberArguments
    result = RememberResult
    destructive = True
    idempotent = True

    def description(self, ontology: Ontology) -> str:
        """The description for the model."""
        return (
            f"Store what you learned in one call: nodes ({', '.join(ontology.labels)}), relationships and notes. "
            "Creates what is missing and updates what exists: a node by label and name, a relationship by its two "
            "nodes; a new type or description replaces the old. Refer to a node by name, entity_key, or `ref` of "
            'this call; "me" is the owner. Each item succeeds or fails independently. '
            'Example: {"nodes": [{"label": "Person", '
            '"name": "Ruth Calder", "description": "Naval architect in Bergen."}], "relationships": [{"from": '
            '"Ruth Calder", "to": "me", "relationship_type": "mentor of", "attitude": 5, "notes": ["Had lunch in June '
            '2023."]}], "notes": [{"on": "Harvest fair", "content": "Moved to May."}]}. '
            f"{describe_lifetimes(ontology)}"
        )

    async def run(self, context: ToolContext, arguments: RememberArguments) -> RememberResult:
        """Store the items.

        Raises:
            InputError: there are no items.
            StoreError: the database failed before anything was written.
        """
        if not (arguments.nodes or arguments.relationships or arguments.notes):
            raise InputError("Nothing to remember: give nodes, relationships or notes")
        call = _Call(context, arguments, context.write_context.clock())
        await call.validate()
        await call.resolve()
        await call.write()
        return call.result()


@dataclass
class _Call:
    """The steps of one call, and what they found out.

    Attributes:
        asked: keys of which nodes were looked up.
        stored: the nodes that were found, by their keys.
    """

    context: ToolContext
    arguments: RememberArguments
    now: datetime
    nodes: dict[int, RememberedNode] = field(default_factory=dict)
    relationships: dict[int, RememberedRelationship] = field(default_factory=dict)
    notes: dict[int, RememberedNote] = field(default_factory=dict)
    asked: frozenset[str] = frozenset()
    stored: Mapping[str, End] = field(default_factory=dict)
    targets: Targets = field(default_factory=dict)
    node_intents: dict[Place, RememberedNodeIntent] = field(default_factory=dict)
    relationship_intents: dict[Place, RememberedRelationshipIntent] = field(default_factory=dict)
    written: dict[Place, GraphWriteResult] = field(default_factory=dict)
    failures: dict[Place, KgAgentError] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)

    async def validate(self) -> None:
        """Validate the items one by one, without holding up other tasks."""
        nodes = await self._valid("nodes", self.arguments.nodes)
        ontology = self.context.ontology
        self.nodes = {
            position: node.model_copy(update={"label": known_label(ontology, node.label)})
            for position, node in nodes.items()
        }
        self.relationships = await self._valid("relationships", self.arguments.relationships)
        self.notes = await self._valid("notes", self.arguments.notes)

    async def resolve(self) -> None:
        """Find the nodes that the items mean, and decide what each item writes."""
        context = self.context
        wanted = references_in(self.relationships.values(), self.notes.values(), self.nodes.values())
        nodes = enumerate(self.arguments.nodes)
        rejected = {name: position for position, item in nodes if position not in self.nodes for name in item.names}
        not_people = not_people_in(self.relationships.values(), context.ontology)
        found = await self._looked_up(wanted, rejected, not_people)
        self.stored = found.ends()
        self.targets = await find_targets(
            context, found, self.nodes, self.now, idempotency_key=self.arguments.idempotency_key
        )
        references = await References.of(
            context, found, self.nodes, self.targets, wanted, rejected=rejected, not_people=not_people
        )
        targets = [target for target in self.targets.values() if isinstance(target, Target)]
        self.notices = [*references.notices.values(), *(target.notice for target in targets if target.notice)]
        intents = Intents(context, found, references, self.now)
        for position, node in self.nodes.items():
            target = self.targets[position]
            if not isinstance(target, Target):
                self.failures["nodes", position] = target
                continue
            try:
                self.node_intents["nodes", position] = intents.node(node, target)
            except InputError as error:
                self.failures["nodes", position] = error
        for position, relationship in self.relationships.items():
            try:
                self.relationship_intents["relationships", position] = intents.relationship(relationship)
            except InputError as error:
                self.failures["relationships", position] = error
        for position, note in self.notes.items():
            try:
                intent = intents.note(note)
            except InputError as error:
                self.failures["notes", position] = error
                continue
            if isinstance(intent, RememberedRelationshipIntent):
                self.relationship_intents["notes", position] = intent
            else:
                self.node_intents["notes", position] = intent

    async def _looked_up(
        self, wanted: Sequence[str], rejected: Collection[str], not_people: Collection[str]
    ) -> FoundNodes:
        """What the database finds for all items of the call: one statement, two more if references are unknown."""
        references, user_id = self.context.references, self.context.user_id
        texts, keys = await asked_of_targets(self.context, self.nodes, self.now)
        self.asked = frozenset(keys)
        is_owner = any(node.is_owner for node in self.nodes.values())
        found = await references.look_up(user_id, [*texts, *wanted], keys=keys, with_owners=is_owner)
        exact = {node.entity_key for node in self.nodes.values() if node.name is not None}
        given = [node.entity_key for node in self.nodes.values() if node.entity_key and node.entity_key not in exact]
        unknown = await unknown_in_call([*given, *wanted], self.nodes.values(), rejected)
        await references.look_up_unknown(user_id, found, unknown, whole=not_people)
        return found

    async def write(self) -> None:
        """Write the nodes and the relationships, with one request for embeddings."""
        context = self.context
        writes = context.write_context
        nodes = NodeStrategy(context.nodes, writes, user_id=context.user_id, options=node_options())
        relationships = RelationshipStrategy(
            context.relationships, writes, user_id=context.user_id, options=relationship_options(context.ontology)
        )
        intents: dict[Place, GraphIntent] = {**self.node_intents, **self.relationship_intents}
        strategy = GraphStrategy(nodes, relationships, new=self.asked - self.stored.keys(), stored=self.stored)
        written = await compare_and_set(strategy, list(intents.values()), attempts=writes.attempts)
        for place, outcome in zip(intents, written, strict=True):
            if isinstance(outcome, KgAgentError):
                self.failures[place] = outcome
            elif isinstance(outcome, WriteResult):
                self.written[place] = outcome
        missing = self._missing_nodes()
        for place, intent in intents.items():
            keys = (
                [intent.entity_key]
                if isinstance(intent, NodeIntent)
                else [intent.from_entity_key, intent.to_entity_key]
            )
            positions = [missing[key] for key in keys if key in missing]
            if place[0] != "nodes" and place in self.failures and positions:
                self.failures[place] = _not_written(positions[0])

    def result(self) -> RememberResult:
        """Describe what was written."""
        places = self.written
        corrections = {place: item for place in places if (item := self._correction(place)) is not None}
        corrected = [item for place, item in corrections.items() if places[place].changed]
        failed = {
            name: sum(place[0] == name for place in self.failures) for name in ("nodes", "relationships", "notes")
        }
        nodes = WriteCounts.of(_of_list(self.written_nodes, "nodes"), failed["nodes"])
        relationships = WriteCounts.of(_of_list(self.written_relationships, "relationships"), failed["relationships"])
        notes = NoteCounts(
            added=sum(
                len(one.record.notes) - len(one.stored.notes if one.stored else ())
                for place, one in places.items()
                if place not in corrections
            ),
            unchanged=sum(self._unchanged(place, one) for place, one in places.items() if place[0] == "notes"),
            corrected=sum(bool(item.content) for item in corrected),
            removed=sum(not item.content for item in corrected),
            failed=failed["notes"],
        )
        created = {
            result.record.entity_key: CreatedNodeReference(
                entity_key=result.record.entity_key,
                label=result.record.label,
                name=result.record.name,
                ref=self.nodes[place[1]].ref,
            )
            for place, result in self.written_nodes.items()
            if result.created
        }
        return RememberResult(
            message=summary(nodes, relationships, notes),
            nodes=nodes,
            relationships=relationships,
            notes_added=notes.added,
            notes_corrected=notes.corrected,
            notes_removed=notes.removed,
            note_expiries=expiries(self._notes_given()),
            created_nodes=tuple(created.values()),
            failures=tuple(
                Failure(list=name, index=index, name=self._title(name, index), error=one_line(error_text(error)))
                for (name, index), error in sorted(self.failures.items())
            ),
            replaced=tuple(self._replaced()),
            hints=tuple(self._hints()),
            embeddings=sum(one.embedded for one in places.values()),
            written=tuple({_identity(one.record): one.record for one in places.values()}.values()),
        )

    async def _valid(self, name: ListName, items: Sequence[Unchecked[ItemT]]) -> dict[int, ItemT]:
        valid: dict[int, ItemT] = {}
        for position, outcome in enumerate(await in_turns(_validated, items)):
            if isinstance(outcome, InputError):
                self.failures[name, position] = outcome
            else:
                valid[position] = outcome
        return valid

    @property
    def written_nodes(self) -> dict[Place, NodeWriteResult]:
        """What was written of nodes."""
        return {place: one for place, one in self.written.items() if isinstance(one.record, GraphNode)}

    @property
    def written_relationships(self) -> dict[Place, RelationshipWriteResult]:
        """What was written of relationships."""
        return {place: one for place, one in self.written.items() if isinstance(one.record, GraphRelationship)}

    def _missing_nodes(self) -> dict[str, int]:
        """Keys of new nodes that were not written, with the positions of their items."""
        present = {result.record.entity_key for result in self.written_nodes.values()}
        return {
            target.entity_key: position
            for position, target in self.targets.items()
            if isinstance(target, Target) and target.is_new and target.entity_key not in present
        }

    def _title(self, name: ListName, index: int) -> str:
        items: Mapping[str, Sequence[Unchecked[Any]]] = {
            "nodes": self.arguments.nodes,
            "relationships": self.arguments.relationships,
            "notes": self.arguments.notes,
        }
        return items[name][index].title

    def _correction(self, place: Place) -> NoteCorrection | None:
        return self._intent(place).correction

    def _intent(self, place: Place) -> RememberedNodeIntent | RememberedRelationshipIntent:
        return self.node_intents.get(place) or self.relationship_intents[place]

    def _unchanged(self, place: Place, written: NodeWriteResult | RelationshipWriteResult) -> int:
        """How many items of the list of notes, which were written together, changed nothing."""
        intent = self._intent(place)
        if intent.correction is not None or written.stored is None:
            return int(not written.changed)
        added = len(written.record.notes) - len(written.stored.notes)
        extended = sum(new != old for new, old in zip(written.record.notes, written.stored.notes, strict=False))
        return len(intent.notes) - added - extended

    def _notes_given(self) -> list[Note]:
        """The notes of the call as they are stored."""
        given: list[Note] = []
        for place, written in self.written.items():
            intent = self._intent(place)
            contents = {note.content for note in intent.notes}
            contents |= {intent.correction.content} if intent.correction else set()
            given += [note for note in written.record.notes if note.content in contents]
        return given

    def _replaced(self) -> list[ReplacedValue]:
        replaced = [
            value
            for node in self.written_nodes.values()
            for value in replaced_values(node.record.name, node, ("name", "description"))
        ]
        for relationship in self.written_relationships.values():
            triplet = relationship.record.triplet
            values = [
                ReplacedValue(item=triplet, field=name, old=old)
                for name, old in fields_in_words(relationship, self.context.ontology).items()
            ]
            values += replaced_values(triplet, relationship, ("description",))
            kept = _kept_statement(relationship)
            replaced += [
                value.model_copy(update={"kept_as_note": kept}) if kept and value.field not in LEVEL_FIELDS else value
                for value in values
            ]
        for place, written in self.written.items():
            if written.stored is not None and self._correction(place) is not None:
                replaced += replaced_notes(written.record, written.stored.notes)
        return replaced

    def _hints(self) -> list[str]:
        """Warnings of the writes, levels that were omitted, relationships stored in reverse, and kept descriptions."""
        hints = self._other_thing() + self.notices
        hints += [warning for node in self.written_nodes.values() for warning in node.warnings]
        for (name, index), written in self.written_relationships.items():
            hints += [f"{name}[{index}] was written without {error.field}: {error}" for error in written.omitted]
            hints += written.warnings
            if name == "relationships" and written.changed and not written.created:
                direction = describe_direction(written.record)
                kept = None if self.relationships[index].description else kept_description(written)
                hints += [f"relationships[{index}]: {hint}" for hint in (direction, kept) if hint]
        return list(dict.fromkeys(hints))

    def _other_thing(self) -> list[str]:
        """What to do if an item was taken for an older node of its name, whose description it replaced."""
        ontology = self.context.ontology
        distinguished = {item.name for item in self.nodes.values() if item.new}
        keys = {
            written.record.entity_key: written.record.name
            for (list_name, index), written in self.written_nodes.items()
            if list_name == "nodes"
            and self.nodes[index].entity_key is None
            and self.nodes[index].name not in distinguished
            and not written.record.properties.get("is_owner")
            and (not ontology.label(written.record.label).key_includes_name or _notice(self.targets[index]))
            and replaced_values("", written, ("description",))
        }
        if not keys:
            return []
        shown = " or ".join(list(dict.fromkeys(keys.values()))[:MAX_NAMED])
        intents = self.relationship_intents.values()
        related = any(keys.keys() & {one.from_entity_key, one.to_entity_key} for one in intents)
        undo = ", undo the relationships of this call that went there" if related else ""
        return [f'If another {shown} is meant, restore the old description{undo} and repeat the item with "new": true']


def _validated(item: Unchecked[ItemT]) -> ItemT | InputError:
    try:
        return item.validated()
    except InputError as error:
        return error


def _notice(target: Target | KgAgentError) -> str:
    return target.notice if isinstance(target, Target) else ""


def _not_written(position: int) -> InputError:
    return InputError(f"nodes[{position}] was not written")


def _kept_statement(written: RelationshipWriteResult) -> str:
    """The note that keeps what a relationship stated before its type was replaced; empty if there is none."""
    stored, record = written.stored, written.record
    if not isinstance(stored, RelationshipRecord):
        return ""
    kept = kept_statement(stored, record.relationship_type)
    return kept if kept in {note.content for note in record.notes} else ""


def _identity(record: GraphNode | GraphRelationship) -> Hashable:
    """What the records of several items that write one node or relationship share."""
    if isinstance(record, GraphNode):
        return record.entity_key
    return frozenset((record.from_entity_key, record.to_entity_key)), record.neo4j_type


def _of_list(written: Mapping[Place, Any], name: ListName) -> list[Any]:
    return [result for (name_of_item, _), result in written.items() if name_of_item == name]
