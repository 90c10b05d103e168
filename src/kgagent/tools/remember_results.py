"""Results of remember: what changed, new keys, failures and expiry of notes."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal

from kgagent.answers.safe_text import safe_name
from kgagent.formatting import in_one_line
from kgagent.graph.graph_writes import GraphWriteResult
from kgagent.graph.reference_forms import message_key
from kgagent.models.graph import GraphModel
from kgagent.tools.references import NodeReference
from kgagent.tools.write_results import NoteExpiry, WriteToolResultWithRecords

MAX_LISTED = 20
"""Number of failures and replaced texts that the text lists; the payload has all."""

ListName = Literal["nodes", "relationships", "notes"]


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
        return ", ".join(f"{count:,} {name}" for name, count in self.model_dump().items() if count)


class NoteCounts(GraphModel):
    """How many notes were written, wherever given, and how many items of `notes` changed nothing or
    failed.
    """

    added: int
    corrected: int
    removed: int
    unchanged: int
    failed: int

    def __str__(self) -> str:
        """The counts that are not 0: "4 notes added, 1 removed"."""
        counts = [f"{count:,} {name}" for name, count in self.model_dump().items() if count]
        first = next((count for count in self.model_dump().values() if count), 0)
        return ", ".join(counts).replace(" ", " note " if first == 1 else " notes ", 1)


class Failure(GraphModel):
    """An item that was not written."""

    list: ListName
    index: int
    name: str = ""
    error: str

    def __str__(self) -> str:
        """The failure in one line: "nodes[3] Rex: Unknown label: Dog"."""
        return f"{self.list}[{self.index}]{' ' if self.name else ''}{self.name}: {self.error}"


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


class RememberResult(WriteToolResultWithRecords):
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
    hints: tuple[str, ...] = ()
    embeddings: int = 0

    def short_text(self) -> str:
        """The counts, the new nodes with short keys, and what needs attention; one line each."""
        created = "; ".join(map(_listed, self.created_nodes))
        return "\n".join(
            [
                self.message,
                *([f"New: {created}"] if created else []),
                *map(str, self.note_expiries),
                *_lines("Failed", [str(failure) for failure in self.failures]),
                *_lines("Replaced", self._replaced_of_each()),
                *_lines("Note", self.hints),
            ]
        )

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
        return (
            "; ".join(map(str, self.failures[:MAX_LISTED]))
            if self.failures and not succeeded
            else None
        )


def _listed(node: NodeReference) -> str:
    return f"{safe_name(node.name)} ({node.label}, {message_key(node.entity_key)})"


def _lines(heading: str, items: Sequence[str]) -> list[str]:
    """One line for each item, at most 20."""
    lines = [f"{heading}: {in_one_line(item)}" for item in items[:MAX_LISTED]]
    return (
        [*lines, f"{heading}: {len(items) - MAX_LISTED} more"] if len(items) > MAX_LISTED else lines
    )


def summary(nodes: WriteCounts, relationships: WriteCounts, notes: NoteCounts) -> str:
    """The message of a result: "Nodes: 3 created. Relationships: 2 created. 4 notes added"."""
    parts = [
        f"{name}: {counts}"
        for name, counts in (("Nodes", nodes), ("Relationships", relationships))
        if str(counts)
    ]
    return ". ".join(filter(None, (*parts, str(notes))))
