"""Nearest vectors of one user: compared one by one if the user has few, searched in an index if there are many."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from kgagent.concurrency import task_group
from kgagent.graph.statements import Statement
from kgagent.retrieval.arguments import MAX_LIMIT
from kgagent.retrieval.candidates import Candidate, Ranking, StoredRecord, key_of, read_node, read_relationship
from kgagent.retrieval.scope import SearchScope
from kgagent.retrieval.vector_targets import VectorTarget

if TYPE_CHECKING:
    from kgagent.retrieval.vector_index import WidenedIndex

COUNT_LIFETIME = 10.0
"""Seconds for which the number of a user's vectors is cached; a stale count only affects speed."""

SCANNED_IN_ONE_STATEMENT = 500
"""Number of vectors up to which a target shares a statement with others: comparing so many costs about a round trip."""


@dataclass(frozen=True)
class VectorQuery:
    """A vector to search for.

    Attributes:
        vector: float32, shape (dimensions,).
        threshold: minimum plain cosine, -1 to 1.
        text: the query in words; empty if unknown.
        without_names: vector of the text without its names, for comparing it with types; None if unknown.
    """

    vector: Sequence[float]
    threshold: float
    text: str = ""
    without_names: Sequence[float] | None = None


@dataclass(frozen=True)
class VectorRequest:
    """A search of one target for at most `limit` matches of each query."""

    scope: SearchScope
    target: VectorTarget
    queries: Sequence[VectorQuery]
    limit: int

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters that all statements of vector search take."""
        vector = self.scope.store.vector
        queries = [
            {"position": position, "vector": vector(query.vector), "threshold": query.threshold}
            for position, query in enumerate(self.queries)
        ]
        return {**self.target.filters, "limit": self.limit, "queries": queries}

    def candidates(self, row: Mapping[str, Any]) -> list[Candidate]:
        """Read the matches of one query."""
        kind = "node" if self.target.label else "relationship"
        found = ((self._record(match[kind]), match["similarity"]) for match in row["matches"] if match[kind])
        return [Candidate(key_of(record), similarity, record, similarity) for record, similarity in found]

    def _record(self, found: Sequence[Any]) -> StoredRecord:
        if self.target.label:
            return read_node(found, self.scope.ontology, [self.target.label])
        return read_relationship(found)


class VectorSearch:
    """Exact scan or index, by how many vectors the user has; StoreError is raised if the database fails."""

    def __init__(self, index: "WidenedIndex", *, exact_scan_limit: int | None) -> None:
        self._index = index
        self._exact_scan_limit = index.exact_scan_limit if exact_scan_limit is None else exact_scan_limit
        self._counts: dict[tuple[str, str], tuple[float, int]] = {}

    async def search(
        self, scope: SearchScope, target: VectorTarget, queries: Sequence[VectorQuery], limit: int
    ) -> list[Ranking]:
        """Find the user's nearest vectors: `limit` for each query, or all if there are fewer."""
        if not queries:
            return []
        request = VectorRequest(scope, target, queries, limit)
        if await self._count(scope, target) <= self._exact_scan_limit:
            return [Ranking(candidates, "exact") for candidates in await scan(request)]
        return [Ranking(candidates, self._index.plan) for candidates in await self._index.search(request)]

    async def search_each(
        self, scope: SearchScope, targets: Sequence[VectorTarget], queries: Sequence[VectorQuery], limit: int
    ) -> list[list[Ranking]]:
        """Search several targets concurrently; small ones share a statement.

        Returns:
            For each target, a ranking for each query.
        """
        if not queries:
            return [[] for _ in targets]
        async with task_group() as group:
            counts = [group.create_task(self._count(scope, target)) for target in targets]
        most = min(self._exact_scan_limit, SCANNED_IN_ONE_STATEMENT)
        small = [target for target, count in zip(targets, counts, strict=True) if count.result() <= most]
        async with task_group() as group:
            scanned = group.create_task(scan_each([VectorRequest(scope, one, queries, limit) for one in small]))
            others = {
                target.name: group.create_task(self.search(scope, target, queries, limit))
                for target in targets
                if target not in small
            }
        found = {name: [Ranking(each, "exact") for each in matches] for name, matches in scanned.result().items()}
        found |= {name: task.result() for name, task in others.items()}
        return [found[target.name] for target in targets]

    async def _count(self, scope: SearchScope, target: VectorTarget) -> int:
        """Number of the user's vectors; counting stops at one more than the limit of the exact scan."""
        key = (target.name, scope.user_id)
        expires, count = self._counts.get(key, (0.0, 0))
        if expires > time.monotonic():
            return count
        [row] = await scope.read(target.count_statement, {"scan_limit": self._exact_scan_limit})
        if len(self._counts) > MAX_LIMIT:
            self._counts.clear()
        self._counts[key] = (time.monotonic() + COUNT_LIFETIME, int(row["found"]))
        return int(row["found"])


async def scan(request: VectorRequest) -> list[list[Candidate]]:
    """Compare each vector of the user with each query."""
    rows = await request.scope.read(request.target.exact_statement, request.parameters)
    return [request.candidates(row) for row in rows]


async def scan_each(requests: Sequence[VectorRequest]) -> dict[str, list[list[Candidate]]]:
    """Compare each vector of the user in several targets, in one statement; the matches by name of the target."""
    if not requests:
        return {}
    text = _union(*(request.target.exact_statement for request in requests))
    rows = await requests[0].scope.read(text, requests[0].parameters)
    found = {(row["label"], row["query"]): row for row in rows}
    return {
        request.target.name: [
            request.candidates(found[request.target.name, position]) for position in range(len(request.queries))
        ]
        for request in requests
    }


@lru_cache(maxsize=100)
def _union(*statements: Statement) -> Statement:
    return Statement("\nUNION ALL\n".join(statements), statements[0].name)
