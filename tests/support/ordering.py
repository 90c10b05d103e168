"""The order of the tests of a run."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

ItemT = TypeVar("ItemT")


def in_parts(first: Sequence[ItemT], others: Sequence[ItemT], *, parts: int) -> Iterator[ItemT]:
    """Order tests so that each part of them, one for each worker, begins with its share of the
    first ones.
    """
    for part in range(parts):
        for items in (first, others):
            yield from items[len(items) * part // parts : len(items) * (part + 1) // parts]
