"""What runs in the database, and locks that make a statement wait there."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from neo4j import AsyncDriver, AsyncGraphDatabase
from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_delay, wait_fixed

from tests.support.shared_server import Server

AnswerT = TypeVar("AnswerT")

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
            "SHOW TRANSACTIONS YIELD status, parameters WHERE parameters.user_id = $watched RETURN "
            "status",
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
        async with (
            self.driver.session() as session,
            await session.begin_transaction() as transaction,
        ):
            held = await transaction.run(
                "MATCH (n:Person|Concept {entity_key: $key}) SET n.write_lock = true RETURN "
                "count(n) AS found",
                {"key": entity_key},
            )
            assert (await held.single(strict=True))["found"] == 1
            yield
            await transaction.rollback()

    async def answer_beside_deletion(
        self, pattern: str, call: Coroutine[Any, Any, AnswerT]
    ) -> AnswerT:
        """Run a call that waits for the lock of a record, which is deleted before the call gets the
        lock.

        Args:
            pattern: Cypher pattern of the record, which it calls `gone`, with `$user_id`.
            call: what waits.
        """
        async with (
            self.driver.session() as session,
            await session.begin_transaction() as transaction,
        ):
            deleted = await transaction.run(
                f"MATCH {pattern} SET gone.write_lock = true DETACH DELETE gone RETURN count(*) AS "
                f"found",
                {"user_id": self.user_id},
            )
            assert (await deleted.single(strict=True))["found"] == 1
            waiting = asyncio.create_task(call)
            await self.until_blocked()
            await transaction.commit()
        return await waiting

    async def beside(self, change: str, call: Coroutine[Any, Any, AnswerT]) -> AnswerT:
        """Run a call that waits for the locks of a change, which is committed before the call gets
        them.

        Args:
            change: a statement, with `$user`.
            call: what waits.
        """
        async with (
            self.driver.session() as session,
            await session.begin_transaction() as transaction,
        ):
            await (await transaction.run(change, {"user": self.user_id})).consume()
            waiting = asyncio.create_task(call)
            await self.until_blocked()
            await transaction.commit()
        return await waiting


@asynccontextmanager
async def watch(server: Server, user_id: str) -> AsyncIterator[Watch]:
    """Watch the transactions of one user's calls."""
    async with AsyncGraphDatabase.driver(
        server.uri, auth=(server.username, server.password)
    ) as driver:
        yield Watch(driver, user_id)


def _attempts() -> AsyncRetrying:
    return AsyncRetrying(
        wait=wait_fixed(0.02),
        stop=stop_after_delay(LONGEST),
        retry=retry_if_exception_type(AssertionError),
        reraise=True,
    )
