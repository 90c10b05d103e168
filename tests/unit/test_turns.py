import time

from kgagent.turns import LONGEST_TURN, in_turns
from tests.support.loop_turns import turns_of_others


async def turns_beside(seconds: float) -> int:
    """How often another task runs while four items are computed, each of which takes some
    seconds.
    """
    async with turns_of_others() as turns:
        await in_turns(lambda _: time.sleep(seconds), range(4))
    return turns.count


async def test_each_item_has_its_value_in_order() -> None:
    assert await in_turns(str, [3, 1, 2]) == ["3", "1", "2"]


async def test_other_tasks_run_between_items_that_take_long() -> None:
    assert await turns_beside(2 * LONGEST_TURN) >= 3
