"""A queue that runs tasks concurrently and serializes those that change the same record."""

import asyncio
from collections.abc import Coroutine, Hashable, Iterable
from types import TracebackType
from typing import Self


class KeyedTaskQueue:
    """Runs at most `limit` tasks concurrently; tasks that share a key run one after the other.

    Leaving the block waits for all tasks and raises the first error, after every task has ended.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._running: dict[asyncio.Task[None], frozenset[Hashable]] = {}
        self._error: BaseException | None = None

    async def start(self, work: Coroutine[object, object, None], keys: Iterable[Hashable]) -> None:
        """Wait until the work may run, then start it.

        Args:
            work: the work to run.
            keys: the records that the work changes.

        Raises:
            Exception: the error of an earlier task; this work is not started.
        """
        wanted = frozenset(keys)
        try:
            await self._make_room(wanted)
        except BaseException:
            work.close()
            raise
        self._running[asyncio.create_task(work)] = wanted

    async def __aenter__(self) -> Self:
        """Enter the block; nothing runs yet."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """Wait for the running tasks; cancel them if the block raised an error of its own."""
        if error is not None and error is not self._error:
            for task in self._running:
                task.cancel()
        await self._wait_for_all()
        if kind is None and self._error is not None:
            raise self._error

    async def _make_room(self, keys: frozenset[Hashable]) -> None:
        while len(self._running) >= self._limit or any(keys & held for held in self._running.values()):
            await self._wait_for_one()
        if self._error is not None:
            await self._wait_for_all()
            raise self._error

    async def _wait_for_all(self) -> None:
        while self._running:
            await self._wait_for_one()

    async def _wait_for_one(self) -> None:
        done, _ = await asyncio.wait(self._running, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            del self._running[task]
            # Retrieve every exception, not only the first: asyncio logs a traceback for any that is not retrieved.
            error = None if task.cancelled() else task.exception()
            self._error = self._error or error
