"""Splitting sequences into batches."""

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator
from typing import TypeVar

from kgagent.errors import InputError

ItemT = TypeVar("ItemT")


def check_batch_size(batch_size: int) -> None:
    """Refuse a number of lines or records that no batch can have.

    Raises:
        InputError: it is below 1.
    """
    if batch_size < 1:
        raise InputError(f"batch_size must be at least 1, got {batch_size}")


async def batched(items: AsyncIterable[ItemT], size: int) -> AsyncIterator[list[ItemT]]:
    """Split items into batches of a size, in order; the last one may be smaller."""
    batch: list[ItemT] = []
    async for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def split_by_size(
    items: Iterable[ItemT],
    size_of: Callable[[ItemT], int],
    *,
    max_size: int,
    max_items: int | None = None,
) -> Iterator[list[ItemT]]:
    """Split items into batches, in order, each as large as the limits allow.

    Args:
        items: what to split.
        size_of: the size of an item; one that is larger than a batch gets a batch of its own.
        max_size: maximum size of the items of a batch together.
        max_items: maximum number of items of a batch; None sets no limit.
    """
    batch: list[ItemT] = []
    size = 0
    for item in items:
        more = size_of(item)
        if batch and (len(batch) == max_items or size + more > max_size):
            yield batch
            batch, size = [], 0
        batch.append(item)
        size += more
    if batch:
        yield batch
