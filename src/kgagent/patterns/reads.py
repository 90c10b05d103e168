"""Reads of one user's graph within the time limit of one query."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from kgagent.errors import StatementTimeoutError
from kgagent.graph.store import Row, Store

SHORTEST_TIMEOUT = 0.001
"""Seconds; to the server, 0 would mean no limit."""

SERVER_GRACE = 0.25
"""Seconds by which the server may end a statement late before the connection is closed."""


@dataclass(frozen=True)
class UserReads:
    """Runs statements for one user, each with the time that is left.

    Attributes:
        store: the database.
        user_id: owner of the graph; every statement has it as a parameter.
        ends_at: time at which the statements must end, on the clock of `time.monotonic`.
    """

    store: Store
    user_id: str
    ends_at: float

    @classmethod
    def within(cls, seconds: float, store: Store, user_id: str) -> Self:
        """Reads that must end after that many seconds."""
        return cls(store, user_id, time.monotonic() + seconds)

    @property
    def remaining(self) -> float:
        """Seconds left, always above 0."""
        return max(self.ends_at - time.monotonic(), SHORTEST_TIMEOUT)

    @property
    def is_over(self) -> bool:
        """Whether time has run out."""
        return time.monotonic() >= self.ends_at

    def part(self, share: float, at_most: float = float("inf")) -> Self:
        """The same reads with a share (0 to 1) of the time left, and not more than `at_most`
        seconds.
        """
        return replace(self, ends_at=time.monotonic() + min(share * self.remaining, at_most))

    def enforced(self) -> asyncio.Timeout:
        """A context manager that raises `TimeoutError` when time runs out."""
        return asyncio.timeout(self.remaining)

    async def read(self, text: str, parameters: Mapping[str, Any] | None = None) -> list[Row]:
        """Run a statement.

        Raises:
            StatementTimeoutError: time ran out.
            StoreError: the database failed.
        """
        seconds = self.remaining
        try:
            async with asyncio.timeout(seconds + SERVER_GRACE):
                return await self.store.read(
                    text, {**(parameters or {}), "user_id": self.user_id}, timeout=seconds
                )
        except TimeoutError as error:
            raise StatementTimeoutError(
                f"The statement took longer than {seconds:.1f} s"
            ) from error
