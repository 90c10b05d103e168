"""The embedded texts of all stored items: how many another model embedded, and embedding those again."""

from dataclasses import dataclass

from kgagent.embedding.base import Embedder
from kgagent.graph.record_saver import embedding_hash
from kgagent.graph.statements import statement
from kgagent.graph.store import Store
from kgagent.graph.store_items import STORE_ITEM_NAMES


@dataclass(frozen=True, kw_only=True)
class StoreTextCounts:
    """Counts of stored items and of their texts.

    Attributes:
        items: number of items.
        outdated: number of texts without an embedding of the present model, which semantic search omits.
        other_model: the model of one of them; None if unknown.
    """

    items: int
    outdated: int
    other_model: str | None


async def count_store_texts(store: Store, embedder: Embedder, *, user_id: str | None) -> StoreTextCounts:
    """Count items and their texts.

    Args:
        store: the database.
        embedder: the present embedder.
        user_id: owner of the items; None counts every user's.

    Raises:
        StoreError: the database failed.
    """
    parameters = {"user_id": user_id, "model": embedder.model, "dimensions": embedder.dimensions}
    [row] = await store.read(statement("count_store_texts", **STORE_ITEM_NAMES), parameters)
    return StoreTextCounts(**row)


async def embed_outdated_texts(store: Store, embedder: Embedder, *, user_id: str | None, batch_size: int) -> int:
    """Embed texts without an embedding of the present model, in batches; written batches stay written.

    Args:
        store: the database.
        embedder: the present embedder.
        user_id: owner of the items; None is every user.
        batch_size: texts per embedding request and transaction.

    Returns:
        The number of texts that were embedded.

    Raises:
        EmbeddingError: a batch could not be embedded.
        StoreError: the database failed.
    """
    parameters = {"user_id": user_id, "model": embedder.model, "dimensions": embedder.dimensions, "limit": batch_size}
    updated, after = 0, ""
    while True:
        rows = await store.read(statement("read_outdated_texts", **STORE_ITEM_NAMES), {**parameters, "after": after})
        if not rows:
            return updated
        after = rows[-1]["element_id"]
        # Another transaction may delete a text while its properties are read.
        rows = [row for row in rows if row["text"] is not None]
        embeddings = await embedder.embed([row["text"] for row in rows]) if rows else []
        written = [
            {**row, "hash": embedding_hash(embedder, row["text"]), "vector": store.vector(embedding)}
            for row, embedding in zip(rows, embeddings, strict=True)
        ]
        [count] = await store.read_for_update(
            statement("update_store_texts", **STORE_ITEM_NAMES), {**parameters, "rows": written}
        )
        updated += count["updated"]
