"""Batches under way side by side, so that one is embedded while another is written."""

import asyncio
from collections.abc import Coroutine, Hashable, Iterable
from types import TracebackType
from typing import Self


class SideBySide:
    """Runs batches at once, at most `limit`; two that are about the same record run one after the other.

    Leaving the block waits for all of them; the first error of a batch is raised once no batch is under way.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._under_way: dict[asyncio.Task[None], frozenset[Hashable]] = {}
        self._error: BaseException | None = None

    async def start(self, work: Coroutine[object, object, None], about: Iterable[Hashable]) -> None:
        """Begin a batch as soon as it may run.

        Args:
            work: does what is to be done.
            about: the records that it is about.

        Raises:
            Exception: what an earlier batch raised; this one is not begun.
        """
        records = frozenset(about)
        try:
            await self._make_room(records)
        except BaseException:
            work.close()
            raise
        self._under_way[asyncio.create_task(work)] = records

    async def __aenter__(self) -> Self:
        """Nothing is under way yet."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """Wait for what is under way; cancel it where the block was left by an error."""
        if error is not None and error is not self._error:
            for task in self._under_way:
                task.cancel()
        await self._all_end()
        if kind is None and self._error is not None:
            raise self._error

    async def _make_room(self, records: frozenset[Hashable]) -> None:
        while len(self._under_way) >= self._limit or any(records & held for held in self._under_way.values()):
            await self._one_ends()
        if self._error is not None:
            await self._all_end()
            raise self._error

    async def _all_end(self) -> None:
        while self._under_way:
            await self._one_ends()

    async def _one_ends(self) -> None:
        ended, _ = await asyncio.wait(self._under_way, return_when=asyncio.FIRST_COMPLETED)
        for task in ended:
            del self._under_way[task]
            if not task.cancelled() and self._error is None:
                self._error = task.exception()
