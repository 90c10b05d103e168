"""Saving planned nodes or relationships: changed texts are embedded in one call, and rows are
written together.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Generic, NamedTuple

from kgagent.embedding.base import Embedder
from kgagent.errors import (
    ConstraintViolationError,
    EntityGoneError,
    InputError,
    KgAgentError,
    SharedKeyError,
)
from kgagent.graph.identifiers import Identifier
from kgagent.graph.property_names import STATEMENTS_HASH
from kgagent.graph.records import Record
from kgagent.graph.statement_index import index_row, record_statements, statements_change
from kgagent.graph.statements import Statement, statement
from kgagent.graph.store import Row
from kgagent.graph.stored_embeddings import embedding_hash, is_current
from kgagent.graph.writes import (
    ModelT,
    PlannedWrite,
    RecordKind,
    RecordStatements,
    RecordT,
    StatementsChange,
    VectorChange,
    WriteContext,
    WriteOptions,
    WriteResult,
)
from kgagent.models.merged_notes import add_notes
from kgagent.models.note import Note, dump_notes, notes_text_at
from kgagent.ontology import Ontology

NOTES_TEXT_LIMIT = 1000
"""Characters of notes that enter an embedding text."""

MAX_EMBEDDED_TEXT = 8_000
"""Characters of an embedding text that an embedding model is expected to read."""


@dataclass(frozen=True)
class PlannedRecord(Generic[RecordT]):
    """All plans about one record, in order: each is about what the one before leaves, and they are
    written at once.

    Attributes:
        plans: the plans by their positions.
    """

    plans: dict[int, PlannedWrite[RecordT]]

    @property
    def position(self) -> int:
        """Position of the last plan."""
        return next(reversed(self.plans))

    @property
    def whole(self) -> PlannedWrite[RecordT]:
        """What the plans write together."""
        first, last = next(iter(self.plans.values())), self.plans[self.position]
        changes = {
            name: value for plan in self.plans.values() for name, value in plan.changes.items()
        }
        return replace(last, stored=first.stored, changes=changes)


def by_record(planned: Mapping[int, PlannedWrite[RecordT]]) -> list[PlannedRecord[RecordT]]:
    """The plans of each record."""
    records: dict[int, PlannedRecord[RecordT]] = {}
    for position, plan in planned.items():
        record = records.pop(id(plan.stored), None) or PlannedRecord({})
        record.plans[position] = plan
        records[id(plan.after)] = record
    return list(records.values())


NamedRow = tuple[str, Row]
"""A row of a statement, and the name of the parameter that it belongs to."""


@dataclass(frozen=True, kw_only=True)
class RecordSaver(Generic[RecordT, ModelT]):
    """Saves planned records of one user.

    Attributes:
        kind: nodes or relationships.
        context: the embedder and the clock.
        user_id: owner of the records.
        write: statement that creates records, and changes those whose version is still the one that
            was read.
        options: how these writes differ from plain ones.
    """

    kind: RecordKind[RecordT, ModelT]
    context: WriteContext
    user_id: str
    write: Statement
    options: WriteOptions[Any, RecordT] = field(default_factory=WriteOptions)

    async def save(
        self, planned: Mapping[int, PlannedWrite[RecordT]]
    ) -> dict[int, WriteResult[ModelT] | KgAgentError]:
        """Embed the changed texts in one call and write; a plan that met a conflict is missing from
        the result.

        Raises:
            EmbeddingError: the embedder failed.
            StoreError: the database failed.
        """
        return await save_records([(self, planned)])

    def prepare(
        self, record: PlannedRecord[RecordT], text: str, vector: VectorChange, now: datetime
    ) -> tuple[dict[int, WriteResult[ModelT]], NamedRow | None]:
        """The results of a record if it is written, and the row that writes it; None if nothing is
        to be written.

        Args:
            record: all plans about it.
            text: its embedding text.
            vector: how its embedding changes.
            now: the time of the write.
        """
        whole = record.whole
        row = (
            self._row(record.position, whole, vector, now)
            if self._needs_write(whole, vector, now)
            else None
        )
        written = whole.after if row is None else with_properties(whole.after, row["properties"])
        results = self._results(record, written, text, vector, row is not None)
        created_or_updated = "updated" if whole.after.element_id else "created"
        return results, None if row is None else (f"{created_or_updated}_{self.kind.plural}", row)

    def _results(
        self,
        record: PlannedRecord[RecordT],
        written: RecordT,
        text: str,
        vector: VectorChange,
        is_written: bool,
    ) -> dict[int, WriteResult[ModelT]]:
        """The result of each plan of a record, of which the last one has the new embedding."""
        results = {
            position: WriteResult(
                record=self.kind.to_model(plan.after, plan.asked_from),
                stored=plan.stored,
                changed=plan.stored is None or bool(plan.changes),
                omitted=plan.omitted,
            )
            for position, plan in record.plans.items()
        }
        last = results[record.position]
        results[record.position] = replace(
            last,
            record=self.kind.to_model(written, record.whole.asked_from),
            changed=last.changed
            or (is_written and not any(result.changed for result in results.values())),
            embedding=vector.vector,
            warnings=() if vector.vector is None else length_warnings(text),
        )
        return results

    def _needs_write(
        self, plan: PlannedWrite[RecordT], vector: VectorChange, now: datetime
    ) -> bool:
        if (
            plan.stored is None
            or plan.changes
            or vector.properties
            or plan.stored.has_old_properties
        ):
            return True
        expected = self.kind.bookkeeping(plan.stored, self.user_id, now)
        return any(plan.stored.properties.get(name) != value for name, value in expected.items())

    def _row(
        self, position: int, plan: PlannedWrite[RecordT], vector: VectorChange, now: datetime
    ) -> Row:
        record = plan.after
        changes = {"created_at": now, **record.properties} if plan.stored is None else plan.changes
        updated_at = None if self.options.keep_updated_at else now
        row = written_row(
            self.kind,
            record,
            changes,
            vector,
            embedder=self.context.embedder,
            user_id=self.user_id,
            now=now,
            updated_at=updated_at,
        )
        return {**row, "position": position}

    async def write_rows(self, rows: Sequence[NamedRow]) -> dict[int, KgAgentError | None]:
        """Write rows in one transaction, or each alone if one is refused; without those that met a
        conflict.

        Raises:
            StoreError: the database failed before anything was written.
        """
        if self.options.dry_run or not rows:
            return {row["position"]: None for _, row in rows}
        parameters: dict[str, Any] = {"user_id": self.user_id}
        for name, row in sorted(rows, key=_lock_order):
            parameters.setdefault(name, []).append(row)
        try:
            async with self.options.lock or nullcontext():
                [written] = await self.kind.store.write(self.write, parameters)
        except (ConstraintViolationError, EntityGoneError, SharedKeyError) as error:
            if len(rows) > 1:
                return await self._write_each(rows)
            return {rows[0][1]["position"]: error} if isinstance(error, SharedKeyError) else {}
        return dict.fromkeys(written["positions"])

    async def _write_each(self, rows: Sequence[NamedRow]) -> dict[int, KgAgentError | None]:
        """Write rows in turn; if the database fails once something was written, the rest has its
        error as outcome.
        """
        outcomes: dict[int, KgAgentError | None] = {}
        for number, row in enumerate(rows):
            try:
                outcomes |= await self.write_rows([row])
            except KgAgentError as error:
                if None not in outcomes.values():
                    raise
                return outcomes | {rest["position"]: error for _, rest in rows[number:]}
        return outcomes

    def notify(self, plan: PlannedWrite[RecordT]) -> None:
        """Report a change without the time and version of the write, so that equal content compares
        as equal.
        """
        if self.context.on_change is None:
            return
        before = None if plan.stored is None else self.kind.to_model(plan.stored, plan.asked_from)
        self.context.on_change(before, self.kind.to_model(plan.after, plan.asked_from))


def _lock_order(named: NamedRow) -> list[str]:
    """Sorts rows by their keys, so that writers of the same records wait for each other, but do not
    deadlock.
    """
    _, row = named
    return sorted(
        row[key] for key in ("entity_key", "from_entity_key", "to_entity_key") if key in row
    )


def write_records(ontology: Ontology) -> Statement:
    """The statement that writes nodes and relationships of an ontology."""
    labels, types = Identifier.any_of(ontology.labels), Identifier.any_of(ontology.relationships)
    return statement("write_records", labels=labels, types=types)


async def save_records(
    parts: Sequence[tuple[RecordSaver[Any, Any], Mapping[int, PlannedWrite[Any]]]],
) -> dict[int, WriteResult[Any] | KgAgentError]:
    """Embed the changed texts of records of several kinds in one call, and write all in one
    transaction.

    Args:
        parts: the records of each kind by their positions; nodes before the relationships that join
            them.

    Returns:
        The results; a plan that met a conflict is missing.

    Raises:
        EmbeddingError: the embedder failed.
        StoreError: the database failed before anything was written.
    """
    saver, _ = parts[0]
    now = saver.context.clock()
    records = [(owner, record) for owner, planned in parts for record in by_record(planned)]
    wholes = [(owner, record.whole) for owner, record in records]
    texts = [EmbeddedText.of(owner.kind, whole.after, whole.stored, now) for owner, whole in wholes]
    changes = await vector_changes(saver.context.embedder, texts)
    written: dict[int, WriteResult[Any]] = {}
    rows: list[NamedRow] = []
    for (owner, record), text, change in zip(records, texts, changes, strict=True):
        of_record, row = owner.prepare(record, text.text, change, now)
        written |= of_record
        rows += [] if row is None else [row]
    outcomes = await saver.write_rows(rows)
    unwritten = {row["position"] for _, row in rows} - outcomes.keys()
    results: dict[int, WriteResult[Any] | KgAgentError] = {}
    for owner, record in records:
        if record.position in unwritten:
            continue
        error = outcomes.get(record.position)
        results |= {position: error or written[position] for position in record.plans}
        if record.position in outcomes and error is None:
            owner.notify(record.whole)
    return results


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
    return replace(
        record, properties={key: value for key, value in merged.items() if value is not None}
    )


def stored_version(record: Record) -> int:
    """How often a record was written; 0 if kgagent never wrote it.

    Raises:
        InputError: the stored version is not an integer.
    """
    stored = record.properties.get("version")
    if stored is not None and not isinstance(stored, int):
        raise InputError(
            f"version must be an integer, got {stored!r}; `kgagent doctor` lists such records"
        )
    return stored or 0


def written_row(
    kind: RecordKind[RecordT, Any],
    record: RecordT,
    changes: Mapping[str, Any],
    vector: VectorChange,
    *,
    embedder: Embedder,
    user_id: str,
    now: datetime,
    updated_at: datetime | None,
) -> Row:
    """The parameter by which a statement writes a record if its version is the one that was read.

    Args:
        kind: nodes or relationships.
        record: the record with its changes.
        changes: the properties that change.
        vector: how its embedding changes.
        embedder: makes the embeddings.
        user_id: its owner.
        now: the time of the write.
        updated_at: what it gets as the time of its last change; None keeps the stored one.
    """
    version = stored_version(record)
    return {
        **kind.location(record),
        "element_id": record.element_id,
        "version": version,
        "vector": kind.store.vector(vector.vector),
        "stated": index_row(kind, vector, embedder),
        "properties": {
            **changes,
            **vector.properties,
            **kind.bookkeeping(record, user_id, now),
            "version": version + 1,
            **({"updated_at": updated_at} if updated_at else {}),
        },
    }


class EmbeddedText(NamedTuple):
    """What is embedded of a record.

    Attributes:
        text: its embedding text.
        stored: the record before; None for a new one.
        statements: its statements; None leaves the index of statements as it is.
        before: the statements of the record before.
        keeps_vector: whether its own embedding stays as it is, even if it is outdated.
    """

    text: str
    stored: Record | None
    statements: RecordStatements | None = None
    before: RecordStatements | None = None
    keeps_vector: bool = False

    @classmethod
    def of(
        cls, kind: RecordKind[Any, Any], after: Record, stored: Record | None, now: datetime
    ) -> "EmbeddedText":
        """What is embedded of a record as it will be."""
        statements = record_statements(kind, after, now)
        if stored is None:
            return cls(kind.text(after, now), None, statements)
        before = statements if stored is after else record_statements(kind, stored, now)
        return cls(kind.text(after, now), stored, statements, before)

    def is_current(self, embedder: Embedder) -> bool:
        """Whether the stored embedding is that of the text."""
        return self.stored is not None and is_current(self.stored, self.text, embedder)

    def is_outdated(self, embedder: Embedder) -> bool:
        """Whether the text must be embedded."""
        return bool(self.text) and not self.keeps_vector and not self.is_current(embedder)

    def statements_change(self, embedder: Embedder) -> StatementsChange | None:
        """How its entries in the index of statements change, without new embeddings; None if they
        do not.
        """
        if self.statements is None:
            return None
        return statements_change(
            embedder,
            self.statements,
            before=self.before,
            indexed=None if self.stored is None else self.stored.properties.get(STATEMENTS_HASH),
            current_text=self.text if self.is_current(embedder) else None,
        )

    def outdated_texts(
        self, embedder: Embedder, change: StatementsChange | None
    ) -> tuple[str, ...]:
        """The texts to embed: its own, and those of its statements, which change so."""
        own = (self.text,) if self.is_outdated(embedder) else ()
        return own if change is None else (*own, *change.new_texts.values())


async def vector_changes(embedder: Embedder, texts: Sequence[EmbeddedText]) -> list[VectorChange]:
    """Embed, in one call, the texts and statements that differ from the stored embeddings.

    Args:
        embedder: makes the embeddings.
        texts: of each record.

    Raises:
        EmbeddingError: the embedder failed.
    """
    changed = [(one, one.statements_change(embedder)) for one in texts]
    distinct = list(
        dict.fromkeys(
            text for one, change in changed for text in one.outdated_texts(embedder, change)
        )
    )
    embedded = dict(zip(distinct, await embedder.embed(distinct), strict=True)) if distinct else {}
    changes = []
    for one, change in changed:
        properties: dict[str, Any] = {}
        is_outdated = one.is_outdated(embedder)
        if is_outdated:
            properties = {
                "embedding_hash": embedding_hash(embedder, one.text),
                "embedding_model": embedder.model,
            }
        elif (
            not one.text
            and one.stored is not None
            and not one.keeps_vector
            and not one.is_current(embedder)
        ):
            properties = {
                one.stored.vector_property: None,
                "embedding_hash": None,
                "embedding_model": None,
            }
        if change is not None:
            properties[STATEMENTS_HASH] = change.fingerprint
        vector = embedded[one.text] if is_outdated else None
        changes.append(
            VectorChange(
                properties, vector, None if change is None else change.with_vectors(embedded)
            )
        )
    return changes


def embedding_text(*parts: str | None, notes: Iterable[Note], now: datetime) -> str:
    """Join the parts of an embedding text and the notes, without absent parts and notes that have
    expired by `now`.

    If the notes have more than 1,000 characters, they are joined from the newest to the oldest and
    cut there, so that the words of a new note are always in the text.
    """
    current = [note for note in notes if note.is_current(now)]
    notes_text = notes_text_at(current, now)
    if len(notes_text) > NOTES_TEXT_LIMIT:
        notes_text = notes_text_at(reversed(current), now)[:NOTES_TEXT_LIMIT]
    return " ".join(part for part in (*parts, notes_text) if part and not part.isspace())


def length_warnings(text: str) -> tuple[str, ...]:
    """What a caller should know of an embedding text that is longer than embedding models read."""
    if len(text) <= MAX_EMBEDDED_TEXT:
        return ()
    return (
        f"Its text has {len(text):,} characters, of which vector search covers about the first "
        f"{MAX_EMBEDDED_TEXT:,} "
        "at most; split long content over several nodes and relationships",
    )
