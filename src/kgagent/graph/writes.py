"""Writes of nodes and relationships: what they need, their options, what is planned, and the
result.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Generic, Literal, NamedTuple, Protocol, Self, TypeVar

from kgagent.embedding.base import Embedder, Embedding
from kgagent.graph.records import Record
from kgagent.graph.store import Store
from kgagent.models import GraphNode, GraphRelationship
from kgagent.trust import OWN, Trust

RecordT = TypeVar("RecordT", bound=Record)
ModelT = TypeVar("ModelT", bound=GraphNode | GraphRelationship)
RecordT_contra = TypeVar("RecordT_contra", bound=Record, contravariant=True)
ModelT_co = TypeVar("ModelT_co", bound=GraphNode | GraphRelationship, covariant=True)

WriteMode = Literal["create", "update", "either"]
"""Whether the record of a write must not exist, must exist, or may exist."""

WrittenModel = GraphNode | GraphRelationship
OnChange = Callable[[WrittenModel | None, WrittenModel], None]
"""Called for each record that was written, with the record before (None if it is new) and after the
write.
"""


@dataclass(frozen=True)
class WriteContext:
    """What every write needs besides the database.

    Attributes:
        embedder: makes the embeddings.
        clock: returns the time, with time zone.
        attempts: maximum number of attempts for a write that meets conflicts.
        max_notes: maximum number of notes of a node or relationship.
        on_change: called for each record that was written.
        trust: class of what the write says.
    """

    embedder: Embedder
    clock: Callable[[], datetime]
    attempts: int
    max_notes: int = 1_000
    on_change: OnChange | None = None
    trust: Trust = OWN


@dataclass(frozen=True, kw_only=True)
class WriteOptions:
    """How a write differs from a plain one: what is checked or changed before it is planned, and
    what stays as it is.

    Attributes:
        prepare: if set, called with each intent and the stored record (None if there is none)
            before the write is planned; returns the intent to plan, or raises InputError to refuse
            it.
        adopt_foreign: whether relationships that name another owner than their nodes are written,
            and given to it.
        keep_updated_at: whether `updated_at` stays as it is.
        dry_run: whether nothing is written; results are those of a write that succeeds.
        source_entity_key: what the writes come from, for the histories of the records.
        said_on: date of the conversation that the writes come from, in EDTF, likewise.
        repeats: whether a known value without a day says nothing new, instead of holding today.
        trust: class of what they come from, above which no record gets.
        lock: held during each transaction, for writes that would otherwise deadlock with each
            other.
    """

    prepare: Callable[[Any, Any], Any] | None = None
    adopt_foreign: bool = False
    keep_updated_at: bool = False
    dry_run: bool = False
    source_entity_key: str | None = None
    said_on: str | None = None
    repeats: bool = False
    trust: Trust = OWN
    lock: asyncio.Lock | None = None


class RecordEdit(Protocol):
    """A change that depends on what is stored."""

    def values(self, stored: Record) -> dict[str, Any]:
        """The properties to write.

        Raises:
            InputError: the stored record does not have what is to change.
        """
        ...


@dataclass(frozen=True)
class PlannedWrite(Generic[RecordT]):
    """A record to write.

    Attributes:
        stored: the record before; None for a new one.
        after: the record with its new properties.
        changes: the properties that change; None removes one.
        asked_from: of a relationship, the end that the caller named first.
        warnings: what the caller should know although the write succeeds.
        endings: what it changes of other records, all together or not at all.
        ended: what the answer says that it ends.
        is_guarded: whether it depends on other records; see `SingleValues.guards`.
    """

    stored: RecordT | None
    after: RecordT
    changes: Mapping[str, Any]
    asked_from: str | None = None
    warnings: tuple[str, ...] = ()
    endings: "tuple[PlannedWrite[Any], ...]" = ()
    ended: tuple[str, ...] = ()
    is_guarded: bool = False


@dataclass(frozen=True)
class WriteResult(Generic[ModelT]):
    """A record after a write.

    Attributes:
        record: the record as it now is.
        stored: the record before; None for a new one.
        changed: whether anything was written.
        embedding: the new embedding; None if the stored one was kept, or there is none.
        ended: what the write ended, one sentence each.
        warnings: what the caller should know although the write succeeded.
    """

    record: ModelT
    stored: Record | None
    changed: bool
    embedding: Embedding | None = None
    ended: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def created(self) -> bool:
        """Whether the record is new."""
        return self.stored is None

    @property
    def embedded(self) -> bool:
        """Whether a new embedding was made."""
        return self.embedding is not None


class StatementTime(NamedTuple):
    """The time of a statement.

    Attributes:
        when: when it happened or held, in EDTF; None if unknown.
        expires_at: when it expires; None if it never does.
        known_since: the day since when it is known, such as 20230204; 0 if unknown.
    """

    when: str | None
    expires_at: str | None
    known_since: int


class IndexedStatement(NamedTuple):
    """A statement in the index.

    Attributes:
        embedded: the text that is embedded.
        times: the times of all that state it.
        is_record: whether it is the record itself, with its description, which a search is between
            by any of its times.
        began_earlier: whether its record was there before these times.
        is_passage: whether it is a passage of the text of its source.
        section: of a passage, its section or its speaker; empty for none.
        trust: class of all that state it, the highest, as a number from 0 to 2.
    """

    embedded: str
    times: tuple[StatementTime, ...]
    is_record: bool = False
    began_earlier: bool = False
    is_passage: bool = False
    section: str = ""
    trust: int = 0


@dataclass(frozen=True)
class RecordStatements:
    """The statements of a record, as the index has them.

    Attributes:
        location: what every entry stores of the record.
        names: what the record says about the names in its entries: the name of a node; whether a
            relationship is reversed.
        texts: the statements by their texts.
    """

    location: Mapping[str, Any]
    names: str | bool | None
    texts: Mapping[str, IndexedStatement]


VectorSource = Literal["stored", "record", "new"]
"""Where the vector of an entry comes from: the entry has it, the record has it, or it must be
made.
"""


@dataclass(frozen=True)
class StatementsChange:
    """How a write changes the entries of a record in the index of statements.

    Attributes:
        statements: all its statements.
        fingerprint: their fingerprint, which is stored with the record; None if there are none.
        sources: the texts whose entries change.
        is_renamed: whether other entries may have an earlier name of it, if it is a node.
        vectors: the new embeddings by text.
    """

    statements: RecordStatements
    fingerprint: str | None
    sources: Mapping[str, VectorSource]
    is_renamed: bool
    vectors: Mapping[str, Embedding] = field(default_factory=dict)

    @property
    def new_texts(self) -> dict[str, str]:
        """The texts whose vectors must be made, each with the text that is embedded."""
        return {
            text: self.statements.texts[text].embedded
            for text, source in self.sources.items()
            if source == "new"
        }

    def with_vectors(self, embedded: Mapping[str, Embedding]) -> Self:
        """The change with the vectors that were made, given the embeddings of its texts."""
        return replace(self, vectors={text: embedded[new] for text, new in self.new_texts.items()})


@dataclass(frozen=True)
class VectorChange:
    """How a write changes the embedding of a record.

    Attributes:
        properties: bookkeeping properties to write; None removes one. Empty if the embedding stays.
        vector: the new embedding; None keeps the stored one, unless `properties` removes it.
        statements: how the index of statements changes; None if it does not.
    """

    properties: dict[str, Any] = field(default_factory=dict)
    vector: Embedding | None = None
    statements: StatementsChange | None = None


class RecordKind(Protocol[RecordT_contra, ModelT_co]):
    """What differs between nodes and relationships when they are saved; their repositories
    implement it.
    """

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

    def statement_location(self, record: RecordT_contra) -> Mapping[str, Any]:
        """What every entry of its statements stores: `record`, the keys of its nodes, and its
        types.
        """
        ...

    def bookkeeping(self, record: RecordT_contra, user_id: str, now: datetime) -> dict[str, Any]:
        """The properties that every write sets besides the version and the time."""
        ...

    def to_model(self, record: RecordT_contra, asked_from: str | None) -> ModelT_co:
        """The record as callers see it."""
        ...
