"""Several awaitable calls at a time, with a bound."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


async def side_by_side(call: Callable[[Item], Awaitable[Result]], items: Iterable[Item], *, limit: int) -> list[Result]:
    """Call for every item, at most `limit` at a time.

    Args:
        call: awaited once for each item.
        items: what to call for.
        limit: calls under way at once, from 1. It holds for this batch alone, so that a single query never
            queues behind a large batch.

    Returns:
        The results in the order of the items.

    Raises:
        Exception: the first that a call raised; calls under way are cancelled, further ones are not begun.
    """
    results: dict[int, Result] = {}

    async def work(queue: Iterator[tuple[int, Item]]) -> None:
        for position, item in queue:
            results[position] = await call(item)

    error: BaseException | None = None
    queue = list(enumerate(items))
    try:
        async with asyncio.TaskGroup() as group:
            shared = iter(queue)
            for _ in range(min(limit, len(queue))):
                group.create_task(work(shared))
    except BaseExceptionGroup as failures:
        error = failures.exceptions[0]
    if error is not None:
        raise error
    return [results[position] for position in range(len(queue))]
