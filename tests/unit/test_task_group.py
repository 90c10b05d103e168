import asyncio

import pytest

from kgagent.concurrency import task_group
from kgagent.errors import StoreError


async def test_an_error_is_raised_unwrapped_and_cancels_the_others() -> None:
    ended = asyncio.Event()

    async def waits() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async def fails() -> None:
        raise StoreError("down")

    async def both() -> None:
        async with task_group() as group:
            group.create_task(waits())
            group.create_task(fails())

    with pytest.raises(StoreError, match="down"):
        await both()
    assert ended.is_set()


async def test_tasks_run_concurrently() -> None:
    first, second = asyncio.Event(), asyncio.Event()

    async def meet(mine: asyncio.Event, other: asyncio.Event) -> bool:
        mine.set()
        return await other.wait()

    async with task_group() as group:
        tasks = [group.create_task(meet(first, second)), group.create_task(meet(second, first))]
    assert all(task.result() for task in tasks)
