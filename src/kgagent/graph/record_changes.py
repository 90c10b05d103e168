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
    """A node or a relationship as it will be and as it is stored."""

    kind: RecordKind[Any, Any]
    after: Record
    stored: Record


async def vectors_after(embedder: Embedder, records: Sequence[ChangedRecord], now: datetime) -> list[VectorChange]:
    """How the embeddings of records change; one embedding request.

    Raises:
        EmbeddingError: the embedder failed.
    """
    texts = await in_turns(lambda record: (record.kind.text(record.after, now), record.stored), records)
    return await vector_changes(embedder, texts)


def version_of(record: NodeRecord) -> dict[str, Any]:
    """The parameter by which a statement finds a node and checks that it is as it was read."""
    return {"element_id": record.element_id, "entity_key": record.entity_key, "version": stored_version(record)}


def row_of(
    kind: RecordKind[Any, Any],
    record: Record,
    changes: Mapping[str, Any],
    vector: VectorChange,
    *,
    user_id: str,
    now: datetime,
    updated_at: datetime | None,
) -> dict[str, Any]:
    """The parameter by which a statement writes a stored record.

    Args:
        kind: nodes or relationships.
        record: the record with its changes.
        changes: the properties that change.
        vector: how its embedding changes.
        user_id: its owner.
        now: the time of the write.
        updated_at: what it gets as the time of its last change; None keeps the stored one.
    """
    return {
        "element_id": record.element_id,
        "vector": kind.store.vector(vector.vector),
        "properties": {
            **changes,
            **vector.properties,
            **kind.bookkeeping(record, user_id, now),
            **next_version(record, updated_at),
        },
    }
