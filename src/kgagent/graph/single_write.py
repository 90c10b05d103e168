"""Writes of their own transactions, deletions, restorations and merges: each takes effect as a
whole or not at all.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from kgagent.graph.compare_and_set import conflict_error, pause_after
from kgagent.graph.record_saver import embedded, stored_version, written_row
from kgagent.graph.records import NodeRecord
from kgagent.graph.store import Row
from kgagent.graph.user_graph import UserGraph
from kgagent.graph.writes import PlannedWrite
from kgagent.turns import in_turns

PlanT = TypeVar("PlanT")
ResultT = TypeVar("ResultT")


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


async def embedded_rows(
    plans: Sequence[PlannedWrite[Any]], graph: UserGraph, *, keep_updated_at: bool = False
) -> tuple[list[Row], int]:
    """Embed the texts that changed, in one request.

    Args:
        plans: the records.
        graph: their owner, the embedder and the clock.
        keep_updated_at: whether the times of their last changes stay.

    Returns:
        The parameters by which a statement writes the records, see `written_row`; the number of new
        embeddings.

    Raises:
        EmbeddingError: the embedder failed.
    """
    now = graph.context.clock()
    vectors, _ = await embedded(graph, plans, now)
    updated_at = None if keep_updated_at else now
    rows = await in_turns(
        lambda item: written_row(graph, *item, now, updated_at), zip(plans, vectors, strict=True)
    )
    return rows, sum(vector.vector is not None for vector in vectors)


def version_of(record: NodeRecord) -> Row:
    """The parameter by which a statement finds a node and checks that it is as it was read."""
    return {
        "element_id": record.element_id,
        "entity_key": record.properties.get("entity_key"),
        "version": stored_version(record),
    }
