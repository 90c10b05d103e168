"""What is embedded of a record: its text, and those of its statements."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

from kgagent.embedding.base import Embedder
from kgagent.graph.property_names import STATEMENTS_HASH
from kgagent.graph.records import Record
from kgagent.graph.statement_index import record_statements, statements_change
from kgagent.graph.stored_embeddings import embedding_hash, is_current
from kgagent.graph.writes import RecordKind, RecordStatements, StatementsChange, VectorChange
from kgagent.models.note import Note, notes_text_at

NOTES_TEXT_LIMIT = 1000
"""Characters of notes that enter an embedding text."""

MAX_EMBEDDED_TEXT = 8_000
"""Characters of an embedding text that an embedding model is expected to read."""


class EmbeddedText(NamedTuple):
    """What is embedded of a record.

    Attributes:
        text: its embedding text.
        stored: the record before; None for a new one.
        statements: its statements; None leaves the index of statements as it is.
        before: the statements of the record before.
        fingerprint: what is stored of the statements that are indexed; None makes them all again.
    """

    text: str
    stored: Record | None
    statements: RecordStatements | None = None
    before: RecordStatements | None = None
    fingerprint: str | None = None

    @classmethod
    def of(
        cls, kind: RecordKind[Any, Any], after: Record, stored: Record | None, now: datetime
    ) -> "EmbeddedText":
        """What is embedded of a record as it will be."""
        if stored is None:
            new = replace(after, properties={"created_at": now, **after.properties})
            return cls(kind.text(after, now), None, record_statements(kind, new, now))
        statements = record_statements(kind, after, now)
        before = statements if stored is after else record_statements(kind, stored, now)
        kept = after.properties.get(STATEMENTS_HASH)
        fingerprint = kept and stored.properties.get(STATEMENTS_HASH)
        return cls(kind.text(after, now), stored, statements, before, fingerprint)

    def is_current(self, embedder: Embedder) -> bool:
        """Whether the stored embedding is that of the text."""
        return self.stored is not None and is_current(self.stored, self.text, embedder)

    def is_outdated(self, embedder: Embedder) -> bool:
        """Whether the text must be embedded."""
        return bool(self.text) and not self.is_current(embedder)

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
            indexed=self.fingerprint,
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
        elif not one.text and one.stored is not None and not one.is_current(embedder):
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
