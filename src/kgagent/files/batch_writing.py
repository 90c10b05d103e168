"""Writing the lines of a file in batches, which load and import do in the same way."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from kgagent.batches import split_by_size
from kgagent.concurrency import task_group
from kgagent.errors import ConflictError, EmbeddingError, StoreError

MAX_BATCH_BYTES = 16 * 1024 * 1024
"""Maximum bytes of the lines of a batch, unless it is a single line."""


ItemT = TypeVar("ItemT")


@dataclass(frozen=True)
class LineItem(Generic[ItemT]):
    """What a line of a file stands for.

    Attributes:
        number: line number, from 1.
        size: bytes of the line.
        value: the record, or the write that the line requests.
        place: where it is, for messages; empty if the number says it.
    """

    number: int
    size: int
    value: ItemT
    place: str = ""


def line_batches(
    lines: Iterable[LineItem[ItemT]], batch_size: int
) -> Iterator[list[LineItem[ItemT]]]:
    """Split lines into batches, in order, limited in number and in size."""
    return split_by_size(
        lines, lambda line: line.size, max_size=MAX_BATCH_BYTES, max_items=batch_size
    )


async def write_batches(
    batches: Iterator[Sequence[ItemT]],
    write: Callable[[Sequence[ItemT]], Awaitable[None]],
    *,
    concurrency: int = 1,
    identity: Callable[[ItemT], Hashable] = id,
) -> None:
    """Write batches concurrently; those that share a record are written one after the other, in
    their order.

    Args:
        batches: iterated in a thread, one batch at a time.
        write: writes a batch.
        concurrency: maximum number of batches that are written concurrently, from 1.
        identity: the record of an item.

    Raises:
        Exception: the first error of `write`, which cancels the batches that are running.
    """
    running: dict[asyncio.Task[None], frozenset[Hashable]] = {}

    async def run(batch: Sequence[ItemT]) -> None:
        await write(batch)

    async with task_group() as group:
        while batch := await asyncio.to_thread(next, batches, None):
            records = frozenset(map(identity, batch))
            while len(running) >= concurrency or any(
                records & others for others in running.values()
            ):
                done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    del running[task]
            running[group.create_task(run(batch))] = records


@contextmanager
def resumable(
    name: str, operation: Literal["load", "import"], *, total: int, done: Callable[[], int]
) -> Iterator[None]:
    """Say in an error that ends a block how many lines of a file are written, and how to continue.

    Raises:
        EmbeddingError: a batch could not be embedded.
        StoreError: the database failed.
        ConflictError: concurrent writes won.
    """
    try:
        yield
    except (EmbeddingError, StoreError, ConflictError) as error:
        end = "" if str(error).endswith((".", "?")) else "."
        raise type(error)(
            f"{error}{end} {done():,} of {total:,} lines are {operation}ed; {operation} {name} "
            f"again to continue"
        ) from error
