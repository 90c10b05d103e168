"""Counts how often other tasks run beside a call."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Turns:
    """How often another task has run, and the most CPU time of this thread, in seconds, between two
    of its turns.
    """

    count = 0
    longest = 0.0


@asynccontextmanager
async def turns_of_others() -> AsyncIterator[Turns]:
    """Count the turns that another task gets while the block runs."""
    turns = Turns()

    async def others() -> None:
        while True:
            began = time.thread_time()
            await asyncio.sleep(0)
            turns.longest = max(turns.longest, time.thread_time() - began)
            turns.count += 1

    task = asyncio.create_task(others())
    try:
        yield turns
    finally:
        task.cancel()
