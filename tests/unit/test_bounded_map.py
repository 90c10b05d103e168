import asyncio

import pytest

from kgagent.bounded_map import bounded_map


async def test_results_come_in_the_order_of_the_items() -> None:
    later = asyncio.Event()

    async def call(item: int) -> int:
        if item == 0:
            await later.wait()
        if item == 2:
            later.set()
        return item * 10

    assert await bounded_map(call, range(3), limit=3) == [0, 10, 20]


async def test_at_most_limit_calls_run_concurrently() -> None:
    now = most = 0

    async def call(_: int) -> None:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0)
        now -= 1

    await bounded_map(call, range(20), limit=3)
    assert most == 3


async def test_the_first_error_is_raised_unwrapped_and_cancels_the_rest() -> None:
    ended: list[int] = []
    begun: list[int] = []

    async def call(item: int) -> None:
        begun.append(item)
        if item == 1:
            raise ValueError("item 1") from KeyError("cause")
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(item)

    with pytest.raises(ValueError, match="item 1") as caught:
        await bounded_map(call, range(9), limit=2)
    assert isinstance(caught.value.__cause__, KeyError)
    assert (begun, ended) == ([0, 1], [0])


async def test_cancelling_the_caller_cancels_the_calls() -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def call(_: int) -> None:
        try:
            begun.set()
            await asyncio.Event().wait()
        finally:
            ended.set()

    task = asyncio.create_task(bounded_map(call, range(2), limit=1))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.is_set()
