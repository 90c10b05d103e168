"""The connection to Neo4j."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from neo4j import READ_ACCESS

from kgagent.graph.statement_runner import Parameters, Row, StatementRunner, sent

__all__ = ["Parameters", "Row", "Store"]


class Store(StatementRunner):
    """A database of a Neo4j server, shared by everything in this process that uses it."""

    async def run_schema(self, text: str) -> list[Row]:
        """Run a statement about indexes and constraints.

        Raises:
            StoreError: it failed.
        """
        async with self._running(text, "schema") as outcome, self._session() as session:
            result = await session.run(self._query(text, None))
            rows = await result.data()
            outcome.rows = len(rows)
        return rows

    @asynccontextmanager
    async def stream(self, text: str, parameters: Parameters) -> AsyncIterator[AsyncIterator[Row]]:
        """Run a reading statement and iterate over its rows; for results too large for memory.

        Raises:
            StoreError: it failed.
        """
        async with self._running(text, "read"), self._session(READ_ACCESS) as session:
            result = await session.run(self._query(text, None), sent(parameters))
            yield (dict(record) async for record in result)
