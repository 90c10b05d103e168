"""remember: create and update many nodes, relationships and notes in one call."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pydantic import BaseModel

from kgagent.errors import InputError, KgAgentError
from kgagent.graph.graph_writes import GraphWriteResult, NodeWriteResult
from kgagent.graph.nodes import NodeIntent
from kgagent.graph.note_edit import NoteEdit
from kgagent.graph.pair_state import End
from kgagent.graph.references import References
from kgagent.graph.relationships import RelationshipIntent
from kgagent.models import GraphNode, GraphRelationship, Note
from kgagent.models.note import times_of_note
from kgagent.names import normalised_name
from kgagent.ontology import Ontology
from kgagent.tools.arguments import NewNote, build_notes, known_label
from kgagent.tools.base import Tool
from kgagent.tools.context import ToolContext
from kgagent.tools.node_tools import owner_values
from kgagent.tools.payload import error_text, one_line
from kgagent.tools.references import describe_direction
from kgagent.tools.remember_arguments import (
    RememberArguments,
    RememberedNode,
    RememberedNote,
    RememberedRelationship,
    Unchecked,
)
from kgagent.tools.remember_nodes import Target, Targets, call_nodes, find_targets, new_keys
from kgagent.tools.remember_results import (
    CreatedNodeReference,
    Failure,
    ListName,
    NoteCounts,
    RememberResult,
    ReplacedValue,
    WriteCounts,
    summary,
)
from kgagent.tools.write_results import (
    MAX_OLD_TEXT,
    added_type,
    expiries,
    kept_description,
    new_notes,
    replaced_values,
)
from kgagent.tools.writing import Write, write
from kgagent.turns import in_turns

if TYPE_CHECKING:
    from kgagent.graph.graph_writes import RelationshipWriteResult

ItemT = TypeVar("ItemT", bound=BaseModel)
Position = tuple[ListName, int]
"""The list of an item, and its index there."""


class Remember(Tool[RememberArguments]):
    """Creates and updates nodes, relationships and notes."""

    name = "remember"
    arguments = RememberArguments
    result = RememberResult
    idempotent = True

    def description(self, ontology: Ontology) -> str:
        """The description for the model."""
        return (
            f"Store what you learned in one call: nodes ({', '.join(ontology.labels)}), "
            f"relationships and notes. "
            "Creates what is missing and updates what exists; a new description replaces the old, "
            "a new type is added. "
            'Refer to a node by name, entity_key, or `ref` of this call; "me" is the owner. Items '
            "fail independently. "
            'Work out dates such as "last Friday". '
            'Example: {"nodes": [{"label": "Person", "name": "Ruth Calder", "description": "Naval '
            'architect."}], '
            '"relationships": [{"from": "Ruth Calder", "to": "me", "relationship_type": "mentor '
            'of", "attitude": 5}], '
            '"notes": [{"on": "Harvest fair", "content": "Moved to May.", "when": "2023-05"}], '
            '"said_on": "2023-04-02"}.'
        )

    async def run(self, context: ToolContext, arguments: RememberArguments) -> RememberResult:
        """Store the items."""
        if not (arguments.nodes or arguments.relationships or arguments.notes):
            raise InputError("Nothing to remember: give nodes, relationships or notes")
        call = _Call(context, arguments, context.write_context.clock())
        await call.validate()
        await call.resolve()
        call.plan()
        await call.write()
        return call.result()


@dataclass
class _Call:
    """The steps of one call, and what they find out.

    Attributes:
        item_notes: the notes of valid nodes and relationships, or their errors.
        omitted: the errors of the notes among them without which an item is written.
        new: keys of nodes that do not exist yet.
        stored: the nodes that were found, by their keys.
        targets: the nodes that the items of `nodes` describe.
        references: what the references of the items mean.
        writes: what each valid item writes.
    """

    context: ToolContext
    arguments: RememberArguments
    now: datetime
    nodes: dict[int, RememberedNode] = field(default_factory=dict)
    relationships: dict[int, RememberedRelationship] = field(default_factory=dict)
    notes: dict[int, RememberedNote] = field(default_factory=dict)
    item_notes: dict[Position, list[NewNote | InputError]] = field(default_factory=dict)
    omitted: dict[Position, list[str]] = field(default_factory=dict)
    references: References = field(init=False)
    new: frozenset[str] = frozenset()
    stored: Mapping[str, End] = field(default_factory=dict)
    targets: Targets = field(default_factory=dict)
    writes: dict[Position, Write] = field(default_factory=dict)
    written: dict[Position, GraphWriteResult] = field(default_factory=dict)
    failures: dict[Position, KgAgentError] = field(default_factory=dict)
    notices: list[str] = field(default_factory=list)

    async def validate(self) -> None:
        """Validate the items one by one, without holding up other tasks."""
        nodes = await self._valid("nodes", self.arguments.nodes)
        ontology = self.context.ontology
        self.nodes = {
            index: node.model_copy(update={"label": known_label(ontology, node.label)})
            for index, node in nodes.items()
        }
        self.relationships = await self._valid("relationships", self.arguments.relationships)
        self.notes = await self._valid("notes", self.arguments.notes)
        given: dict[Position, list[Unchecked[NewNote]]] = {
            **{("nodes", index): node.notes for index, node in self.nodes.items()},
            **{
                ("relationships", index): relationship.notes
                for index, relationship in self.relationships.items()
            },
        }
        self.item_notes = {
            position: await in_turns(_validated, notes) for position, notes in given.items()
        }

    async def resolve(self) -> None:
        """Find the nodes that the items mean.

        One statement finds the nodes of all references of the call; two more are sent if references
        are unknown.
        """
        context, nodes, user_id = self.context, self.nodes, self.context.user_id
        invalid = [index for index in range(len(self.arguments.nodes)) if index not in nodes]
        rejected = {name: index for index in invalid for name in self.arguments.nodes[index].names}
        references = list(self._references())
        names = [
            text
            for item in nodes.values()
            for text in (item.name, item.entity_key)
            if text is not None
        ]
        keys = new_keys(context, nodes, self.now, self.arguments.idempotency_key)
        asked = [
            key for index, possible in keys.items() if not nodes[index].new for key in possible
        ]
        is_owner = any(node.is_owner for node in nodes.values())
        own = {
            normalised_name(name)
            for item in nodes.values()
            for name in (item.ref, item.name, *item.aliases)
            if name
        }
        own |= set(map(normalised_name, rejected))
        # An item that renames a node must name it exactly.
        changed = [
            item.entity_key for item in nodes.values() if item.entity_key and item.name is None
        ]
        self.references = found = await context.resolver.find(
            user_id,
            [text for text in (*changed, *references) if normalised_name(text) not in own],
            names=[*names, *references],
            keys=asked,
            with_owners=is_owner,
        )
        self.stored = found.by_key
        self.new = frozenset(asked) - self.stored.keys()
        self.targets = await find_targets(context, found, nodes, keys)
        for node in call_nodes(nodes, self.targets, rejected, context.ontology):
            found.add(node)
        found.advice = "Add it to nodes to create it"
        targets = [target for target in self.targets.values() if isinstance(target, Target)]
        self.notices = [
            *found.notices(references),
            *(target.notice for target in targets if target.notice),
        ]

    def plan(self) -> None:
        """Decide what each item writes."""
        plans: list[tuple[Position, Callable[[], Write]]] = [
            *((("nodes", n), partial(self._node, n, node)) for n, node in self.nodes.items()),
            *(
                (("relationships", n), partial(self._relationship, n, item))
                for n, item in self.relationships.items()
            ),
            *((("notes", n), partial(self._note, note)) for n, note in self.notes.items()),
        ]
        for position, plan in plans:
            try:
                self.writes[position] = plan()
            except InputError as error:
                self.failures[position] = error

    async def write(self) -> None:
        """Write the nodes and then the relationships, with one request for embeddings."""
        writes = dict(
            sorted(self.writes.items(), key=lambda item: isinstance(item[1], RelationshipIntent))
        )
        source = None
        # A note that refers to an unknown source fails by itself.
        with suppress(InputError):
            source = self.references.key(self.arguments.source) if self.arguments.source else None
        outcomes = await write(
            self.context,
            list(writes.values()),
            new=self.new,
            stored=self.stored,
            source_entity_key=source,
            said_on=self.arguments.said_on,
        )
        for position, outcome in zip(writes, outcomes, strict=True):
            if isinstance(outcome, KgAgentError):
                self.failures[position] = outcome
            else:
                self.written[position] = outcome
        present = {result.record.entity_key for result in self.written_nodes.values()}
        missing = {
            target.entity_key: index
            for index, target in self.targets.items()
            if isinstance(target, Target) and target.is_new and target.entity_key not in present
        }
        for position, intent in writes.items():
            keys = (
                [intent.entity_key]
                if isinstance(intent, NodeIntent)
                else [intent.from_entity_key, intent.to_entity_key]
            )
            positions = [missing[key] for key in keys if key in missing]
            if position[0] != "nodes" and position in self.failures and positions:
                self.failures[position] = InputError(f"nodes[{positions[0]}] was not written")

    def result(self) -> RememberResult:
        """Describe what was written."""
        edits = {
            position: edit
            for position in self.written
            if (edit := self.writes[position].edit) is not None
        }
        changed = [edit for position, edit in edits.items() if self.written[position].changed]
        nodes, relationships = self._counts("nodes"), self._counts("relationships")
        notes = NoteCounts(
            added=sum(
                len(result.record.notes) - len(result.stored.notes if result.stored else ())
                for position, result in self.written.items()
                if position not in edits
            ),
            corrected=sum(edit.changes is not None for edit in changed),
            removed=sum(edit.changes is None for edit in changed),
            unchanged=sum(
                not result.changed
                for position, result in self.written.items()
                if position[0] == "notes"
            ),
            failed=sum(position[0] == "notes" for position in self.failures),
        )
        created = {
            result.record.entity_key: CreatedNodeReference(
                entity_key=result.record.entity_key,
                label=result.record.label,
                name=result.record.name,
                ref=self.nodes[position[1]].ref,
            )
            for position, result in self.written_nodes.items()
            if result.created
        }
        records = {_identity(result.record): result.record for result in self.written.values()}
        return RememberResult(
            message=summary(nodes, relationships, notes),
            nodes=nodes,
            relationships=relationships,
            notes_added=notes.added,
            notes_corrected=notes.corrected,
            notes_removed=notes.removed,
            note_expiries=expiries(
                note for result in self.written.values() for note in new_notes(result)
            ),
            created_nodes=tuple(created.values()),
            failures=tuple(
                Failure(
                    list=name,
                    index=index,
                    name=getattr(self.arguments, name)[index].title,
                    error=one_line(error_text(error)),
                )
                for (name, index), error in sorted(self.failures.items())
            ),
            replaced=tuple(
                value for position in self.written for value in self._replaced(position)
            ),
            hints=tuple(
                dict.fromkeys(
                    (
                        *self.notices,
                        *(hint for position in self.written for hint in self._hints(position)),
                    )
                )
            ),
            embeddings=sum(result.embedded for result in self.written.values()),
            written=tuple(records.values()),
        )

    @property
    def written_nodes(self) -> dict[Position, NodeWriteResult]:
        """What was written of nodes."""
        return {
            position: result
            for position, result in self.written.items()
            if isinstance(result.record, GraphNode)
        }

    async def _valid(self, name: ListName, items: Sequence[Unchecked[ItemT]]) -> dict[int, ItemT]:
        valid: dict[int, ItemT] = {}
        for index, outcome in enumerate(await in_turns(_validated, items)):
            if isinstance(outcome, InputError):
                self.failures[name, index] = outcome
            else:
                valid[index] = outcome
        return valid

    def _references(self) -> Iterator[str]:
        """All references to nodes, in the order in which they occur, and then those to the sources
        of notes.
        """
        for relationship in self.relationships.values():
            yield from (relationship.from_, relationship.to)
        for note in self.notes.values():
            yield from note.ends
        of_items = (
            note
            for notes in self.item_notes.values()
            for note in notes
            if isinstance(note, NewNote)
        )
        notes = (*of_items, *self.notes.values())
        yield from (note.source_entity_key for note in notes if note.source_entity_key)
        if self.arguments.source:
            yield self.arguments.source

    def _node(self, index: int, item: RememberedNode) -> NodeIntent:
        """Create or update a node.

        Raises:
            InputError: it means no node, another node is the owner, or only notes are given and all
                are invalid.
        """
        target = self.targets[index]
        if isinstance(target, KgAgentError):
            raise target
        owner = self.references.marked_owner
        if item.is_owner and (owner is None or owner.entity_key != target.entity_key):
            raise InputError("another node in this call has is_owner; a graph has one owner")
        label = item.label if target.is_new else None
        values: dict[str, object] = dict(
            owner_values(
                self.context,
                self.references,
                is_owner=item.is_owner or None,
                entity_key=target.entity_key,
                label=label,
            )
        )
        values |= {"name": item.name} if target.renames and item.name else {}
        values |= {"description": item.description} if item.description else {}
        values |= {"aliases": None} if item.removes_aliases else {}
        return NodeIntent(
            entity_key=target.entity_key,
            label=item.label,
            mode="either" if target.is_new else "update",
            initial={"name": item.name, "description": "", "created_at": self.now},
            values=values,
            notes=self._notes_of(
                ("nodes", index), has_more=bool(target.is_new or values or item.aliases)
            ),
            aliases=tuple(item.aliases),
            correction=item.correction,
        )

    def _relationship(self, index: int, item: RememberedRelationship) -> RelationshipIntent:
        """Create or update a relationship.

        Raises:
            InputError: a node is unknown, or only notes are given and all are invalid.
        """
        values = item.model_dump(
            include={"relationship_type", "description", "attitude", "proximity", "when"},
            exclude_none=True,
        )
        if not values.get("description"):
            values.pop("description", None)
        return RelationshipIntent(
            from_entity_key=self.references.key(item.from_),
            to_entity_key=self.references.key(item.to),
            neo4j_type=item.neo4j_type,
            mode="either",
            adds_type=not (item.replaces or item.correction),
            correction=item.correction,
            values=values,
            notes=self._notes_of(("relationships", index), has_more=bool(values)),
        )

    def _note(self, item: RememberedNote) -> Write:
        """Add a note to a node or a relationship, or edit one.

        Raises:
            InputError: a node is unknown, or the note is invalid.
        """
        keys = [self.references.key(reference) for reference in item.ends]
        edit = self._edit(item)
        notes = () if edit else (self._new_note(item),)
        if len(keys) == 1:
            return NodeIntent(entity_key=keys[0], notes=notes, edit=edit)
        return RelationshipIntent(
            from_entity_key=keys[0],
            to_entity_key=keys[1],
            mode="either" if edit is None else "update",
            notes=notes,
            edit=edit,
        )

    def _edit(self, item: RememberedNote) -> NoteEdit | None:
        if item.replaces is None:
            return None
        changes: dict[str, object] = {"content": item.content}
        if item.when or self.arguments.said_on:
            changes |= times_of_note(item.when, self.arguments.said_on)
        if item.lifetime is not None:
            changes["expires_at"] = self.context.ontology.note_expiry(item.lifetime, self.now)
        source = self.context.source_entity_key
        if source is None and (given := item.source_entity_key or self.arguments.source):
            source = self.references.key(given)
        if source is not None:
            changes["source_entity_key"] = source
        return NoteEdit(item.replaces, changes if item.content else None)

    def _notes_of(self, position: Position, *, has_more: bool) -> tuple[Note, ...]:
        """The notes of an item without invalid ones.

        Raises:
            InputError: all are invalid, and the item has nothing more to write.
        """
        notes, errors = list[Note](), list[str]()
        for place, note in enumerate(self.item_notes[position]):
            try:
                notes.append(self._new_note(note))
            except InputError as error:
                errors.append(f"notes[{place}]: {error}")
        if errors and not (notes or has_more):
            raise InputError("; ".join(errors))
        self.omitted[position] = errors
        return tuple(notes)

    def _new_note(self, given: NewNote | InputError) -> Note:
        """A note to add, with the key of its source instead of a reference to it.

        Raises:
            InputError: it is invalid.
        """
        if isinstance(given, InputError):
            raise given
        if source := given.source_entity_key or self.arguments.source:
            given = given.model_copy(update={"source_entity_key": self.references.key(source)})
        [note] = build_notes([given], self.context, self.now, said_on=self.arguments.said_on)
        return note

    def _counts(self, name: ListName) -> WriteCounts:
        """How many items of a list were written; a note may create a relationship."""
        results = [
            result
            for position, result in self.written.items()
            if position[0] == name
            or (name == "relationships" and position[0] == "notes" and result.created)
        ]
        return WriteCounts.of(
            results, failed=sum(position[0] == name for position in self.failures)
        )

    def _replaced(self, position: Position) -> Iterator[ReplacedValue]:
        """The values and notes that an item replaced or removed."""
        written = self.written[position]
        record, stored, item = written.record, written.stored, _item(written)
        for name, old in replaced_values(written, self.context.ontology).items():
            yield ReplacedValue(item=item, field=name, old=old)
        if stored is not None and self.writes[position].edit is not None:
            left = {note.content for note in record.notes}
            for old in dict.fromkeys(
                note.content for note in stored.notes if note.content not in left
            ):
                yield ReplacedValue(item=item, field="note", old=old[:MAX_OLD_TEXT])

    def _hints(self, position: Position) -> Iterator[str]:
        """What the caller should know: what was omitted or chosen, a reversed direction, and a kept
        description.
        """
        written = self.written[position]
        name = f"{position[0]}[{position[1]}]"
        yield from (
            f"{name} was written without {error}" for error in self.omitted.get(position, ())
        )
        yield from written.warnings
        write = self.writes[position]
        if (
            written.created
            and isinstance(write, RelationshipIntent)
            and "relationship_type" not in write.values
        ):
            yield f"New relationship {_item(written)!r}; give a better relationship_type"
        if position[0] == "relationships" and written.changed and not written.created:
            relationship = cast("RelationshipWriteResult", written)
            replaced = replaced_values(written, self.context.ontology)
            described = self.relationships[position[1]].description
            kept = None if described else kept_description(relationship, replaced)
            hints = (
                describe_direction(relationship.record),
                added_type(relationship, described),
                kept,
            )
            yield from (f"{name}: {hint}" for hint in hints if hint)


def _validated(item: Unchecked[ItemT]) -> ItemT | InputError:
    try:
        return item.validated()
    except InputError as error:
        return error


def _item(written: GraphWriteResult) -> str:
    """The name of a node, or a relationship as a short sentence."""
    return written.record.name if isinstance(written.record, GraphNode) else written.record.triplet


def _identity(record: GraphNode | GraphRelationship) -> Any:  # noqa: ANN401
    """What the records of several items that write one node or relationship share."""
    if isinstance(record, GraphNode):
        return record.entity_key
    return frozenset((record.from_entity_key, record.to_entity_key)), record.neo4j_type
