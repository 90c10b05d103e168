"""What writing a node and a relationship have in common: one batch of embeddings, one transaction, nothing half."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, ClassVar, Generic, TypeVar

from kgagent.embedding.base import Embedder
from kgagent.errors import ConstraintViolationError, EntityGoneError
from kgagent.graph.compare_and_set import CompareAndSet, IntentT, StateT
from kgagent.graph.identifiers import Identifier
from kgagent.graph.records import Record
from kgagent.graph.statements import statement
from kgagent.graph.store import Store
from kgagent.graph.vectors import VectorChange, vector_changes
from kgagent.models import GraphNode, GraphRelationship, Note
from kgagent.models.note import add_notes, dump_notes

RecordT = TypeVar("RecordT", bound=Record)
ShownT = TypeVar("ShownT", bound=GraphNode | GraphRelationship)


Shown = GraphNode | GraphRelationship
OnChange = Callable[[Shown | None, Shown], None]
"""Told of each record that was written: as it was, None where it is new, and as it is."""


@dataclass(frozen=True)
class WriteContext:
    """What every write needs beside the database.

    Attributes:
        embedder: makes the embeddings.
        clock: gives the time, with zone.
        attempts: tries of a write that loses races.
        on_change: told of what was written; None tells nobody.
    """

    embedder: Embedder
    clock: Callable[[], datetime]
    attempts: int
    on_change: OnChange | None = None


@dataclass(frozen=True)
class PlannedWrite(Generic[IntentT, RecordT]):
    """What is to be written.

    Attributes:
        intent: what the caller wants.
        stored: the record as it is; None for a new one.
        after: the record with its new properties.
        changes: the properties that change; None removes one.
    """

    intent: IntentT
    stored: RecordT | None
    after: RecordT
    changes: Mapping[str, Any]


@dataclass(frozen=True)
class WriteResult(Generic[ShownT]):
    """A record after a write.

    Attributes:
        shown: as it now is.
        created: whether it is new.
        embedded: whether its embedding was made anew.
        changed: whether anything was written.
    """

    record: ShownT
    created: bool
    embedded: bool
    changed: bool


class RecordWriter(
    CompareAndSet[IntentT, StateT, PlannedWrite[IntentT, RecordT], WriteResult[ShownT]],
    Generic[IntentT, StateT, RecordT, ShownT],
):
    """Writes the records of one user."""

    vector_property: ClassVar[str]
    create_statement: ClassVar[str]
    update_statement: ClassVar[str]

    def __init__(self, store: Store, names: Mapping[str, Identifier], writing: WriteContext, *, user_id: str) -> None:
        super().__init__(attempts=writing.attempts)
        self._store = store
        self._names = names
        self._embedder = writing.embedder
        self._clock = writing.clock
        self._on_change = writing.on_change
        self._user_id = user_id

    @abstractmethod
    def text(self, record: RecordT, now: datetime) -> str:
        """The embedding text of a record."""

    @abstractmethod
    def show(self, planned: PlannedWrite[IntentT, RecordT]) -> ShownT:
        """The record as its caller sees it after the write."""

    @abstractmethod
    def place(self, record: RecordT) -> Mapping[str, Any]:
        """What the statements need to find the record, or to put a new one where it belongs."""

    def kept_properties(self, record: RecordT, now: datetime) -> Mapping[str, Any]:
        """Properties that every write makes sure of: whose it is, and its notes as full-text search finds them."""
        return {"user_id": self._user_id, "notes_text": record.notes_text(now)}

    def stamp(self, record: RecordT, now: datetime) -> Mapping[str, Any]:
        """Properties that tell one write from another."""
        return {"version": record.version + 1, "updated_at": now}

    def needs_tidying(self, record: RecordT, now: datetime) -> bool:
        """Whether a record is written even where nothing that it says changes."""
        kept = self.kept_properties(record, now)
        return any(record.properties.get(name) != value for name, value in kept.items())

    async def save(self, planned: Mapping[int, PlannedWrite[IntentT, RecordT]]) -> Mapping[int, WriteResult[ShownT]]:
        """Embed what changed its text, in one batch, and write; what lost a race is missing from the answer."""
        now = self._clock()
        vectors = await vector_changes(
            self._embedder,
            [(self.text(p.after, now), p.stored) for p in planned.values()],
            vector_property=self.vector_property,
        )
        changes = dict(zip(planned, vectors, strict=True))
        written = {position: self._written(p, changes[position], now) for position, p in planned.items()}
        rows = [self._row(i, p, changes[i], now) for i, p in planned.items() if written[i].changed]
        kept = await self._write(self.create_statement, [row for row in rows if not row["element_id"]])
        kept |= await self._write(self.update_statement, [row for row in rows if row["element_id"]])
        for position in sorted(kept):
            self._tell(planned[position])
        return {position: done for position, done in written.items() if position in kept or not done.changed}

    def changes(self, record: RecordT, values: Mapping[str, Any], notes: Iterable[Note]) -> dict[str, Any]:
        """Which properties differ once values are set and notes are added."""
        wanted = dict(values)
        together = add_notes(record.notes, notes, self._clock())
        if together != record.notes:
            wanted["notes"] = dump_notes(together)
        return {key: value for key, value in wanted.items() if record.properties.get(key) != value}

    def _written(
        self, planned: PlannedWrite[IntentT, RecordT], change: VectorChange, now: datetime
    ) -> WriteResult[ShownT]:
        stored = planned.stored
        changed = stored is None or bool(planned.changes) or change.changes or self.needs_tidying(stored, now)
        after = planned.after
        if changed:
            after = replace(
                after, properties=without_nothing({**after.properties, **self._properties(planned, change, now)})
            )
        return WriteResult(
            record=self.show(replace(planned, after=after)),
            created=stored is None,
            embedded=change.vector is not None,
            changed=changed,
        )

    def _tell(self, planned: PlannedWrite[IntentT, RecordT]) -> None:
        """Tell of what was written, without the time of the write: a record that says the same is told as the same."""
        if self._on_change is None:
            return
        stored = planned.stored
        self._on_change(None if stored is None else self.show(replace(planned, after=stored)), self.show(planned))

    def _properties(
        self, planned: PlannedWrite[IntentT, RecordT], change: VectorChange, now: datetime
    ) -> dict[str, Any]:
        """What a write sets."""
        record = planned.after
        content = {"created_at": now, **record.properties} if planned.stored is None else planned.changes
        return {
            **content,
            **change.properties,
            **self.kept_properties(record, now),
            **self.stamp(record, now),
        }

    def _row(
        self, position: int, planned: PlannedWrite[IntentT, RecordT], change: VectorChange, now: datetime
    ) -> dict[str, Any]:
        record = planned.after
        return {
            **self.place(record),
            "position": position,
            "element_id": record.element_id,
            "version": record.version,
            "vector": self._store.vector(change.vector),
            "properties": self._properties(planned, change, now),
        }

    async def _write(self, name: str, rows: Sequence[dict[str, Any]]) -> set[int]:
        """Write rows in one transaction; each in its own where one would make a duplicate or lost what it needs."""
        if not rows:
            return set()
        try:
            kept = await self._store.write(statement(name, **self._names), {"user_id": self._user_id, "rows": rows})
        except (ConstraintViolationError, EntityGoneError):
            if len(rows) == 1:
                return set()
            return {position for row in rows for position in await self._write(name, [row])}
        return {row["position"] for row in kept}


def without_nothing(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out properties that are None, as the database does."""
    return {key: value for key, value in properties.items() if value is not None}
