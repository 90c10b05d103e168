"""Results of remember: what changed, new keys, failures and expiry of notes."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import cast

from kgagent.formatting import in_one_line
from kgagent.graph.graph_writes import GraphWriteResult, RelationshipWriteResult
from kgagent.graph.note_edit import NoteEdit
from kgagent.graph.relationships import RelationshipIntent
from kgagent.models import GraphNode, GraphRelationship
from kgagent.models.graph import GraphModel
from kgagent.ontology import Ontology
from kgagent.tools.items import ListName, RememberedRelationship
from kgagent.tools.payload import error_text, one_line
from kgagent.tools.references import NodeReference, describe_direction
from kgagent.tools.write_items import Item, Outcome, Position
from kgagent.tools.write_results import (
    MAX_OLD_TEXT,
    NoteExpiry,
    WriteToolResult,
    added_type,
    expiries,
    kept_description,
    new_notes,
    replaced_values,
)

MAX_LISTED = 20
"""Number of failures and replaced texts that the text lists; the payload has all."""


class WriteCounts(GraphModel):
    """How many items were written, and how."""

    created: int = 0
    updated: int = 0
    unchanged: int = 0
    failed: int = 0

    @classmethod
    def of(cls, written: Iterable[GraphWriteResult], failed: int) -> "WriteCounts":
        """Count the items of one list."""
        counts = Counter(
            "created" if item.created else "updated" if item.changed else "unchanged"
            for item in written
        )
        return cls(**counts, failed=failed)

    def __str__(self) -> str:
        """The counts that are not 0: "3 created, 1 unchanged"."""
        return _counts_text(self.model_dump())


class Failure(GraphModel):
    """An item that was not written."""

    list: ListName
    index: int
    name: str = ""
    error: str

    @property
    def place(self) -> str:
        """The item in a message: "nodes[3] Rex"."""
        return f"{self.list}[{self.index}]{' ' if self.name else ''}{self.name}"


class ReplacedValue(GraphModel):
    """A text, type or level that an update replaced, for a model to notice a mistake.

    Attributes:
        item: the node's name, or the relationship.
        field: what was replaced.
        old: the value before; of a level, its word.
    """

    item: str
    field: str
    old: str


class CreatedNodeReference(NodeReference):
    """A node that was created."""

    ref: str | None = None


class RememberResult(WriteToolResult):
    """What remember wrote.

    Attributes:
        nodes: how many nodes were written.
        relationships: how many relationships were written.
        notes_added: number of notes added, wherever they were given.
        notes_corrected: number of notes that were replaced.
        notes_removed: number of notes that were removed.
        note_expiries: when the notes of this call expire; notes without expiry are not counted.
        created_nodes: the nodes that are new, with their keys.
        failures: the items that were not written.
        replaced: descriptions, types, levels and notes that were replaced or removed.
        ended: the facts that new ones ended.
        hints: what the caller should know although the writes succeeded.
        embeddings: number of new embeddings.
    """

    nodes: WriteCounts
    relationships: WriteCounts
    notes_added: int = 0
    notes_corrected: int = 0
    notes_removed: int = 0
    note_expiries: tuple[NoteExpiry, ...] = ()
    created_nodes: tuple[CreatedNodeReference, ...] = ()
    failures: tuple[Failure, ...] = ()
    replaced: tuple[ReplacedValue, ...] = ()
    ended: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    embeddings: int = 0

    def short_text(self) -> str:
        """The counts, the new nodes with short keys, and what needs attention; one line each."""
        created = "; ".join(map(str, self.created_nodes))
        return "\n".join(
            [
                self.message,
                *([f"New: {created}"] if created else []),
                *map(str, self.note_expiries),
                *_lines("Failed", self._failed()),
                *_lines("Replaced", self._replaced_of_each()),
                *_lines("Ended", self.ended),
                *_lines("Note", self.hints),
            ]
        )

    def _failed(self) -> list[str]:
        """The failures, one line a cause: "nodes[3] Rex, nodes[4] Bello: Unknown label: Dog"."""
        places: dict[str, list[str]] = {}
        for failure in self.failures:
            places.setdefault(failure.error, []).append(failure.place)
        return [f"{', '.join(of_error)}: {error}" for error, of_error in places.items()]

    def _replaced_of_each(self) -> list[str]:
        """What was replaced of each node or relationship: "Ruth mentor Me: type was 'friend',
        attitude was 'warm'".
        """
        values: dict[str, list[str]] = {}
        for one in self.replaced:
            values.setdefault(one.item, []).append(f"{one.field} was {one.old!r}")
        return [f"{item}: {', '.join(of_item)}" for item, of_item in values.items()]

    @property
    def error(self) -> str | None:
        """The failures, if nothing succeeded."""
        counts = (self.nodes, self.relationships)
        notes = self.notes_added + self.notes_corrected + self.notes_removed
        succeeded = notes + sum(each.created + each.updated + each.unchanged for each in counts)
        return "; ".join(self._failed()[:MAX_LISTED]) if self.failures and not succeeded else None


def _lines(heading: str, items: Sequence[str]) -> list[str]:
    """One line for each item, at most 20."""
    lines = [f"{heading}: {in_one_line(item)}" for item in items[:MAX_LISTED]]
    return (
        [*lines, f"{heading}: {len(items) - MAX_LISTED} more"] if len(items) > MAX_LISTED else lines
    )


def _counts_text(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)


def summary(nodes: WriteCounts, relationships: WriteCounts, notes: Mapping[str, int]) -> str:
    """The message of a result: "Nodes: 3 created. Relationships: 2 created. 4 notes added"."""
    first = next(filter(None, notes.values()), 0)
    noted = _counts_text(notes).replace(" ", " note " if first == 1 else " notes ", 1)
    parts = [
        f"{name}: {counts}"
        for name, counts in (("Nodes", nodes), ("Relationships", relationships))
        if str(counts)
    ]
    return ". ".join(filter(None, (*parts, noted)))


def remember_result(
    ontology: Ontology,
    items: Mapping[Position, Item],
    outcome: Outcome,
    titles: Mapping[Position, str],
) -> RememberResult:
    """Describe what was written.

    Args:
        ontology: the words of levels.
        items: the valid items.
        outcome: what became of them.
        titles: the names of all items, as far as they can be read.
    """
    written, edits = outcome.written, _edits(outcome)
    changed = [edit for position, edit in edits.items() if written[position].changed]
    nodes, relationships = _counts("nodes", outcome), _counts("relationships", outcome)
    notes = {
        "added": sum(
            len(result.record.notes) - len(result.stored.notes if result.stored else ())
            for position, result in written.items()
            if position not in edits
        ),
        "corrected": sum(edit.changes is not None for edit in changed),
        "removed": sum(edit.changes is None for edit in changed),
        "unchanged": sum(
            not result.changed for position, result in written.items() if position[0] == "notes"
        ),
        "failed": sum(position[0] == "notes" for position in outcome.failures),
    }
    created = {
        result.record.entity_key: CreatedNodeReference(
            entity_key=result.record.entity_key,
            label=result.record.label,
            name=result.record.name,
            ref=getattr(items[position], "ref", None),
        )
        for position, result in written.items()
        if isinstance(result.record, GraphNode) and result.created
    }
    records = {_identity(result.record): result.record for result in written.values()}
    failures = [
        Failure(
            list=name,
            index=index,
            name=titles.get((name, index), ""),
            error=one_line(error_text(error)),
        )
        for (name, index), error in sorted(outcome.failures.items())
    ]
    hints = [
        hint
        for position in written
        for hint in _hints(position, items[position], outcome, ontology)
    ]
    return RememberResult(
        message=summary(nodes, relationships, notes),
        nodes=nodes,
        relationships=relationships,
        notes_added=notes["added"],
        notes_corrected=notes["corrected"],
        notes_removed=notes["removed"],
        note_expiries=expiries(note for result in written.values() for note in new_notes(result)),
        created_nodes=tuple(created.values()),
        failures=tuple(failures),
        replaced=tuple(
            value for position in written for value in _replaced(position, outcome, ontology)
        ),
        ended=tuple(text for result in written.values() for text in result.ended),
        hints=tuple(dict.fromkeys((*outcome.notices, *hints))),
        embeddings=sum(result.embedded for result in written.values()),
        written=tuple(records.values()),
    )


def _edits(outcome: Outcome) -> dict[Position, NoteEdit]:
    """The edits of notes that were written."""
    edits = ((position, outcome.intents[position].edit) for position in outcome.written)
    return {position: edit for position, edit in edits if isinstance(edit, NoteEdit)}


def _counts(name: ListName, outcome: Outcome) -> WriteCounts:
    """How many items of a list were written; a note may create a relationship."""
    results = [
        result
        for position, result in outcome.written.items()
        if position[0] == name
        or (name == "relationships" and position[0] == "notes" and result.created)
    ]
    failed = sum(position[0] == name for position in outcome.failures)
    return WriteCounts.of(results, failed=failed)


def _replaced(position: Position, outcome: Outcome, ontology: Ontology) -> Iterator[ReplacedValue]:
    """The values and notes that an item replaced or removed."""
    written = outcome.written[position]
    record, stored, item = written.record, written.stored, _name(written)
    for name, old in replaced_values(written, ontology).items():
        yield ReplacedValue(item=item, field=name, old=old)
    if stored is not None and outcome.intents[position].edit is not None:
        left = {note.content for note in record.notes}
        for content in dict.fromkeys(note.content for note in stored.notes):
            if content not in left:
                yield ReplacedValue(item=item, field="note", old=content[:MAX_OLD_TEXT])


def _hints(position: Position, item: Item, outcome: Outcome, ontology: Ontology) -> Iterator[str]:
    """What the caller should know: a plain type, a reversed direction, and a kept description."""
    written, intent = outcome.written[position], outcome.intents[position]
    name = f"{position[0]}[{position[1]}]"
    yield from written.warnings
    if written.created and isinstance(intent, RelationshipIntent) and not intent.new_type:
        yield f"New relationship {_name(written)!r}; give a better relationship_type"
    if isinstance(item, RememberedRelationship) and written.changed and not written.created:
        relationship = cast("RelationshipWriteResult", written)
        replaced = replaced_values(written, ontology)
        hints = (
            describe_direction(relationship.record),
            added_type(relationship, item.description),
            None if item.description else kept_description(relationship, replaced),
        )
        yield from (f"{name}: {hint}" for hint in hints if hint)


def _name(written: GraphWriteResult) -> str:
    """The name of a node, or a relationship as a short sentence."""
    return written.record.name if isinstance(written.record, GraphNode) else written.record.triplet


def _identity(record: GraphNode | GraphRelationship) -> object:
    """What the records of several items that write one node or relationship share."""
    if isinstance(record, GraphNode):
        return record.entity_key
    return record.identity
