import asyncio
import time

from kgagent.turns import LONGEST_TURN, in_turns


async def turns_beside(seconds: float) -> int:
    """How often another task runs while four items are computed, each of which takes some seconds."""
    count = 0

    async def others() -> None:
        nonlocal count
        while True:
            await asyncio.sleep(0)
            count += 1

    task = asyncio.create_task(others())
    await in_turns(lambda _: time.sleep(seconds), range(4))
    task.cancel()
    return count


async def test_each_item_has_its_value_in_order() -> None:
    assert await in_turns(str, [3, 1, 2]) == ["3", "1", "2"]


async def test_other_tasks_run_between_items_that_take_long() -> None:
    assert await turns_beside(2 * LONGEST_TURN) >= 3


async def test_items_that_take_no_time_are_computed_at_once() -> None:
    assert await in_turns(abs, range(100)) == list(range(100))
