"""Structured concurrency: a map that runs a limited number of calls at a time."""

from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import TypeVar

from kgagent.concurrency import task_group

Item = TypeVar("Item")
Result = TypeVar("Result")


async def bounded_map(
    call: Callable[[Item], Awaitable[Result]], items: Iterable[Item], *, limit: int
) -> list[Result]:
    """Call for every item, at most `limit` at a time.

    Args:
        call: awaited once for each item.
        items: arguments of the calls.
        limit: maximum number of concurrent calls, at least 1. It applies to this call of
            `bounded_map` only, so a single query never queues behind a large batch.

    Returns:
        The results in the order of the items.

    Raises:
        Exception: the first failure of a call; running calls are cancelled and no further calls are
            started.
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
