"""Nearest vectors of one user: compared one by one where the user has few, from an index where there are many."""

import asyncio
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kgagent.embedding.base import Embedder
from kgagent.errors import StoreError
from kgagent.graph.records import Record
from kgagent.graph.statements import Statement, statement
from kgagent.graph.store import Row, StatementTimeoutError, Store
from kgagent.graph.vector_index import IndexScores
from kgagent.models.search import Plan
from kgagent.retrieval.together import together
from kgagent.retrieval.vector_targets import VectorTarget

WIDEST_FETCH = 10_000
"""Index hits that are asked for before the user's vectors are compared one by one after all."""

WIDENING = 5
COUNT_LIFETIME = 10.0
"""Seconds for which it is remembered how many a user has; either way the answer is right."""

INDEX_LIFETIME = 60.0
"""Seconds for which it is remembered how an index was made."""

SCANNED_TOGETHER = 500
"""Vectors of a user in a target up to which they are compared in one statement with those of others.

Comparing so many costs about as much as a round trip; more are worth a statement of their own, side by side.
"""

LEAST_CANDIDATES = 200
"""Vectors that an index compares at the least: with fewer, a search for a single hit would often miss it."""


@dataclass(frozen=True)
class NearestQuery:
    """A vector to look for.

    Attributes:
        vector: float32, shape (dimensions,).
        threshold: least plain cosine, -1 to 1.
        text: what the vector stands for, in words; empty where that is not known.
    """

    vector: Sequence[float]
    threshold: float
    text: str = ""


@dataclass(frozen=True)
class Hit:
    """A record that is near enough; `similarity` is plain cosine."""

    record: Record
    similarity: float


@dataclass(frozen=True)
class Nearest:
    """Hits of each query, best first, and how they were found."""

    hits: tuple[tuple[Hit, ...], ...]
    plan: Plan


@dataclass(frozen=True)
class _Request:
    target: VectorTarget
    user_id: str
    queries: Sequence[NearestQuery]
    limit: int


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
        request = _Request(target, user_id, queries, limit)
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
        async with together() as group:
            counts = [group.create_task(self._counted(target, user_id)) for target in targets]
        most = min(self._exact_scan_limit, SCANNED_TOGETHER)
        small = [target for target, count in zip(targets, counts, strict=True) if count.result() <= most]
        async with together() as group:
            at_once = group.create_task(
                self._exact.search_each([_Request(target, user_id, queries, limit) for target in small])
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
        if len(self._counts) > WIDEST_FETCH:
            self._counts.clear()
        self._counts[target.name, user_id] = (time.monotonic() + COUNT_LIFETIME, row["found"])
        return int(row["found"])


class ExactScan:
    """Compares each vector of the user with each query."""

    def __init__(self, store: Store, embedder: Embedder, *, timeout: float) -> None:
        self._store = store
        self._embedder = embedder
        self._timeout = timeout

    async def search(self, request: _Request) -> tuple[tuple[Hit, ...], ...]:
        """Find the hits of each query."""
        rows = await self._ask(request.target.exact_statement(), request)
        return tuple(_hits(request, row) for row in rows)

    async def search_each(self, requests: Sequence[_Request]) -> dict[str, tuple[tuple[Hit, ...], ...]]:
        """Find the hits of each query in each of several labels, by their names; all by one statement."""
        if not requests:
            return {}
        statements = [one.target.exact_statement() for one in requests]
        rows = await self._ask(Statement("\nUNION ALL\n".join(statements), statements[0].name), requests[0])
        found = {(row["label"], row["query"]): row for row in rows}
        return {
            one.target.name: tuple(_hits(one, found[one.target.name, position]) for position in range(len(one.queries)))
            for one in requests
        }

    async def _ask(self, text: str, request: _Request) -> list[Row]:
        parameters = {
            **request.target.filters,
            "user_id": request.user_id,
            "limit": request.limit,
            "model": self._embedder.model,
            "dimensions": self._embedder.dimensions,
            "queries": query_parameters(self._store, request.queries),
        }
        return await self._store.read(text, parameters, timeout=self._timeout)


class IndexedSearch(ABC):
    """Asks an index for more hits than are wanted, and for still more where that was too few.

    Where that is still not enough, or the index fails, the vectors are compared one by one.

    Attributes:
        plan: what this way of searching is called.
        exact_scan_limit: up to how many vectors of a user it is quicker to compare them one by one.
    """

    plan: Plan
    exact_scan_limit: int

    def __init__(
        self, store: Store, embedder: Embedder, exact: ExactScan, *, oversampling: int, timeout: float
    ) -> None:
        self.store = store
        self.embedder = embedder
        self.timeout = timeout
        self._exact = exact
        self._oversampling = oversampling

    async def search(self, request: _Request) -> tuple[tuple[Hit, ...], ...]:
        """Find the hits of each query."""
        candidates = max(request.limit * self._oversampling, LEAST_CANDIDATES)
        fetch = max(request.limit, math.ceil(candidates / await self.expansion(request.target)))
        found: dict[int, tuple[Hit, ...]] = {}
        open_queries = list(range(len(request.queries)))
        while open_queries and fetch <= WIDEST_FETCH:
            part = _Request(request.target, request.user_id, [request.queries[i] for i in open_queries], request.limit)
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
            rest = _Request(request.target, request.user_id, [request.queries[i] for i in open_queries], request.limit)
            found.update(zip(open_queries, await self._exact.search(rest), strict=True))
        return tuple(found[i] for i in range(len(request.queries)))

    async def expansion(self, target: VectorTarget) -> float:  # noqa: ARG002
        """Candidates that the target's index compares for each hit asked for."""
        return 1.0

    @abstractmethod
    async def ask(self, request: _Request, fetch: int) -> list[tuple[tuple[Hit, ...], bool]]:
        """Ask once: for each query its hits, and whether a wider question could find no more."""

    def common(self, request: _Request, fetch: int) -> dict[str, Any]:
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

    plan: Plan = "index"
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

    async def ask(self, request: _Request, fetch: int) -> list[tuple[tuple[Hit, ...], bool]]:
        """Ask once, all queries in one statement."""
        scores = await self._scores_of(request.target.indexes[0])
        parameters = self.common(request, fetch) | {
            "queries": query_parameters(self.store, request.queries),
            "estimated": scores.estimated,
        }
        rows = await self.store.read(request.target.index_statement(), parameters, timeout=self.timeout)
        return [_answer(request, query, row, fetch) for query, row in zip(request.queries, rows, strict=True)]


def _answer(request: _Request, query: NearestQuery, row: Mapping[str, Any], fetch: int) -> tuple[tuple[Hit, ...], bool]:
    hits = _hits(request, row)
    return hits, len(hits) >= request.limit or row["hits"] < fetch or row["least"] < query.threshold


class WidenedProcedure(IndexedSearch):
    """The query procedures of 5.26, whose hits are of all users and are filtered afterwards."""

    plan: Plan = "procedure"
    exact_scan_limit = 2_000

    async def ask(self, request: _Request, fetch: int) -> list[tuple[tuple[Hit, ...], bool]]:
        """Ask once, each query and index by a statement of its own."""
        return list(await asyncio.gather(*(self._one(request, query, fetch) for query in request.queries)))

    async def _one(self, request: _Request, query: NearestQuery, fetch: int) -> tuple[tuple[Hit, ...], bool]:
        parts = await asyncio.gather(
            *(self._one_index(request, query, fetch, index) for index in request.target.indexes)
        )
        merged = sorted((hit for hits, _ in parts for hit in hits), key=lambda hit: -hit.similarity)
        kept = tuple(merged[: request.limit])
        reach = kept[-1].similarity if len(kept) == request.limit else query.threshold
        return kept, all(least is None or least < reach for _, least in parts)

    async def _one_index(
        self, request: _Request, query: NearestQuery, fetch: int, index: str
    ) -> tuple[tuple[Hit, ...], float | None]:
        """Hits in one index, and how near its last one is; None where it has no more."""
        parameters = self.common(request, fetch) | {"index": index, "query": query_parameters(self.store, [query])[0]}
        [row] = await self.store.read(request.target.procedure_statement(), parameters, timeout=self.timeout)
        return _hits(request, row), None if row["hits"] < fetch else row["least"]


def _hits(request: _Request, row: Mapping[str, Any]) -> tuple[Hit, ...]:
    return tuple(Hit(request.target.read(match), match["similarity"]) for match in row["matches"])


def query_parameters(store: Store, queries: Sequence[NearestQuery]) -> list[dict[str, Any]]:
    """Queries as the statements take them."""
    return [
        {"position": position, "vector": store.vector(query.vector), "threshold": query.threshold}
        for position, query in enumerate(queries)
    ]
