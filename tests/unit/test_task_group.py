import asyncio
from contextlib import suppress

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


async def test_a_time_limit_ends_a_block_in_which_a_group_has_failed() -> None:
    """Before Python 3.13, a group counts its own request to cancel as pending, and the limit takes
    it for another's.
    """

    async def fail_while_the_group_waits() -> None:
        await asyncio.sleep(0)
        raise StoreError("down")

    async def go_on_after_the_failure() -> None:
        with suppress(StoreError):
            async with task_group() as group:
                group.create_task(fail_while_the_group_waits())
        await asyncio.Event().wait()

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await go_on_after_the_failure()
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0
