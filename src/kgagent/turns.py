"""Computes values for many items without holding up the event loop, which all users share."""

import asyncio
import time
from collections.abc import Callable, Iterable
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

LONGEST_TURN = 0.005
"""Seconds of computing after which other tasks get a turn."""


async def in_turns(compute: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """The value of each item. Other tasks get a turn every 5 ms, or after one item if that takes
    longer.
    """
    results: list[Result] = []
    began = time.perf_counter()
    for item in items:
        results.append(compute(item))
        if time.perf_counter() - began > LONGEST_TURN:
            await asyncio.sleep(0)
            began = time.perf_counter()
    return results
