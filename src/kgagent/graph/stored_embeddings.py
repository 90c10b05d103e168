"""Whether a stored embedding is that of a text, by the fingerprint that is stored with it."""

import hashlib

from kgagent.embedding.base import Embedder
from kgagent.graph.records import Record


def is_current(record: Record, text: str, embedder: Embedder) -> bool:
    """Whether the stored embedding is that of the text; for an empty text, whether there is
    none.
    """
    if not text:
        return record.vector_length is None and record.properties.get("embedding_hash") is None
    return (
        record.vector_length == embedder.dimensions
        and record.properties.get("embedding_model") == embedder.model
        and record.properties.get("embedding_hash") == embedding_hash(embedder, text)
    )


def embedding_hash(embedder: Embedder, text: str) -> str:
    """Fingerprint of a text under a model; equal fingerprints mean that the stored embedding is
    current.
    """
    return hashlib.sha256(
        f"{embedder.model}\n{embedder.dimensions}\n{text}".encode(errors="surrogatepass")
    ).hexdigest()
