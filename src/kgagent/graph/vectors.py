"""Deciding which records need a new vector, and making those of one write in one batch."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from kgagent.embedding.base import Embedder, Embedding
from kgagent.embedding.text import embedding_hash
from kgagent.graph.records import Record


@dataclass(frozen=True)
class VectorChange:
    """What a write does to the vector of a record.

    Attributes:
        properties: bookkeeping to write with it; None removes a property.
        vector: the new embedding; None leaves the one that is stored, or `properties` removes it.
    """

    properties: dict[str, Any] = field(default_factory=dict)
    vector: Embedding | None = None

    @property
    def changes(self) -> bool:
        """Whether anything is to be written."""
        return bool(self.properties)


def is_current(record: Record, text: str, embedder: Embedder) -> bool:
    """Whether the stored vector is that of the text under this embedder; for an empty text, whether there is none."""
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
    """Embed, in one batch, the texts whose stored vector is not theirs.

    Args:
        embedder: makes the embeddings.
        texts: the text of each record with the record as stored, or None for a new one.
        vector_property: property that holds the vector.

    Raises:
        EmbeddingError: the embedder failed.
    """
    stale = [
        position
        for position, (text, record) in enumerate(texts)
        if text and (record is None or not is_current(record, text, embedder))
    ]
    embeddings = await embedder.embed([texts[position][0] for position in stale]) if stale else []
    made = dict(zip(stale, embeddings, strict=True))
    changes = []
    for position, (text, record) in enumerate(texts):
        if position in made:
            bookkeeping = {"embedding_hash": embedding_hash(embedder, text), "embedding_model": embedder.model}
            changes.append(VectorChange(bookkeeping, made[position]))
        elif not text and record is not None and not is_current(record, text, embedder):
            changes.append(VectorChange({vector_property: None, "embedding_hash": None, "embedding_model": None}))
        else:
            changes.append(VectorChange())
    return changes
