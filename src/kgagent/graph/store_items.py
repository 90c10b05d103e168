"""Items that programs store beside the graph of a user: JSON values by namespace and key, with
texts to search by.

An item is a node that no search of the graph reads, and so is each of its embedded texts.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from kgagent.embedding.base import Embedder
from kgagent.errors import InputError, StatementTimeoutError, StoreError
from kgagent.formatting import has_unpaired_surrogates
from kgagent.graph.identifiers import Identifier
from kgagent.graph.schema_parts import STORE_ITEM, STORE_TEXT, node_vector_index
from kgagent.graph.statements import Statement, statement
from kgagent.graph.store import Parameters, Row, Store
from kgagent.graph.stored_embeddings import embedding_hash
from kgagent.models.note import as_utc
from kgagent.models.store_item import ItemPlace, ItemSearch, Namespace, NewItem, StoredItem, path_of

STORE_ITEM_NAMES = {
    "item": Identifier(STORE_ITEM),
    "text": Identifier(STORE_TEXT),
    "index": Identifier(node_vector_index(STORE_TEXT)),
}
"""The placeholders of the statements about items."""

MAX_PLACE_BYTES = 6_000
"""Bytes of a user id, a namespace and a key together; an entry of a range index has at most about
8,000.
"""

UNLIMITED = 2**31 - 1
MIN_CANDIDATES, MAX_CANDIDATES = 200, 10_000
"""Texts that the index compares: at least, and at most; a search that needs more compares all
items.
"""

SCANNED = 100
"""Number of items up to which an exact scan is faster than the index."""


@dataclass(frozen=True)
class StoreItemRepository:
    """Reads and writes the items of one user.

    Attributes:
        store: the database.
        embedder: embeds texts to store.
        clock: returns the time, with time zone.
        user_id: owner of the items.
        exact_scan_limit: number of items up to which all are compared; None is 100. Without indexes
            that filter by user, all are compared whatever their number.
        oversampling: candidates that the index compares, as a multiple of the limit.
    """

    store: Store
    embedder: Embedder
    clock: Callable[[], datetime]
    user_id: str
    exact_scan_limit: int | None = None
    oversampling: int = 20

    async def get(self, places: Sequence[ItemPlace]) -> list[StoredItem | None]:
        """Read items; None for those that do not exist or have expired.

        Raises:
            StoreError: the database failed.
        """
        self._check(places)
        items: dict[int, StoredItem] = {}
        if places:
            parameters = self._parameters(places=[place.parameters for place in places])
            rows = await self.store.read(_statement("read_store_items"), parameters)
            items = {row["position"]: item for row in rows if (item := _read(row))}
        return [items.get(position) for position in range(len(places))]

    async def search(self, search: ItemSearch) -> list[StoredItem]:
        """Find items: with a vector the nearest first, then those without a text; otherwise the
        newest first.

        Raises:
            InputError: the offset or the limit is negative.
            StoreError: the database failed.
        """
        if search.offset < 0 or search.limit < 0:
            raise InputError(
                f"offset and limit must not be negative, got {search.offset} and {search.limit}"
            )
        self._check([ItemPlace(search.prefix, "")])
        parameters = self._parameters(
            prefix=path_of(search.prefix), offset=search.offset, limit=min(search.limit, UNLIMITED)
        )
        if search.vector is None:
            text = _statement("list_store_items")
        else:
            text = _statement("rank_store_items")
            parameters |= {
                "vector": self.store.vector(search.vector),
                "model": self.embedder.model,
                "dimensions": self.embedder.dimensions,
            }
        if search.accepts is not None:
            return await self._filtered(text, parameters, search, search.accepts)
        if search.vector is not None and self.store.features.filtered_vector_indexes:
            rows = await self._search_index(search, parameters)
            if len(rows) == search.limit:
                return _read_all(rows)
        return _read_all(await self.store.read(text, parameters))

    async def namespaces(self, prefix: Namespace = ()) -> list[Namespace]:
        """List the namespaces that begin with some labels and have items, in order.

        Raises:
            StoreError: the database failed.
        """
        self._check([ItemPlace(prefix, "")])
        parameters = self._parameters(prefix=path_of(prefix))
        async with self.store.stream(_statement("list_store_namespaces"), parameters) as rows:
            return sorted(
                [tuple(row["namespace"]) async for row in rows if row["namespace"] is not None]
            )

    async def write(self, items: Sequence[NewItem], deleted: Sequence[ItemPlace] = ()) -> None:
        """Store items, each in place of the one with its namespace and key, and delete others.

        That is one transaction, except for items that another transaction deletes while this one
        waits for them: they are stored in a transaction of their own, after the others.

        Raises:
            InputError: a namespace or a key is too long.
            EmbeddingError: the texts could not be embedded; nothing was written.
            StoreError: the database failed; nothing was written, or all but the items that were
                deleted meanwhile.
        """
        ordered = sorted(items, key=lambda item: (item.place.path, item.place.key))
        self._check([*(item.place for item in items), *deleted])
        vectors = await self._vectors(ordered)
        now = self.clock()
        rows = [
            {
                **item.place.parameters,
                "namespace": list(item.place.namespace),
                "value": item.value,
                "ttl_minutes": item.ttl_minutes,
                "expires_at": None
                if item.ttl_minutes is None
                else now + timedelta(minutes=item.ttl_minutes),
                "texts": [
                    {"text": text, "hash": self._hash(text), "vector": vectors[self._hash(text)]}
                    for text in item.texts
                ],
            }
            for item in ordered
        ]
        places = sorted(
            (place.parameters for place in deleted), key=lambda place: (place["path"], place["key"])
        )
        parameters = self._parameters(now=now, model=self.embedder.model, deleted=places)
        while True:
            # A node that another transaction deletes while this one waits for its lock takes no
            # value.
            written = await self.store.read_for_update(
                _statement("write_store_items"), {**parameters, "items": rows}
            )
            stored = {(row["path"], row["key"]) for row in written}
            rows = [row for row in rows if (row["path"], row["key"]) not in stored]
            if not rows:
                return

    async def refresh(self, places: Sequence[ItemPlace]) -> None:
        """Renew the expiry of items that were read.

        Raises:
            StoreError: the database failed.
        """
        if places:
            ordered = sorted(places, key=lambda place: (place.path, place.key))
            parameters = self._parameters(places=[place.parameters for place in ordered])
            await self.store.read_for_update(_statement("refresh_store_items"), parameters)

    async def _filtered(
        self,
        text: Statement,
        parameters: Mapping[str, Any],
        search: ItemSearch,
        accepts: Callable[[dict[str, Any]], bool],
    ) -> list[StoredItem]:
        """Read items until enough are accepted."""
        accepted: list[StoredItem] = []
        skipped = 0
        if search.limit == 0:
            return accepted
        async with self.store.stream(text, {**parameters, "offset": 0, "limit": UNLIMITED}) as rows:
            async for row in rows:
                item = _read(row)
                if item is None or not accepts(item.value):
                    continue
                if skipped < search.offset:
                    skipped += 1
                    continue
                accepted.append(item)
                if len(accepted) == search.limit:
                    break
        return accepted

    async def _search_index(self, search: ItemSearch, parameters: Parameters) -> list[Row]:
        """Search the index if the user has many items; it may find fewer items than are
        requested.
        """
        limit = SCANNED if self.exact_scan_limit is None else self.exact_scan_limit
        candidates = max((search.offset + search.limit) * self.oversampling, MIN_CANDIDATES)
        [row] = await self.store.read(
            _statement("count_store_items"), {**parameters, "scan_limit": limit}
        )
        if row["found"] <= limit or candidates > MAX_CANDIDATES:
            return []
        try:
            return await self.store.read(
                _statement("search_store_items_index"), {**parameters, "fetch": candidates}
            )
        except StatementTimeoutError:
            raise
        except StoreError:
            # See `WidenedIndex` in kgagent.search.
            return []

    async def _vectors(self, items: Sequence[NewItem]) -> dict[str, object]:
        """The vector of each text by its fingerprint; a text that the items already have is not
        embedded again.
        """
        texts = {self._hash(text): text for item in items for text in item.texts}
        if not texts:
            return {}
        parameters = self._parameters(
            model=self.embedder.model,
            dimensions=self.embedder.dimensions,
            places=[item.place.parameters for item in items],
            hashes=list(texts),
        )
        rows = await self.store.read(_statement("read_store_embeddings"), parameters)
        vectors: dict[str, object] = {
            row["hash"]: self.store.vector(row["embedding"]) for row in rows
        }
        new = [key for key in texts if key not in vectors]
        if new:
            embeddings = await self.embedder.embed([texts[key] for key in new])
            vectors |= {
                key: self.store.vector(one) for key, one in zip(new, embeddings, strict=True)
            }
        return vectors

    def _hash(self, text: str) -> str:
        return embedding_hash(self.embedder, text)

    def _check(self, places: Sequence[ItemPlace]) -> None:
        """Check that the database accepts places as keys.

        Raises:
            InputError: a label or key has an unpaired surrogate, or they are too long.
        """
        for place in places:
            whole = f"{self.user_id}{place.path}{place.key}"
            if has_unpaired_surrogates(whole):
                raise InputError(
                    f"namespace {place.namespace!r} or key {place.key!r} contains an unpaired "
                    f"surrogate, which is "
                    "not a character; remove it"
                )
            if len(whole.encode()) > MAX_PLACE_BYTES:
                raise InputError(
                    f"user_id, namespace and key may have at most {MAX_PLACE_BYTES:,} bytes "
                    f"together, got "
                    f"{len(whole.encode()):,}; use a shorter key, such as a hash of it"
                )

    def _parameters(self, **more: object) -> dict[str, Any]:
        return {"user_id": self.user_id, "now": self.clock(), **more}


def _statement(name: str) -> Statement:
    return statement(name, **STORE_ITEM_NAMES)


def _read_all(rows: Iterable[Row]) -> list[StoredItem]:
    return [item for row in rows if (item := _read(row))]


def _read(row: Row) -> StoredItem | None:
    """The item of a row; None if another transaction deleted it while its properties were read."""
    if any(row[name] is None for name in ("namespace", "key", "value", "created_at", "updated_at")):
        return None
    return StoredItem(
        place=ItemPlace(tuple(row["namespace"]), row["key"]),
        value=json.loads(row["value"]),
        created_at=as_utc(row["created_at"].to_native()),
        updated_at=as_utc(row["updated_at"].to_native()),
        has_ttl=row["has_ttl"],
        score=row.get("score"),
    )


@dataclass(frozen=True, kw_only=True)
class StoreTextCounts:
    """Counts of stored items and of their texts.

    Attributes:
        items: number of items.
        outdated: number of texts without an embedding of the present model, which semantic search
            omits.
        other_model: the model of one of them; None if unknown.
    """

    items: int
    outdated: int
    other_model: str | None


async def count_store_texts(
    store: Store, embedder: Embedder, *, user_id: str | None
) -> StoreTextCounts:
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


async def embed_outdated_texts(
    store: Store, embedder: Embedder, *, user_id: str | None, batch_size: int
) -> int:
    """Embed texts without an embedding of the present model, in batches; written batches stay
    written.

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
    parameters = {
        "user_id": user_id,
        "model": embedder.model,
        "dimensions": embedder.dimensions,
        "limit": batch_size,
    }
    updated, after = 0, ""
    while True:
        rows = await store.read(
            statement("read_outdated_texts", **STORE_ITEM_NAMES), {**parameters, "after": after}
        )
        if not rows:
            return updated
        after = rows[-1]["element_id"]
        # Another transaction may delete a text while its properties are read.
        rows = [row for row in rows if row["text"] is not None]
        embeddings = await embedder.embed([row["text"] for row in rows]) if rows else []
        written = [
            {
                **row,
                "hash": embedding_hash(embedder, row["text"]),
                "vector": store.vector(embedding),
            }
            for row, embedding in zip(rows, embeddings, strict=True)
        ]
        [count] = await store.read_for_update(
            statement("update_store_texts", **STORE_ITEM_NAMES), {**parameters, "rows": written}
        )
        updated += count["updated"]
