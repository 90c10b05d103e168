"""What runs in the database, and locks that make a statement wait there."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from neo4j import AsyncDriver, AsyncGraphDatabase
from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_delay, wait_fixed

from tests.support.shared_server import Server

LONGEST = 60.0
"""Seconds until a state of the database that does not come about fails the test."""


@dataclass(frozen=True)
class Watch:
    """A connection of the test's own that sees the transactions of one user's calls."""

    driver: AsyncDriver
    user_id: str

    async def statuses(self) -> list[str]:
        """How the transactions stand whose statement is about the user."""
        rows = await self.driver.execute_query(
            "SHOW TRANSACTIONS YIELD status, parameters WHERE parameters.user_id = $watched RETURN status",
            {"watched": self.user_id},
        )
        return [str(row["status"]) for row in rows.records]

    async def until_blocked(self, count: int = 1) -> None:
        """Wait until so many statements about the user wait for a lock."""
        async for attempt in _attempts():
            with attempt:
                statuses = await self.statuses()
                assert sum(status.startswith("Blocked") for status in statuses) >= count, statuses

    async def until_none(self) -> None:
        """Wait until no statement about the user runs."""
        async for attempt in _attempts():
            with attempt:
                statuses = await self.statuses()
                assert not statuses, statuses

    @asynccontextmanager
    async def locked(self, entity_key: str) -> AsyncIterator[None]:
        """Hold a node's lock while the block runs; whoever writes the node waits."""
        async with self.driver.session() as session, await session.begin_transaction() as transaction:
            held = await transaction.run(
                "MATCH (n {entity_key: $key}) SET n.write_lock = true RETURN count(n) AS found", {"key": entity_key}
            )
            assert (await held.single(strict=True))["found"] == 1
            yield
            await transaction.rollback()


@asynccontextmanager
async def watch(server: Server, user_id: str) -> AsyncIterator[Watch]:
    """Watch the transactions of one user's calls."""
    async with AsyncGraphDatabase.driver(server.uri, auth=(server.username, server.password)) as driver:
        yield Watch(driver, user_id)


def _attempts() -> AsyncRetrying:
    return AsyncRetrying(
        wait=wait_fixed(0.02),
        stop=stop_after_delay(LONGEST),
        retry=retry_if_exception_type(AssertionError),
        reraise=True,
    )
