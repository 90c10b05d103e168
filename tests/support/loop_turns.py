"""Counts how often other tasks run beside a call."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Turns:
    """How often another task has run."""

    count = 0


@asynccontextmanager
async def turns_of_others() -> AsyncIterator[Turns]:
    """Count the turns that another task gets while the block runs."""
    turns = Turns()

    async def others() -> None:
        while True:
            await asyncio.sleep(0)
            turns.count += 1

    task = asyncio.create_task(others())
    try:
        yield turns
    finally:
        task.cancel()
