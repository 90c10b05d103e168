"""Ends statements on a server that no longer answers; TCP and the driver would wait for a minute or
more.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

from neo4j import AsyncDriver
from neo4j import exceptions as neo4j_errors

from kgagent.errors import UnreachableError
from kgagent.operations import Access

PATIENCE = 1.5
"""Seconds for which a statement runs before the server is asked whether it responds, and between
two such checks.
"""

ANSWER_TIME = 1.7
"""Seconds in which the server must answer that; it is asked twice, as a blocked event loop sees no
answer in time.
"""

REMEMBERED = 1.0
"""Seconds for which calls fail at once after the server did not answer."""

BOLT_PORT = 7687
_HELLO = bytes.fromhex("6060b017 00000005 00000000 00000000 00000000")
"""The opening of the Bolt protocol, to which every server answers with four bytes, however busy its
statements are.
"""


class Reachability:
    """Whether the server of a driver answers; shared by all statements of a connection.

    Attributes:
        is_lost: whether it did not when it was last asked.
        patience: seconds before the server is asked, and between.
    """

    def __init__(self, driver: AsyncDriver, uri: str) -> None:
        parts = urlsplit(uri)
        self._driver = driver
        self._uri = uri
        self._scheme = parts.scheme
        self._address = (parts.hostname or "localhost", parts.port or BOLT_PORT)
        self.patience = PATIENCE
        self._watches: set[asyncio.Task[None]] = set()
        self._asking: asyncio.Task[bool] | None = None
        self.is_lost = False
        self._asked = 0.0

    def watch(self, limit: asyncio.Timeout) -> None:
        """Ask again and again until a block ends, and end it when there is no answer."""
        task = asyncio.create_task(self._watch(limit))
        self._watches.add(task)
        task.add_done_callback(self._watches.discard)

    async def _watch(self, limit: asyncio.Timeout) -> None:
        # Rescheduling a limit whose block has ended raises RuntimeError.
        with suppress(RuntimeError):
            while await self._answers():
                limit.reschedule(None)
                await asyncio.sleep(self.patience)
            limit.reschedule(asyncio.get_running_loop().time())

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """End the block when the server does not answer.

        Raises:
            UnreachableError: it does not.
        """
        try:
            async with asyncio.timeout(None) as limit:
                self.watch(limit)
                yield
        except TimeoutError:
            raise self.error("read") from None

    async def check(self) -> None:
        """Ask the server before a statement is sent.

        Raises:
            UnreachableError: it does not answer.
        """
        if not await self._answers():
            raise self.error("read")

    def error(self, access: Access) -> UnreachableError:
        """The error of a statement."""
        problem = f"The graph cannot be reached: Neo4j at {self._uri} does not answer"
        question = "Is it running, and is NEO4J_URI right?"
        unknown = ". It is not known whether the write took effect: check before you try again" * (
            access == "write"
        )
        return UnreachableError(f"{problem}{unknown}. {question}")

    async def _answers(self) -> bool:
        """Ask the server whether it responds; waiting statements share a check, and briefly its
        negative result.
        """
        if self.is_lost and time.monotonic() - self._asked < REMEMBERED:
            return False
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._ask())
        return await asyncio.shield(self._asking)

    async def _ask(self) -> bool:
        self.is_lost = not (await self._has_answered() or await self._has_answered())
        self._asked = time.monotonic()
        return not self.is_lost

    async def _has_answered(self) -> bool:
        with suppress(
            OSError, EOFError, neo4j_errors.DriverError, neo4j_errors.Neo4jError
        ):  # a TimeoutError too
            async with asyncio.timeout(ANSWER_TIME):
                await (self._route() if self._scheme.startswith("neo4j") else self._greet())
            return True
        return False

    async def _route(self) -> None:
        """Any member of a cluster will do."""
        await self._driver.get_server_info()

    async def _greet(self) -> None:
        reader, writer = await asyncio.open_connection(*self._address)
        try:
            if self._scheme == "bolt":
                writer.write(_HELLO)
                await reader.readexactly(4)
        finally:
            writer.close()
