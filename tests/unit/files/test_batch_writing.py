"""Batches run concurrently, but not those that share a record, and the first error ends the
writing.
"""

import asyncio
from collections.abc import Sequence

import pytest

from kgagent.files.batch_writing import write_batches

ONE_BY_ONE = [["a"], ["b"], ["c"]]


class Batches:
    """Batches that run until they are let go."""

    def __init__(self, *broken: str) -> None:
        self.broken = broken
        self.running: list[str] = []
        self.done: list[str] = []
        self.gates: dict[str, asyncio.Event] = {}
        self.changed = asyncio.Event()

    async def write(self, batch: Sequence[str]) -> None:
        name = "".join(batch)
        self.running.append(name)
        self.changed.set()
        try:
            await self.gates.setdefault(name, asyncio.Event()).wait()
            if name in self.broken:
                raise ValueError(name)
            self.done.append(name)
        finally:
            self.running.remove(name)

    def let_go(self, *names: str) -> None:
        for name in names:
            self.gates.setdefault(name, asyncio.Event()).set()

    async def until_running(self, *names: str) -> None:
        while self.running != [*names]:
            self.changed.clear()
            await self.changed.wait()


def start(batches: Batches, content: list[list[str]], concurrency: int) -> asyncio.Task[None]:
    writing = write_batches(iter(content), batches.write, concurrency=concurrency, identity=str)
    return asyncio.create_task(writing)


async def test_at_most_so_many_batches_run_concurrently() -> None:
    batches = Batches()
    task = start(batches, ONE_BY_ONE, 2)
    await batches.until_running("a", "b")
    batches.let_go("a")
    await batches.until_running("b", "c")
    batches.let_go("b", "c")
    await task
    assert batches.done == ["a", "b", "c"]


async def test_batches_about_one_record_run_one_after_the_other() -> None:
    batches = Batches()
    task = start(batches, [["x", "y"], ["y", "z"]], 3)
    await batches.until_running("xy")
    batches.let_go("xy", "yz")
    await task
    assert batches.done == ["xy", "yz"]


async def test_an_error_ends_the_writing() -> None:
    batches = Batches("a")
    task = start(batches, ONE_BY_ONE, 2)
    await batches.until_running("a", "b")
    batches.let_go("a")
    with pytest.raises(ValueError, match="a"):
        await task
    assert (batches.running, batches.done) == ([], [])
