"""Stored records that a merge or a restoration changes: their new embeddings, and the rows that write them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from kgagent.embedding.base import Embedder
from kgagent.graph.record_saver import next_version, stored_version, vector_changes
from kgagent.graph.records import NodeRecord, Record
from kgagent.graph.writes import RecordKind, VectorChange
from kgagent.turns import in_turns


class ChangedRecord(NamedTuple):
    """A node or a relationship as it will be and as it is stored, with the properties that change."""

    kind: RecordKind[Any, Any]
    after: Record
    stored: Record
    changes: Mapping[str, Any]


async def vectors_after(embedder: Embedder, records: Sequence[ChangedRecord], now: datetime) -> list[VectorChange]:
    """How the embeddings of records change; one embedding request.

    Raises:
        EmbeddingError: the embedder failed.
    """
    texts = await in_turns(lambda record: (record.kind.text(record.after, now), record.stored), records)
    return await vector_changes(embedder, texts)


async def rows_of(
    records: Sequence[ChangedRecord],
    vectors: Sequence[VectorChange],
    *,
    user_id: str,
    now: datetime,
    updated_at: datetime | None,
) -> list[dict[str, Any]]:
    """The parameters by which a statement writes records.

    Args:
        records: the records.
        vectors: how the embedding of each changes.
        user_id: their owner.
        now: the time of the write.
        updated_at: what they get as the time of their last change; None keeps the stored one.
    """

    def row(item: tuple[ChangedRecord, VectorChange]) -> dict[str, Any]:
        (kind, after, stored, changes), vector = item
        return {
            **kind.location(after),
            "element_id": stored.element_id,
            "version": stored_version(stored),
            "vector": kind.store.vector(vector.vector),
            "properties": {
                **changes,
                **vector.properties,
                **kind.bookkeeping(after, user_id, now),
                **next_version(after, updated_at),
            },
        }

    return await in_turns(row, zip(records, vectors, strict=True))


def version_of(record: NodeRecord) -> dict[str, Any]:
    """The parameter by which a statement finds a node and checks that it is as it was read."""
    return {
        "element_id": record.element_id,
        "entity_key": record.properties.get("entity_key"),
        "version": stored_version(record),
    }
