"""Concurrency on one event loop: task groups, and long computations beside which other tasks run."""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

LONGEST_TURN = 0.005
"""Seconds of computing after which other tasks get a turn."""


async def in_turns(compute: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """The value of each item. Other tasks get a turn every 5 ms, or after one item if that takes longer."""
    results: list[Result] = []
    began = time.perf_counter()
    for item in items:
        results.append(compute(item))
        if time.perf_counter() - began > LONGEST_TURN:
            await asyncio.sleep(0)
            began = time.perf_counter()
    return results


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
        # Before Python 3.13, a group that fails while it waits leaves its own request to cancel in the count, and a
        # limit of asyncio.timeout around it then raises CancelledError instead of TimeoutError.
        if sys.version_info < (3, 13) and task and task.cancelling() > requests:
            task.uncancel()
    if error is not None:
        raise error
