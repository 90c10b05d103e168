"""Writes of nodes and relationships: what they need, their options, what is planned, and the result."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from kgagent.embedding.base import Embedder, Embedding
from kgagent.errors import InvalidLevelError
from kgagent.graph.records import Record
from kgagent.graph.store import Store
from kgagent.models import GraphNode, GraphRelationship

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
        max_notes: maximum number of notes of a node or relationship.
        on_change: called for each record that was written.
    """

    embedder: Embedder
    clock: Callable[[], datetime]
    attempts: int
    max_notes: int = 1_000
    on_change: OnChange | None = None


@dataclass(frozen=True, kw_only=True)
class WriteOptions(Generic[IntentT, RecordT]):
    """How a write differs from a plain one: what is checked or changed before it is planned, and what stays as it is.

    Attributes:
        prepare: if set, called with each intent and the stored record (None if there is none) before the write is
            planned; returns the intent to plan, or raises InputError to refuse it.
        adopt_foreign: whether relationships that name another owner than their nodes are written, and given to it.
        keep_updated_at: whether `updated_at` stays as it is.
        dry_run: whether nothing is written; results are those of a write that succeeds.
        source_entity_key: what the writes come from, for the histories of the records.
        said_on: date of the conversation that the writes come from, in EDTF, likewise.
        lock: held during each transaction, for writes that would otherwise deadlock with each other.
    """

    prepare: Callable[[IntentT, RecordT | None], IntentT] | None = None
    adopt_foreign: bool = False
    keep_updated_at: bool = False
    dry_run: bool = False
    source_entity_key: str | None = None
    said_on: str | None = None
    lock: asyncio.Lock | None = None


@dataclass(frozen=True)
class PlannedWrite(Generic[RecordT]):
    """A record to write.

    Attributes:
        stored: the record before; None for a new one.
        after: the record with its new properties.
        changes: the properties that change; None removes one.
        asked_from: of a relationship, the end that the caller named first.
        omitted: of a relationship, the errors of levels that are not written.
    """

    stored: RecordT | None
    after: RecordT
    changes: Mapping[str, Any]
    asked_from: str | None = None
    omitted: tuple[InvalidLevelError, ...] = ()


@dataclass(frozen=True)
class WriteResult(Generic[ModelT]):
    """A record after a write.

    Attributes:
        record: the record as it now is.
        stored: the record before; None for a new one.
        changed: whether anything was written.
        embedding: the new embedding; None if the stored one was kept, or there is none.
        warnings: what the caller should know although the write succeeded.
        omitted: of a relationship, the errors of levels that were not written.
    """

    record: ModelT
    stored: Record | None
    changed: bool
    embedding: Embedding | None = None
    warnings: tuple[str, ...] = ()
    omitted: tuple[InvalidLevelError, ...] = ()

    @property
    def created(self) -> bool:
        """Whether the record is new."""
        return self.stored is None

    @property
    def embedded(self) -> bool:
        """Whether a new embedding was made."""
        return self.embedding is not None


class NoteTime(NamedTuple):
    """The time of a note: when it happened, and when it expires, as far as known."""

    when: str | None
    expires_at: str | None


@dataclass(frozen=True)
class NotesChange:
    """How a write changes the entries of a record in the index of notes.

    Attributes:
        contents: the contents of all its notes, each with the times of the notes that have it.
        vectors: the contents whose entries change, each with its embedding if the index lacks it.
        model: name of the model that made the embeddings.
    """

    contents: Mapping[str, Sequence[NoteTime]]
    vectors: Mapping[str, Embedding | None]
    model: str


@dataclass(frozen=True)
class VectorChange:
    """How a write changes the embedding of a record.

    Attributes:
        properties: bookkeeping properties to write; None removes one. Empty if the embedding stays.
        vector: the new embedding; None keeps the stored one, unless `properties` removes it.
        notes: how the index of notes changes; None if it does not.
    """

    properties: dict[str, Any] = field(default_factory=dict)
    vector: Embedding | None = None
    notes: NotesChange | None = None


class RecordKind(Protocol[RecordT_contra, ModelT_co]):
    """What differs between nodes and relationships when they are saved; their repositories implement it."""

    @property
    def store(self) -> Store:
        """The database."""
        ...

    def text(self, record: RecordT_contra, now: datetime) -> str:
        """The embedding text."""
        ...

    @property
    def plural(self) -> str:
        """The word for several records in the names of parameters."""
        ...

    def location(self, record: RecordT_contra) -> Mapping[str, Any]:
        """The parameters by which the statements find the record, or create it in its place."""
        ...

    def note_location(self, record: RecordT_contra) -> Mapping[str, Any]:
        """What the entries of its notes store to find it: `record`, and the keys of its nodes."""
        ...

    def bookkeeping(self, record: RecordT_contra, user_id: str, now: datetime) -> dict[str, Any]:
        """The properties that every write sets besides the version and the time."""
        ...

    def to_model(self, record: RecordT_contra, asked_from: str | None) -> ModelT_co:
        """The record as callers see it."""
        ...
