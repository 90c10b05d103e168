"""Comparing a user's vectors one by one: always right, and quickest where they are few."""

from collections.abc import Sequence

from kgagent.embedding.base import Embedder
from kgagent.graph.statements import Statement
from kgagent.graph.store import Row, Store
from kgagent.retrieval.nearest import Hit, NearestRequest, hits_of, query_parameters


class ExactScan:
    """Compares each vector of the user with each query."""

    def __init__(self, store: Store, embedder: Embedder, *, timeout: float) -> None:
        self._store = store
        self._embedder = embedder
        self._timeout = timeout

    async def search(self, request: NearestRequest) -> tuple[tuple[Hit, ...], ...]:
        """Find the hits of each query."""
        rows = await self._ask(request.target.exact_statement(), request)
        return tuple(hits_of(request, row) for row in rows)

    async def search_each(self, requests: Sequence[NearestRequest]) -> dict[str, tuple[tuple[Hit, ...], ...]]:
        """Find the hits of each query in each of several labels, by their names; all by one statement."""
        if not requests:
            return {}
        statements = [one.target.exact_statement() for one in requests]
        rows = await self._ask(Statement("\nUNION ALL\n".join(statements), statements[0].name), requests[0])
        found = {(row["label"], row["query"]): row for row in rows}
        return {
            one.target.name: tuple(
                hits_of(one, found[one.target.name, position]) for position in range(len(one.queries))
            )
            for one in requests
        }

    async def _ask(self, text: str, request: NearestRequest) -> list[Row]:
        parameters = {
            **request.target.filters,
            "user_id": request.user_id,
            "limit": request.limit,
            "model": self._embedder.model,
            "dimensions": self._embedder.dimensions,
            "queries": query_parameters(self._store, request.queries),
        }
        return await self._store.read(text, parameters, timeout=self._timeout)
