"""Items that arrive one by one are divided into batches."""

from collections.abc import AsyncIterator

import pytest

from kgagent.batches import batched


async def numbers(count: int) -> AsyncIterator[int]:
    for number in range(count):
        yield number


@pytest.mark.parametrize(
    ("count", "batches"), [(0, []), (2, [[0, 1]]), (3, [[0, 1], [2]]), (4, [[0, 1], [2, 3]])]
)
async def test_batches_are_full_except_the_last(count: int, batches: list[list[int]]) -> None:
    assert [batch async for batch in batched(numbers(count), 2)] == batches
