"""Saving planned nodes or relationships: changed texts are embedded in one call, and rows are written together."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Generic

from kgagent.embedding.base import Embedder
from kgagent.errors import ConstraintViolationError, EntityGoneError, InputError, KgAgentError, SharedKeyError
from kgagent.graph.records import Record
from kgagent.graph.statements import Statement
from kgagent.graph.store import Row
from kgagent.graph.writes import (
    ModelT,
    PlannedWrite,
    RecordKind,
    RecordT,
    VectorChange,
    WriteContext,
    WriteOptions,
    WriteResult,
)
from kgagent.models.merged_notes import add_notes
from kgagent.models.note import Note, dump_notes, notes_text_at

NOTES_TEXT_LIMIT = 1000
"""Characters of notes that enter an embedding text."""

MAX_EMBEDDED_TEXT = 8_000
"""Characters of an embedding text that an embedding model is expected to read."""


@dataclass(frozen=True, kw_only=True)
class RecordSaver(Generic[RecordT, ModelT]):
    """Saves planned records of one user.

    Attributes:
        kind: nodes or relationships.
        context: the embedder and the clock.
        user_id: owner of the records.
        create: statement that creates records.
        update: statement that changes records whose version is still the one that was read.
        options: how these writes differ from plain ones.
    """

    kind: RecordKind[RecordT, ModelT]
    context: WriteContext
    user_id: str
    create: Statement
    update: Statement
    options: WriteOptions[Any, RecordT] = field(default_factory=WriteOptions)

    async def save(self, planned: Mapping[int, PlannedWrite[RecordT]]) -> dict[int, WriteResult[ModelT] | KgAgentError]:
        """Embed the changed texts in one call and write; a plan that met a conflict is missing from the result.

        Raises:
            EmbeddingError: the embedder failed.
            StoreError: the database failed.
        """
        now = self.context.clock()
        texts = [(self.kind.text(plan.after, now), plan.stored) for plan in planned.values()]
        vectors = await vector_changes(self.context.embedder, texts, vector_property=self.kind.vector_property)
        results: dict[int, WriteResult[ModelT]] = {}
        created, updated = list[Row](), list[Row]()
        for (position, plan), (text, _), vector in zip(planned.items(), texts, vectors, strict=True):
            changed = self._needs_write(plan, vector, now)
            properties = self._properties(plan, vector, now) if changed else {}
            results[position] = WriteResult(
                record=self.kind.to_model(with_properties(plan.after, properties), plan.asked_from),
                stored=plan.stored,
                changed=changed,
                embedding=vector.vector,
                warnings=() if vector.vector is None else length_warnings(text),
                omitted=plan.omitted,
            )
            if changed:
                row = self._row(position, plan, vector, properties)
                (updated if row["element_id"] else created).append(row)
        outcomes = await self._write_all(created, updated)
        for position in sorted(position for position, error in outcomes.items() if error is None):
            self._notify(planned[position])
        return {
            position: outcomes.get(position) or result
            for position, result in results.items()
            if position in outcomes or not result.changed
        }

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

    def _row(self, position: int, plan: PlannedWrite[RecordT], vector: VectorChange, properties: Row) -> Row:
        return {
            **self.kind.location(plan.after),
            "position": position,
            "element_id": plan.after.element_id,
            "version": stored_version(plan.after),
            "vector": self.kind.store.vector(vector.vector),
            "properties": properties,
        }

    async def _write_all(self, created: list[Row], updated: list[Row]) -> dict[int, KgAgentError | None]:
        if self.options.dry_run:
            return {row["position"]: None for row in (*created, *updated)}
        async with self.options.lock or nullcontext():
            parts = [(self.create, created), (self.update, updated)]
            return await self._write_parts([(text, rows) for text, rows in parts if rows])

    async def _write_parts(self, parts: Sequence[tuple[Statement, list[Row]]]) -> dict[int, KgAgentError | None]:
        """Write parts in turn; if the database fails once something was written, the rest has its error as outcome."""
        outcomes: dict[int, KgAgentError | None] = {}
        for number, (text, rows) in enumerate(parts):
            try:
                outcomes |= await self._write(text, rows)
            except KgAgentError as error:
                if None not in outcomes.values():
                    raise
                return outcomes | {row["position"]: error for _, rest in parts[number:] for row in rest}
        return outcomes

    async def _write(self, text: Statement, rows: list[Row]) -> dict[int, KgAgentError | None]:
        """Write rows in one transaction, or each alone if one is refused; without those that met a conflict."""
        parameters = {"user_id": self.user_id, "now": self.context.clock(), "rows": rows}
        try:
            written = await self.kind.store.write(text, parameters)
        except (ConstraintViolationError, EntityGoneError, SharedKeyError) as error:
            if len(rows) > 1:
                return await self._write_parts([(text, [row]) for row in rows])
            return {rows[0]["position"]: error} if isinstance(error, SharedKeyError) else {}
        return {row["position"]: None for row in written}

    def _notify(self, plan: PlannedWrite[RecordT]) -> None:
        """Report a change without the time and version of the write, so that equal content compares as equal."""
        if self.context.on_change is None:
            return
        before = None if plan.stored is None else self.kind.to_model(plan.stored, plan.asked_from)
        self.context.on_change(before, self.kind.to_model(plan.after, plan.asked_from))


def changed_properties(
    record: Record, values: Mapping[str, Any], notes: Sequence[Note], context: WriteContext
) -> dict[str, Any]:
    """The properties that differ once values are set and notes are added.

    Raises:
        InputError: the record would have too many notes.
    """
    wanted = dict(values)
    all_notes = add_notes(record.notes, notes, context.clock()) if notes else record.notes
    if len(all_notes) > max(context.max_notes, len(record.notes)):
        raise InputError(
            f"A record may have at most {context.max_notes:,} notes, got {len(all_notes):,}: "
            "remove old notes (in remember: replaces without content), or raise KGAGENT_MAX_NOTES"
        )
    if all_notes != record.notes:
        wanted["notes"] = dump_notes(all_notes)
    return {key: value for key, value in wanted.items() if record.properties.get(key) != value}


def with_properties(record: RecordT, properties: Mapping[str, Any]) -> RecordT:
    """A record with properties set; None removes one, as in the database."""
    merged = {**record.properties, **properties}
    return replace(record, properties={key: value for key, value in merged.items() if value is not None})


def stored_version(record: Record) -> int:
    """How often a record was written; 0 if kgagent never wrote it.

    Raises:
        InputError: the stored version is not an integer.
    """
    stored = record.properties.get("version")
    if stored is not None and not isinstance(stored, int):
        raise InputError(f"version must be an integer, got {stored!r}; `kgagent doctor` lists such records")
    return stored or 0


def next_version(record: Record, updated_at: datetime | None) -> dict[str, Any]:
    """The properties that mark a write; without a time, the one of the last change stays."""
    return {"version": stored_version(record) + 1} | ({"updated_at": updated_at} if updated_at else {})


async def vector_changes(
    embedder: Embedder, texts: Sequence[tuple[str, Record | None]], *, vector_property: str
) -> list[VectorChange]:
    """Embed, in one call, the texts that differ from the stored embeddings.

    Args:
        embedder: makes the embeddings.
        texts: the embedding text of each record, with the stored record (None for a new one).
        vector_property: property that holds the embedding.

    Raises:
        EmbeddingError: the embedder failed.
    """
    outdated = [
        position
        for position, (text, record) in enumerate(texts)
        if text and (record is None or not is_current(record, text, embedder))
    ]
    embeddings = await embedder.embed([texts[position][0] for position in outdated]) if outdated else []
    embedded = dict(zip(outdated, embeddings, strict=True))
    changes = []
    for position, (text, record) in enumerate(texts):
        if position in embedded:
            bookkeeping = {"embedding_hash": embedding_hash(embedder, text), "embedding_model": embedder.model}
            changes.append(VectorChange(bookkeeping, embedded[position]))
        elif not text and record is not None and not is_current(record, text, embedder):
            changes.append(VectorChange({vector_property: None, "embedding_hash": None, "embedding_model": None}))
        else:
            changes.append(VectorChange())
    return changes


def is_current(record: Record, text: str, embedder: Embedder) -> bool:
    """Whether the stored embedding is that of the text; for an empty text, whether there is none."""
    if not text:
        return record.vector_length is None and record.properties.get("embedding_hash") is None
    return (
        record.vector_length == embedder.dimensions
        and record.properties.get("embedding_model") == embedder.model
        and record.properties.get("embedding_hash") == embedding_hash(embedder, text)
    )


def embedding_hash(embedder: Embedder, text: str) -> str:
    """Fingerprint of a text under a model; equal fingerprints mean that the stored embedding is current."""
    return hashlib.sha256(f"{embedder.model}\n{embedder.dimensions}\n{text}".encode(errors="surrogatepass")).hexdigest()


def embedding_text(*parts: str | None, notes: Iterable[Note], now: datetime) -> str:
    """Join the parts of an embedding text and the notes, without absent parts and notes that have expired by `now`."""
    present = (part for part in (*parts, notes_text_at(notes, now)[:NOTES_TEXT_LIMIT]) if part and not part.isspace())
    return " ".join(present)


def length_warnings(text: str) -> tuple[str, ...]:
    """What a caller should know of an embedding text that is longer than embedding models read."""
    if len(text) <= MAX_EMBEDDED_TEXT:
        return ()
    return (
        f"Its text has {len(text):,} characters, of which vector search covers about the first {MAX_EMBEDDED_TEXT:,} "
        "at most; split long content over several nodes and relationships",
    )
