"""The texts that are embedded for nodes and relationships, and whether a stored embedding still fits its text."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from kgagent.embedding.base import Embedder, Embedding
from kgagent.graph.records import Record
from kgagent.models.note import Note, notes_text_at
from kgagent.ontology import Ontology

NOTES_TEXT_LIMIT = 1000
"""Characters of notes that enter an embedding text."""

MAX_EMBEDDED_TEXT = 8_000
"""Characters of an embedding text that an embedding model is expected to read."""


def relationship_text(
    *,
    ontology: Ontology,
    neo4j_type: str,
    relationship_type: str | None,
    description: str | None,
    attitude: int | None,
    proximity: int | None,
    notes: Iterable[Note],
    now: datetime,
) -> str:
    """Make the embedding text of a relationship.

    The form is "<description> <relationship_type> <attitude_word> <proximity_word> <notes_text>". An absent part is
    omitted together with its space, and so are notes that have expired by `now`.
    """
    return _joined(
        description,
        relationship_type,
        ontology.word(neo4j_type, "attitude", attitude),
        ontology.word(neo4j_type, "proximity", proximity),
        notes_text_at(notes, now)[:NOTES_TEXT_LIMIT],
    )


def node_text(*, name: str | None, description: str | None, notes: Iterable[Note], now: datetime) -> str:
    """Make the embedding text of a node: "<name> <description> <notes_text>"."""
    return _joined(name, description, notes_text_at(notes, now)[:NOTES_TEXT_LIMIT])


def embedding_hash(embedder: Embedder, text: str) -> str:
    """Fingerprint of a text under a model; equal fingerprints mean that the stored embedding is current."""
    return hashlib.sha256(f"{embedder.model}\n{embedder.dimensions}\n{text}".encode(errors="surrogatepass")).hexdigest()


def length_warnings(text: str) -> tuple[str, ...]:
    """What a caller should know of an embedding text that is longer than embedding models read."""
    if len(text) <= MAX_EMBEDDED_TEXT:
        return ()
    return (
        f"Its text has {len(text):,} characters, of which vector search covers about the first {MAX_EMBEDDED_TEXT:,} "
        "at most; split long content over several nodes and relationships",
    )


@dataclass(frozen=True)
class VectorChange:
    """How a write changes the embedding of a record.

    Attributes:
        properties: bookkeeping properties to write; None removes one. Empty if the embedding stays.
        vector: the new embedding; None keeps the stored one, unless `properties` removes it.
    """

    properties: dict[str, Any] = field(default_factory=dict)
    vector: Embedding | None = None


def is_current(record: Record, text: str, embedder: Embedder) -> bool:
    """Whether the stored embedding is that of the text; for an empty text, whether there is none."""
    if not text:
        return record.vector_length is None and record.properties.get("embedding_hash") is None
    return (
        record.vector_length == embedder.dimensions
        and record.properties.get("embedding_model") == embedder.model
        and record.properties.get("embedding_hash") == embedding_hash(embedder, text)
    )


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


def _joined(*parts: str | None) -> str:
    return " ".join(part for part in parts if part and not part.isspace())
