"""Running coroutines on the event loop of a graph, from any thread and any event loop."""

import asyncio
import concurrent.futures
from collections.abc import Coroutine
from typing import Any, TypeVar

from kgagent.errors import ConfigurationError

ResultT = TypeVar("ResultT")


async def run_on(
    loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, ResultT]
) -> ResultT:
    """Await a coroutine on the graph's event loop, from any event loop.

    Raises:
        ConfigurationError: the graph's loop has ended, or ends before the coroutine.
    """
    if asyncio.get_running_loop() is loop:
        return await coroutine
    future = _submit(loop, coroutine)
    try:
        return await asyncio.wrap_future(future)
    except asyncio.CancelledError:
        caller = asyncio.current_task()
        if caller is None or caller.cancelling():
            raise
        raise _loop_ended() from None


def wait_on(
    loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, ResultT], *, instead: str
) -> ResultT:
    """Run a coroutine on the graph's event loop, and wait for it in another thread.

    Args:
        loop: the graph's event loop.
        coroutine: what to run.
        instead: what the error says to call on that loop, where waiting would never end.

    Raises:
        ConfigurationError: the caller is on the graph's loop, or that loop has ended or ends before
            the coroutine.
    """
    try:
        current = asyncio.get_running_loop()
    except RuntimeError:
        current = None
    if current is loop:
        coroutine.close()
        raise ConfigurationError(
            f"This would block the event loop that the graph works on; use {instead}"
        )
    try:
        return _submit(loop, coroutine).result()
    except concurrent.futures.CancelledError:
        raise _loop_ended() from None


def _submit(
    loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, ResultT]
) -> concurrent.futures.Future[ResultT]:
    if not loop.is_running():
        coroutine.close()
        raise ConfigurationError(
            "The event loop that the graph was opened on has ended; open a SyncKnowledgeGraph"
        )
    return asyncio.run_coroutine_threadsafe(coroutine, loop)


def _loop_ended() -> ConfigurationError:
    """The loop has cancelled the coroutine, as it does when it ends."""
    return ConfigurationError(
        "The event loop that the graph was opened on ended during the call; it is not known "
        "whether the call took "
        "effect. Keep that loop running, or open a SyncKnowledgeGraph"
    )
