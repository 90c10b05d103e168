"""The text that stands for a relationship or a node when it is embedded, and how a stored vector is known to fit it."""

import hashlib
from collections.abc import Iterable
from datetime import datetime

from kgagent.embedding.base import Embedder
from kgagent.models.note import Note, notes_text_at
from kgagent.ontology import Ontology

NOTES_TEXT_LIMIT = 1000
"""Characters of notes that enter an embedding text."""


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

    The form is "<description> <relationship_type> <attitude_word> <proximity_word> <notes_text>"; an absent part is
    left out together with its space, and notes that have expired by `now` do not count.
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
    """Fingerprint of a text under a model; equal fingerprints mean that the stored vector is current."""
    return hashlib.sha256(f"{embedder.model}\n{embedder.dimensions}\n{text}".encode(errors="surrogatepass")).hexdigest()


def _joined(*parts: str | None) -> str:
    return " ".join(part for part in parts if part and not part.isspace())
