"""Saving planned nodes or relationships: changed texts are embedded in one call, rows written in one transaction."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Generic, Protocol, TypeVar

from kgagent.embedding.base import Embedder
from kgagent.errors import ConstraintViolationError, EntityGoneError
from kgagent.graph.records import Record
from kgagent.graph.statements import Statement
from kgagent.graph.store import Store
from kgagent.graph.vectors import VectorChange, length_warnings, vector_changes
from kgagent.models import GraphNode, GraphRelationship, Note
from kgagent.models.note import add_notes, dump_notes

IntentT = TypeVar("IntentT")
RecordT = TypeVar("RecordT", bound=Record)
ModelT = TypeVar("ModelT", bound=GraphNode | GraphRelationship)
RecordT_contra = TypeVar("RecordT_contra", bound=Record, contravariant=True)
ModelT_co = TypeVar("ModelT_co", bound=GraphNode | GraphRelationship, covariant=True)

WrittenModel = GraphNode | GraphRelationship
OnChange = Callable[[WrittenModel | None, WrittenModel], None]
"""Called for each record that was written, with the record before (None if it is new) and after the write."""


@dataclass(frozen=True)
class WriteContext:
    """What every write needs besides the database.

    Attributes:
        embedder: makes the embeddings.
        clock: returns the time, with time zone.
        attempts: maximum number of attempts for a write that meets conflicts.
        on_change: called for each record that was written.
    """

    embedder: Embedder
    clock: Callable[[], datetime]
    attempts: int
    on_change: OnChange | None = None


@dataclass(frozen=True, kw_only=True)
class WriteOptions(Generic[IntentT, RecordT]):
    """How the writes of a migration or a load differ from those of a tool.

    Attributes:
        prepare: called with each intent and the stored record (None if there is none) before the write is planned;
            returns the intent to plan, or raises InputError to refuse it.
        adopt_foreign: whether relationships that name another owner than their nodes are written, and given to it.
        keep_updated_at: whether `updated_at` stays as it is.
        dry_run: whether nothing is written; results are those of a write that succeeds.
        lock: held during each transaction, for writes that would otherwise deadlock with each other.
    """

    prepare: Callable[[IntentT, RecordT | None], IntentT] = lambda intent, _: intent
    adopt_foreign: bool = False
    keep_updated_at: bool = False
    dry_run: bool = False
    lock: asyncio.Lock | None = None


@dataclass(frozen=True)
class PlannedWrite(Generic[RecordT]):
    """A record to write.

    Attributes:
        stored: the record before; None for a new one.
        after: the record with its new properties.
        changes: the properties that change; None removes one.
        asked_from: of a relationship, the end that the caller named first.
    """

    stored: RecordT | None
    after: RecordT
    changes: Mapping[str, Any]
    asked_from: str | None = None


@dataclass(frozen=True)
class WriteResult(Generic[ModelT]):
    """A record after a write.

    Attributes:
        record: the record as it now is.
        created: whether it is new.
        embedded: whether a new embedding was made.
        changed: whether anything was written.
        warnings: what the caller should know although the write succeeded.
    """

    record: ModelT
    created: bool
    embedded: bool
    changed: bool
    warnings: tuple[str, ...] = ()

    def with_warnings(self, message: str) -> str:
        """A message about the write, followed by its warnings."""
        return ". ".join((message, *self.warnings))


class RecordKind(Protocol[RecordT_contra, ModelT_co]):
    """What differs between nodes and relationships when they are saved; their repositories implement it."""

    @property
    def store(self) -> Store:
        """The database."""
        ...

    @property
    def vector_property(self) -> str:
        """The property that holds the embedding."""
        ...

    def text(self, record: RecordT_contra, now: datetime) -> str:
        """The embedding text."""
        ...

    def location(self, record: RecordT_contra) -> Mapping[str, Any]:
        """The parameters by which the statements find the record, or create it in its place."""
        ...

    def bookkeeping(self, record: RecordT_contra, user_id: str, now: datetime) -> dict[str, Any]:
        """The properties that every write sets besides the version and the time."""
        ...

    def to_model(self, record: RecordT_contra, asked_from: str | None) -> ModelT_co:
        """The record as callers see it."""
        ...


@dataclass(frozen=True, kw_only=True)
class RecordSaver(Generic[RecordT, ModelT]):
    """Saves planned records of one user.

    Attributes:
        kind: nodes or relationships.
        context: the embedder and the clock.
        user_id: owner of the records.
        create: statement that creates records.
        update: statement that changes records whose version is still the one that was read.
        options: how these writes differ from those of a tool.
    """

    kind: RecordKind[RecordT, ModelT]
    context: WriteContext
    user_id: str
    create: Statement
    update: Statement
    options: WriteOptions[Any, RecordT] = field(default_factory=WriteOptions)

    async def save(self, planned: Mapping[int, PlannedWrite[RecordT]]) -> dict[int, WriteResult[ModelT]]:
        """Embed the changed texts in one call and write; a plan that met a conflict is missing from the result.

        Raises:
            EmbeddingError: the embedder failed.
            StoreError: the database failed.
        """
        now = self.context.clock()
        texts = [self.kind.text(plan.after, now) for plan in planned.values()]
        vectors = await vector_changes(
            self.context.embedder,
            [(text, plan.stored) for text, plan in zip(texts, planned.values(), strict=True)],
            vector_property=self.kind.vector_property,
        )
        results: dict[int, WriteResult[ModelT]] = {}
        created: list[dict[str, Any]] = []
        updated: list[dict[str, Any]] = []
        for (position, plan), text, vector in zip(planned.items(), texts, vectors, strict=True):
            changed = self._needs_write(plan, vector, now)
            properties = self._properties(plan, vector, now) if changed else {}
            results[position] = WriteResult(
                record=self.kind.to_model(with_properties(plan.after, properties), plan.asked_from),
                created=plan.stored is None,
                embedded=vector.vector is not None,
                changed=changed,
                warnings=() if vector.vector is None else length_warnings(text),
            )
            if changed:
                rows = updated if plan.after.element_id else created
                rows.append(self._row(position, plan, vector, properties))
        written = await self._write_all(created, updated)
        for position in sorted(written):
            self._notify(planned[position])
        return {position: result for position, result in results.items() if position in written or not result.changed}

    def _needs_write(self, plan: PlannedWrite[RecordT], vector: VectorChange, now: datetime) -> bool:
        if plan.stored is None or plan.changes or vector.properties or plan.stored.has_old_properties:
            return True
        expected = self.kind.bookkeeping(plan.stored, self.user_id, now)
        return any(plan.stored.properties.get(name) != value for name, value in expected.items())

    def _properties(self, plan: PlannedWrite[RecordT], vector: VectorChange, now: datetime) -> dict[str, Any]:
        record = plan.after
        return {
            **({"created_at": now, **record.properties} if plan.stored is None else plan.changes),
            **vector.properties,
            **self.kind.bookkeeping(record, self.user_id, now),
            **next_version(record, None if self.options.keep_updated_at else now),
        }

    def _row(
        self, position: int, plan: PlannedWrite[RecordT], vector: VectorChange, properties: Mapping[str, Any]
    ) -> dict[str, Any]:
        return {
            **self.kind.location(plan.after),
            "position": position,
            "element_id": plan.after.element_id,
            "version": plan.after.version,
            "vector": self.kind.store.vector(vector.vector),
            "properties": properties,
        }

    async def _write_all(self, created: list[dict[str, Any]], updated: list[dict[str, Any]]) -> set[int]:
        if self.options.dry_run:
            return {row["position"] for row in (*created, *updated)}
        lock: AbstractAsyncContextManager[object] = self.options.lock or nullcontext()
        async with lock:
            return await self._write(self.create, created) | await self._write(self.update, updated)

    async def _write(self, text: Statement, rows: Sequence[dict[str, Any]]) -> set[int]:
        """Write rows in one transaction, or each in its own if the database refuses one of them."""
        if not rows:
            return set()
        try:
            written = await self.kind.store.write(text, {"user_id": self.user_id, "rows": rows})
        except (ConstraintViolationError, EntityGoneError):
            if len(rows) == 1:
                return set()
            return {position for row in rows for position in await self._write(text, [row])}
        return {row["position"] for row in written}

    def _notify(self, plan: PlannedWrite[RecordT]) -> None:
        """Report a change without the time and version of the write, so that equal content compares as equal."""
        if self.context.on_change is None:
            return
        before = None if plan.stored is None else self.kind.to_model(plan.stored, plan.asked_from)
        self.context.on_change(before, self.kind.to_model(plan.after, plan.asked_from))


def changed_properties(
    record: Record, values: Mapping[str, Any], notes: Iterable[Note], now: datetime
) -> dict[str, Any]:
    """The properties that differ once values are set and notes are added."""
    wanted = dict(values)
    all_notes = add_notes(record.notes, notes, now)
    if all_notes != record.notes:
        wanted["notes"] = dump_notes(all_notes)
    return {key: value for key, value in wanted.items() if record.properties.get(key) != value}


def with_properties(record: RecordT, properties: Mapping[str, Any]) -> RecordT:
    """A record with properties set; None removes one, as in the database."""
    merged = {**record.properties, **properties}
    return replace(record, properties={key: value for key, value in merged.items() if value is not None})


def next_version(record: Record, updated_at: datetime | None) -> dict[str, Any]:
    """The properties that mark a write; without a time, the one of the last change stays."""
    return {"version": record.version + 1} | ({"updated_at": updated_at} if updated_at else {})
