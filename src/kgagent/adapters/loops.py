"""Work on a graph's event loop, from whichever thread and loop the caller is on."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from kgagent.errors import ConfigurationError

ResultT = TypeVar("ResultT")


async def run_on(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, ResultT]) -> ResultT:
    """Run on the graph's loop, whichever loop the caller is on.

    Raises:
        ConfigurationError: the graph's loop has ended.
    """
    if asyncio.get_running_loop() is loop:
        return await work
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, _running(loop, work)))


def wait_on(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, ResultT], *, instead: str) -> ResultT:
    """Run on the graph's loop and wait; from that loop itself, waiting would never end.

    Args:
        loop: the graph's.
        work: what to do.
        instead: name of what to call on that loop, for the error.

    Raises:
        ConfigurationError: it is called on the graph's loop, or that has ended.
    """
    try:
        here = asyncio.get_running_loop()
    except RuntimeError:
        here = None
    if here is loop:
        work.close()
        raise ConfigurationError(f"This would block the event loop that the graph works on; use {instead}")
    return asyncio.run_coroutine_threadsafe(work, _running(loop, work)).result()


def _running(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, ResultT]) -> asyncio.AbstractEventLoop:
    if not loop.is_running():
        work.close()
        raise ConfigurationError("The event loop that the graph was opened on has ended; open a SyncKnowledgeGraph")
    return loop
