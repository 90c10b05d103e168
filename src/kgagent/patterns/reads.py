"""Reads of one user's graph within the time limit of one query."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, Self

from kgagent.errors import StatementTimeoutError
from kgagent.graph.store import Row, Store

SHORTEST_TIMEOUT = 0.001
"""Seconds; to the server, 0 would mean no limit."""

SERVER_GRACE = 0.25
"""Seconds by which the server may end a statement late before the connection is closed."""


@dataclass(frozen=True)
class Deadline:
    """The time at which a query, or a part of it, must end.

    Attributes:
        ends_at: on the clock of `time.monotonic`.
    """

    ends_at: float

    @classmethod
    def after(cls, seconds: float) -> Self:
        """The deadline that many seconds from now."""
        return cls(time.monotonic() + seconds)

    @property
    def remaining(self) -> float:
        """Seconds left, always above 0."""
        return max(self.ends_at - time.monotonic(), SHORTEST_TIMEOUT)

    @property
    def is_over(self) -> bool:
        """Whether time has run out."""
        return time.monotonic() >= self.ends_at

    def part(self, share: float, at_most: float = float("inf")) -> "Deadline":
        """An earlier deadline: a share (0 to 1) of the time left, and not more than `at_most` seconds."""
        return Deadline.after(min(share * self.remaining, at_most))

    @asynccontextmanager
    async def enforced(self) -> AsyncIterator[None]:
        """Cancel the block when time runs out.

        Raises:
            TimeoutError: time ran out.
        """
        async with asyncio.timeout(self.remaining):
            yield


@dataclass(frozen=True)
class UserReads:
    """Runs statements for one user, each with the time that is left.

    Attributes:
        store: the database.
        user_id: owner of the graph; every statement has it as a parameter.
        deadline: time at which the statements must end.
    """

    store: Store
    user_id: str
    deadline: Deadline

    def until(self, deadline: Deadline) -> "UserReads":
        """The same reads with another deadline."""
        return replace(self, deadline=deadline)

    async def read(self, text: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        """Run a statement.

        Raises:
            StatementTimeoutError: time ran out.
            StoreError: the database failed.
        """
        seconds = self.deadline.remaining
        try:
            async with asyncio.timeout(seconds + SERVER_GRACE):
                return await self.store.read(text, {**(parameters or {}), "user_id": self.user_id}, timeout=seconds)
        except TimeoutError as error:
            raise StatementTimeoutError(f"The statement took longer than {seconds:.1f} s") from error
