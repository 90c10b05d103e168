"""Structured concurrency: task groups and a bounded map."""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


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


async def bounded_map(call: Callable[[Item], Awaitable[Result]], items: Iterable[Item], *, limit: int) -> list[Result]:
    """Call for every item, at most `limit` at a time.

    Args:
        call: awaited once for each item.
        items: arguments of the calls.
        limit: maximum number of concurrent calls, at least 1. It applies to this call of `bounded_map` only, so a
            single query never queues behind a large batch.

    Returns:
        The results in the order of the items.

    Raises:
        Exception: the first failure of a call; running calls are cancelled and no further calls are started.
    """
    results: dict[int, Result] = {}

    async def work(queue: Iterator[tuple[int, Item]]) -> None:
        for position, item in queue:
            results[position] = await call(item)

    queue = list(enumerate(items))
    shared = iter(queue)
    async with task_group() as group:
        for _ in range(min(limit, len(queue))):
            group.create_task(work(shared))
    return [results[position] for position in range(len(queue))]
