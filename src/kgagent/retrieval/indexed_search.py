"""Asking a vector index, in the way that the server knows, until as many of the user's hits are found as exist."""

import asyncio
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from kgagent.embedding.base import Embedder
from kgagent.errors import StatementTimeoutError, StoreError
from kgagent.graph.statements import statement
from kgagent.graph.store import Store
from kgagent.graph.vector_index import IndexScores
from kgagent.models.search import SearchPlan
from kgagent.retrieval.exact_scan import ExactScan
from kgagent.retrieval.nearest import Hit, NearestQuery, NearestRequest, hits_of, query_parameters
from kgagent.retrieval.vector_targets import VectorTarget

MAX_FETCH = 10_000
"""Index hits that are asked for before the user's vectors are compared one by one after all."""

WIDENING = 5

INDEX_LIFETIME = 60.0
"""Seconds for which it is remembered how an index was made."""

MIN_CANDIDATES = 200
"""Vectors that an index compares at the least: with fewer, a search for a single hit would often miss it."""


class IndexedSearch(ABC):
    """Asks an index for more hits than are wanted, and for still more where that was too few.

    Where that is still not enough, or the index fails, the vectors are compared one by one.

    Attributes:
        plan: what this way of searching is called.
        exact_scan_limit: up to how many vectors of a user it is quicker to compare them one by one.
    """

    plan: SearchPlan
    exact_scan_limit: int

    def __init__(
        self, store: Store, embedder: Embedder, exact: ExactScan, *, oversampling: int, timeout: float
    ) -> None:
        self.store = store
        self.embedder = embedder
        self.timeout = timeout
        self._exact = exact
        self._oversampling = oversampling

    async def search(self, request: NearestRequest) -> tuple[tuple[Hit, ...], ...]:
        """Find the hits of each query."""
        candidates = max(request.limit * self._oversampling, MIN_CANDIDATES)
        fetch = max(request.limit, math.ceil(candidates / await self.expansion(request.target)))
        found: dict[int, tuple[Hit, ...]] = {}
        open_queries = list(range(len(request.queries)))
        while open_queries and fetch <= MAX_FETCH:
            part = NearestRequest(
                request.target, request.user_id, [request.queries[i] for i in open_queries], request.limit
            )
            try:
                answers = await self.ask(part, fetch)
            except StatementTimeoutError:
                raise
            except StoreError:
                # Neo4j 2026.08.1 fails ("Index … out of bounds") where fewer match than are asked for and an entry was
                # deleted from a segment of the index, by whomever.
                break
            found.update((i, hits) for i, (hits, _) in zip(open_queries, answers, strict=True))
            open_queries = [i for i, (_, complete) in zip(open_queries, answers, strict=True) if not complete]
            fetch *= WIDENING
        if open_queries:
            rest = NearestRequest(
                request.target, request.user_id, [request.queries[i] for i in open_queries], request.limit
            )
            found.update(zip(open_queries, await self._exact.search(rest), strict=True))
        return tuple(found[i] for i in range(len(request.queries)))

    async def expansion(self, target: VectorTarget) -> float:  # noqa: ARG002
        """Candidates that the target's index compares for each hit asked for."""
        return 1.0

    @abstractmethod
    async def ask(self, request: NearestRequest, fetch: int) -> list[tuple[tuple[Hit, ...], bool]]:
        """Ask once: for each query its hits, and whether a wider question could find no more."""

    def common(self, request: NearestRequest, fetch: int) -> dict[str, Any]:
        """Parameters that all index searches take."""
        return {
            **request.target.filters,
            "user_id": request.user_id,
            "limit": request.limit,
            "fetch": fetch,
            "model": self.embedder.model,
            "dimensions": self.embedder.dimensions,
        }


class FilteredIndex(IndexedSearch):
    """Cypher 25's SEARCH, which filters by user and free type inside the index."""

    plan: SearchPlan = "index"
    exact_scan_limit = 100

    def __init__(
        self, store: Store, embedder: Embedder, exact: ExactScan, *, oversampling: int, timeout: float
    ) -> None:
        super().__init__(store, embedder, exact, oversampling=oversampling, timeout=timeout)
        self._scores: dict[str, tuple[float, IndexScores]] = {}

    async def expansion(self, target: VectorTarget) -> float:
        """Candidates that the target's index compares for each hit asked for."""
        return (await self._scores_of(target.indexes[0])).expansion

    async def _scores_of(self, index: str) -> IndexScores:
        known = self._scores.get(index)
        if known is not None and known[0] > time.monotonic():
            return known[1]
        rows = await self.store.read(statement("show_index_config"), {"index": index}, timeout=self.timeout)
        scores = IndexScores.of(rows[0]["config"] if rows else {})
        self._scores[index] = (time.monotonic() + INDEX_LIFETIME, scores)
        return scores

    async def ask(self, request: NearestRequest, fetch: int) -> list[tuple[tuple[Hit, ...], bool]]:
        """Ask once, all queries in one statement."""
        scores = await self._scores_of(request.target.indexes[0])
        parameters = self.common(request, fetch) | {
            "queries": query_parameters(self.store, request.queries),
            "estimated": scores.estimated,
        }
        rows = await self.store.read(request.target.index_statement(), parameters, timeout=self.timeout)
        return [_answer(request, query, row, fetch) for query, row in zip(request.queries, rows, strict=True)]


def _answer(
    request: NearestRequest, query: NearestQuery, row: Mapping[str, Any], fetch: int
) -> tuple[tuple[Hit, ...], bool]:
    hits = hits_of(request, row)
    return hits, len(hits) >= request.limit or row["hits"] < fetch or row["least"] < query.threshold


class WidenedProcedure(IndexedSearch):
    """The query procedures of 5.26, whose hits are of all users and are filtered afterwards."""

    plan: SearchPlan = "procedure"
    exact_scan_limit = 2_000

    async def ask(self, request: NearestRequest, fetch: int) -> list[tuple[tuple[Hit, ...], bool]]:
        """Ask once, each query and index by a statement of its own."""
        return list(await asyncio.gather(*(self._one(request, query, fetch) for query in request.queries)))

    async def _one(self, request: NearestRequest, query: NearestQuery, fetch: int) -> tuple[tuple[Hit, ...], bool]:
        parts = await asyncio.gather(
            *(self._one_index(request, query, fetch, index) for index in request.target.indexes)
        )
        merged = sorted((hit for hits, _ in parts for hit in hits), key=lambda hit: -hit.similarity)
        kept = tuple(merged[: request.limit])
        reach = kept[-1].similarity if len(kept) == request.limit else query.threshold
        return kept, all(least is None or least < reach for _, least in parts)

    async def _one_index(
        self, request: NearestRequest, query: NearestQuery, fetch: int, index: str
    ) -> tuple[tuple[Hit, ...], float | None]:
        """Hits in one index, and how near its last one is; None where it has no more."""
        parameters = self.common(request, fetch) | {"index": index, "query": query_parameters(self.store, [query])[0]}
        [row] = await self.store.read(request.target.procedure_statement(), parameters, timeout=self.timeout)
        return hits_of(request, row), None if row["hits"] < fetch else row["least"]
