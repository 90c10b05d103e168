"""Stored records that a merge or a restoration changes: their new embeddings, and the rows that write them."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from kgagent.graph.record_saver import stored_version, vector_changes, written_row
from kgagent.graph.records import NodeRecord, Record
from kgagent.graph.store import Row
from kgagent.graph.writes import RecordKind, VectorChange, WriteContext
from kgagent.turns import in_turns


class ChangedRecord(NamedTuple):
    """A node or a relationship as it will be and as it is stored, with the properties that change."""

    kind: RecordKind[Any, Any]
    after: Record
    stored: Record
    changes: Mapping[str, Any]


async def embedded_rows(
    records: Sequence[ChangedRecord], context: WriteContext, *, user_id: str, keep_updated_at: bool = False
) -> tuple[list[Row], int]:
    """Embed the texts that changed, in one request.

    Args:
        records: the records.
        context: the embedder and the clock.
        user_id: their owner.
        keep_updated_at: whether the times of their last changes stay.

    Returns:
        The parameters by which a statement writes the records, see `written_row`; the number of new embeddings.

    Raises:
        EmbeddingError: the embedder failed.
    """
    now = context.clock()
    texts = await in_turns(lambda record: (record.kind.text(record.after, now), record.stored), records)
    vectors = await vector_changes(context.embedder, texts)
    updated_at = None if keep_updated_at else now

    def row(item: tuple[ChangedRecord, VectorChange]) -> Row:
        (kind, after, _, changes), vector = item
        return written_row(kind, after, changes, vector, user_id=user_id, now=now, updated_at=updated_at)

    rows = await in_turns(row, zip(records, vectors, strict=True))
    return rows, sum(vector.vector is not None for vector in vectors)


def version_of(record: NodeRecord) -> Row:
    """The parameter by which a statement finds a node and checks that it is as it was read."""
    return {
        "element_id": record.element_id,
        "entity_key": record.properties.get("entity_key"),
        "version": stored_version(record),
    }
