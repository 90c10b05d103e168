"""Nearest vectors of one user: compared one by one where the user has few, from an index where there are many."""

import time
from collections.abc import Sequence

from kgagent.concurrency import task_group
from kgagent.embedding.base import Embedder
from kgagent.graph.store import Store
from kgagent.retrieval.exact_scan import ExactScan
from kgagent.retrieval.indexed_search import MAX_FETCH, FilteredIndex, IndexedSearch, WidenedProcedure
from kgagent.retrieval.nearest import Nearest, NearestQuery, NearestRequest
from kgagent.retrieval.vector_targets import VectorTarget

COUNT_LIFETIME = 10.0
"""Seconds for which it is remembered how many a user has; either way the answer is right."""

SCANNED_TOGETHER = 500
"""Vectors of a user in a target up to which they are compared in one statement with those of others.

Comparing so many costs about as much as a round trip; more are worth a statement of their own, side by side.
"""


class VectorSearch:
    """Chooses between comparing one by one and asking an index, by what the user has."""

    def __init__(
        self, store: Store, embedder: Embedder, *, exact_scan_limit: int | None, oversampling: int, timeout: float
    ) -> None:
        self._exact = ExactScan(store, embedder, timeout=timeout)
        indexed: type[IndexedSearch] = FilteredIndex if store.features.filtered_vector_indexes else WidenedProcedure
        self._indexed: IndexedSearch = indexed(store, embedder, self._exact, oversampling=oversampling, timeout=timeout)
        self._exact_scan_limit = indexed.exact_scan_limit if exact_scan_limit is None else exact_scan_limit
        self._store = store
        self._counts: dict[tuple[str, str], tuple[float, int]] = {}

    async def nearest(
        self, target: VectorTarget, *, user_id: str, queries: Sequence[NearestQuery], limit: int
    ) -> Nearest:
        """Find the user's nearest vectors, as many as asked for where that many exist.

        Args:
            target: where to look.
            user_id: whose.
            queries: any number of vectors.
            limit: hits of each query at the most.

        Raises:
            StoreError: the database failed.
        """
        if not queries:
            return Nearest((), "none")
        request = NearestRequest(target, user_id, queries, limit)
        if await self._counted(target, user_id) <= self._exact_scan_limit:
            return Nearest(await self._exact.search(request), "exact")
        return Nearest(await self._indexed.search(request), self._indexed.plan)

    async def nearest_in_each(
        self, targets: Sequence[VectorTarget], *, user_id: str, queries: Sequence[NearestQuery], limit: int
    ) -> list[Nearest]:
        """Find the user's nearest vectors in each of several targets, side by side; in small ones by one statement.

        Args:
            targets: where to look, each of another label.
            user_id: whose.
            queries: any number of vectors.
            limit: hits of each query and target at the most.

        Raises:
            StoreError: the database failed.
        """
        if not queries:
            return [Nearest((), "none") for _ in targets]
        async with task_group() as group:
            counts = [group.create_task(self._counted(target, user_id)) for target in targets]
        most = min(self._exact_scan_limit, SCANNED_TOGETHER)
        small = [target for target, count in zip(targets, counts, strict=True) if count.result() <= most]
        async with task_group() as group:
            at_once = group.create_task(
                self._exact.search_each([NearestRequest(target, user_id, queries, limit) for target in small])
            )
            others = {
                target.name: group.create_task(self.nearest(target, user_id=user_id, queries=queries, limit=limit))
                for target in targets
                if target not in small
            }
        exact = at_once.result()
        return [
            Nearest(exact[target.name], "exact") if target.name in exact else others[target.name].result()
            for target in targets
        ]

    async def _counted(self, target: VectorTarget, user_id: str) -> int:
        """Vectors that a user has; of many, one more than are compared one by one."""
        known = self._counts.get((target.name, user_id))
        if known is not None and known[0] > time.monotonic():
            return known[1]
        [row] = await self._store.read(
            target.count_statement(), {"user_id": user_id, "scan_limit": self._exact_scan_limit}
        )
        if len(self._counts) > MAX_FETCH:
            self._counts.clear()
        self._counts[target.name, user_id] = (time.monotonic() + COUNT_LIFETIME, row["found"])
        return int(row["found"])
