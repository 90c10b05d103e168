"""Writes of their own transactions, deletions, restorations and merges: each takes effect as a
whole or not at all.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from kgagent.errors import ConstraintViolationError, EntityGoneError
from kgagent.graph.compare_and_set import conflict_error, pause_after
from kgagent.graph.nodes import NodeRepository
from kgagent.graph.record_saver import EmbeddedText, stored_version, vector_changes, written_row
from kgagent.graph.records import NodeRecord, Record
from kgagent.graph.relationships import RelationshipRepository
from kgagent.graph.statements import Filling, statement
from kgagent.graph.store import Row
from kgagent.graph.writes import RecordKind, VectorChange, WriteContext
from kgagent.turns import in_turns

PlanT = TypeVar("PlanT")
ResultT = TypeVar("ResultT")


@dataclass(frozen=True)
class UserGraph:
    """The records of one user, and what every write needs."""

    nodes: NodeRepository
    relationships: RelationshipRepository
    context: WriteContext
    user_id: str

    async def write(self, name: str, parameters: Mapping[str, Any], **fillings: Filling) -> bool:
        """Run a statement that writes nothing, and returns no row, if something has changed since
        it was read.

        Raises:
            StoreError: the database failed.
        """
        text = statement(name, **self.relationships.names, **fillings)
        try:
            return bool(await self.nodes.store.write(text, {"user_id": self.user_id, **parameters}))
        except (ConstraintViolationError, EntityGoneError):
            return False


class SingleWrite(ABC, Generic[PlanT, ResultT]):
    """A write that is planned from what is stored, and saved if that has not changed meanwhile."""

    graph: UserGraph

    @abstractmethod
    async def plan(self) -> PlanT:
        """Read what is stored and decide what to write.

        Raises:
            InputError: the write is impossible.
            StoreError: the database failed.
        """

    @abstractmethod
    async def save(self, plan: PlanT) -> ResultT | None:
        """Embed and write; None if something has changed since it was read.

        Raises:
            EmbeddingError: the embedder failed.
            StoreError: the database failed.
        """

    async def run(self) -> ResultT:
        """Plan and save, again after a conflict.

        Raises:
            ConflictError: each attempt met a conflict.
            KgAgentError: as `plan` and `save`.
        """
        attempts = self.graph.context.attempts
        for conflicts in range(1, attempts + 1):
            if (result := await self.save(await self.plan())) is not None:
                return result
            if conflicts < attempts:
                await pause_after(conflicts)
        raise conflict_error(attempts)


class ChangedRecord(NamedTuple):
    """A node or a relationship as it will be and as it is stored, with the properties that
    change.
    """

    kind: RecordKind[Any, Any]
    after: Record
    stored: Record
    changes: Mapping[str, Any]


async def embedded_rows(
    records: Sequence[ChangedRecord], graph: UserGraph, *, keep_updated_at: bool = False
) -> tuple[list[Row], int]:
    """Embed the texts that changed, in one request.

    Args:
        records: the records.
        graph: their owner, the embedder and the clock.
        keep_updated_at: whether the times of their last changes stay.

    Returns:
        The parameters by which a statement writes the records, see `written_row`; the number of new
        embeddings.

    Raises:
        EmbeddingError: the embedder failed.
    """
    now = graph.context.clock()
    texts = await in_turns(
        lambda one: EmbeddedText.of(one.kind, one.after, one.stored, now), records
    )
    vectors = await vector_changes(graph.context.embedder, texts)
    updated_at = None if keep_updated_at else now

    def row(item: tuple[ChangedRecord, VectorChange]) -> Row:
        (kind, after, _, changes), vector = item
        return written_row(
            kind,
            after,
            changes,
            vector,
            embedder=graph.context.embedder,
            user_id=graph.user_id,
            now=now,
            updated_at=updated_at,
        )

    rows = await in_turns(row, zip(records, vectors, strict=True))
    return rows, sum(vector.vector is not None for vector in vectors)


def version_of(record: NodeRecord) -> Row:
    """The parameter by which a statement finds a node and checks that it is as it was read."""
    return {
        "element_id": record.element_id,
        "entity_key": record.properties.get("entity_key"),
        "version": stored_version(record),
    }
