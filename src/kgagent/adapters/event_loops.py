"""Running coroutines on the event loop of a graph, from any thread and any event loop."""

import asyncio
import concurrent.futures
import inspect
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from kgagent.errors import ConfigurationError

ResultT = TypeVar("ResultT")

CHECK_INTERVAL = 0.5
"""Seconds between checks that a loop still runs; there is no event for its end."""


async def run_on(loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Await a coroutine on the graph's event loop, from any event loop.

    Raises:
        ConfigurationError: the graph's loop has ended, or ends before the coroutine.
    """
    if asyncio.get_running_loop() is loop:
        return await coroutine
    run = _Run.start(loop, coroutine)
    future = asyncio.wrap_future(run.future)
    try:
        while not future.done():
            await asyncio.wait([future], timeout=CHECK_INTERVAL)
            run.check()
    except asyncio.CancelledError:
        future.cancel()
        raise
    return run.result()


def wait_on(loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, ResultT], *, instead: str) -> ResultT:
    """Run a coroutine on the graph's event loop, and wait for it in another thread.

    Args:
        loop: the graph's event loop.
        coroutine: what to run.
        instead: what the error says to call on that loop, where waiting would never end.

    Raises:
        ConfigurationError: the caller is on the graph's loop, or that loop has ended or ends before the coroutine.
    """
    try:
        current = asyncio.get_running_loop()
    except RuntimeError:
        current = None
    if current is loop:
        coroutine.close()
        raise ConfigurationError(f"This would block the event loop that the graph works on; use {instead}")
    run = _Run.start(loop, coroutine)
    while not run.future.done():
        concurrent.futures.wait([run.future], timeout=CHECK_INTERVAL)
        run.check()
    return run.result()


@dataclass(frozen=True)
class _Run(Generic[ResultT]):
    """A coroutine that runs on the loop of another thread."""

    loop: asyncio.AbstractEventLoop
    coroutine: Coroutine[Any, Any, ResultT]
    future: concurrent.futures.Future[ResultT]

    @classmethod
    def start(cls, loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, ResultT]) -> "_Run[ResultT]":
        if not loop.is_running():
            coroutine.close()
            raise ConfigurationError("The event loop that the graph was opened on has ended; open a SyncKnowledgeGraph")
        return cls(loop, coroutine, asyncio.run_coroutine_threadsafe(coroutine, loop))

    def check(self) -> None:
        """Raise an error if the loop has stopped and will not finish the coroutine."""
        if self.future.done() or self.loop.is_running():
            return
        if inspect.getcoroutinestate(self.coroutine) == inspect.CORO_CREATED:
            self.coroutine.close()
        raise _loop_ended()

    def result(self) -> ResultT:
        """Return the result of a finished coroutine; a loop that ends in order cancels its coroutines."""
        if self.future.cancelled():
            raise _loop_ended()
        return self.future.result()


def _loop_ended() -> ConfigurationError:
    return ConfigurationError(
        "The event loop that the graph was opened on ended during the call; it is not known whether the call took "
        "effect. Keep that loop running, or open a SyncKnowledgeGraph"
    )
