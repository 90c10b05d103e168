"""Work on a graph's event loop, from whichever thread and loop the caller is on."""

import asyncio
import concurrent.futures
import inspect
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from kgagent.errors import ConfigurationError

ResultT = TypeVar("ResultT")

LOOK_INTERVAL = 0.5
"""Seconds between two looks at whether a loop still runs; one that stops tells nobody."""


async def run_on(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Run on the graph's loop, whichever loop the caller is on.

    Raises:
        ConfigurationError: the graph's loop has ended, or ends before the work is done.
    """
    if asyncio.get_running_loop() is loop:
        return await work
    elsewhere = _Elsewhere.begin(loop, work)
    waiting = asyncio.wrap_future(elsewhere.future)
    try:
        while not waiting.done():
            await asyncio.wait([waiting], timeout=LOOK_INTERVAL)
            elsewhere.check()
    except asyncio.CancelledError:
        waiting.cancel()
        raise
    return elsewhere.result()


def wait_on(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, ResultT], *, instead: str) -> ResultT:
    """Run on the graph's loop and wait; from that loop itself, waiting would never end.

    Args:
        loop: the graph's.
        work: what to do.
        instead: name of what to call on that loop, for the error.

    Raises:
        ConfigurationError: it is called on the graph's loop, or that has ended, or ends before the work is done.
    """
    try:
        here = asyncio.get_running_loop()
    except RuntimeError:
        here = None
    if here is loop:
        work.close()
        raise ConfigurationError(f"This would block the event loop that the graph works on; use {instead}")
    elsewhere = _Elsewhere.begin(loop, work)
    while not elsewhere.future.done():
        concurrent.futures.wait([elsewhere.future], timeout=LOOK_INTERVAL)
        elsewhere.check()
    return elsewhere.result()


@dataclass(frozen=True)
class _Elsewhere(Generic[ResultT]):
    """Work that runs on the loop of another thread."""

    loop: asyncio.AbstractEventLoop
    work: Coroutine[Any, Any, ResultT]
    future: concurrent.futures.Future[ResultT]

    @classmethod
    def begin(cls, loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, ResultT]) -> "_Elsewhere[ResultT]":
        if not loop.is_running():
            work.close()
            raise ConfigurationError("The event loop that the graph was opened on has ended; open a SyncKnowledgeGraph")
        return cls(loop, work, asyncio.run_coroutine_threadsafe(work, loop))

    def check(self) -> None:
        """Raise where the loop has stopped and will not finish the work."""
        if self.future.done() or self.loop.is_running():
            return
        if inspect.getcoroutinestate(self.work) == inspect.CORO_CREATED:
            self.work.close()
        raise _ended()

    def result(self) -> ResultT:
        """What came of the work, once it is done; a loop that ends in order cancels what it still has to do."""
        if self.future.cancelled():
            raise _ended()
        return self.future.result()


def _ended() -> ConfigurationError:
    return ConfigurationError(
        "The event loop that the graph was opened on ended before the work was done; whether it was done is not known. "
        "Keep that loop running, or open a SyncKnowledgeGraph"
    )
