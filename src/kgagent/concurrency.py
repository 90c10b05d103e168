"""Structured concurrency: task groups."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


@asynccontextmanager
async def task_group() -> AsyncIterator[asyncio.TaskGroup]:
    """Run tasks concurrently; the first failure cancels the others.

    Raises:
        Exception: the first failure itself, not wrapped in an exception group.
    """
    error: BaseException | None = None
    task = asyncio.current_task()
    requests = task.cancelling() if task else 0
    try:
        async with asyncio.TaskGroup() as group:
            yield group
    except BaseExceptionGroup as failures:
        error = failures.exceptions[0]
        # Before Python 3.13, a group that fails while it waits leaves its own request to cancel in
        # the count, and a limit of asyncio.timeout around it then raises CancelledError instead of
        # TimeoutError.
        if sys.version_info < (3, 13) and task and task.cancelling() > requests:
            task.uncancel()
    if error is not None:
        raise error
