"""Searches that run side by side."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


@asynccontextmanager
async def together() -> AsyncIterator[asyncio.TaskGroup]:
    """Run tasks side by side; the first that fails ends the others.

    Raises:
        Exception: what the first task that failed raised, as it is and not in a group.
    """
    error: BaseException | None = None
    try:
        async with asyncio.TaskGroup() as group:
            yield group
    except BaseExceptionGroup as failures:
        error = failures.exceptions[0]
    if error is not None:
        raise error
