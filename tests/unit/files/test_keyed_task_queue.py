import asyncio
import gc

import pytest

from kgagent.files.keyed_task_queue import KeyedTaskQueue


class Batches:
    """Batches that run until they are let go."""

    def __init__(self) -> None:
        self.running: list[str] = []
        self.done: list[str] = []
        self.gates: dict[str, asyncio.Event] = {}

    async def run(self, name: str, error: Exception | None = None) -> None:
        self.running.append(name)
        try:
            await self.gates.setdefault(name, asyncio.Event()).wait()
            if error is not None:
                raise error
            self.done.append(name)
        finally:
            self.running.remove(name)

    def let_go(self, *names: str) -> None:
        for name in names:
            self.gates.setdefault(name, asyncio.Event()).set()


async def settle() -> None:
    """Let every task run as far as it can."""
    for _ in range(20):
        await asyncio.sleep(0)


async def test_at_most_limit_tasks_run_concurrently() -> None:
    batches = Batches()

    async def start_all() -> None:
        async with KeyedTaskQueue(2) as queue:
            for name in "abc":
                await queue.start(batches.run(name), [name])

    task = asyncio.create_task(start_all())
    await settle()
    assert batches.running == ["a", "b"]
    batches.let_go("a")
    await settle()
    assert batches.running == ["b", "c"]
    batches.let_go("b", "c")
    await task
    assert batches.done == ["a", "b", "c"]


async def test_batches_about_one_record_run_one_after_the_other() -> None:
    batches = Batches()

    async def start_all() -> None:
        async with KeyedTaskQueue(3) as queue:
            await queue.start(batches.run("a"), [1, 2])
            await queue.start(batches.run("b"), [2, 3])

    task = asyncio.create_task(start_all())
    await settle()
    assert batches.running == ["a"]
    batches.let_go("a", "b")
    await task
    assert batches.done == ["a", "b"]


async def test_after_an_error_no_task_starts_and_running_tasks_finish() -> None:
    batches = Batches()

    async def start_all() -> None:
        async with KeyedTaskQueue(2) as queue:
            await queue.start(batches.run("a", ValueError("broken")), ["a"])
            await queue.start(batches.run("b"), ["b"])
            await queue.start(batches.run("c"), ["c"])

    task = asyncio.create_task(start_all())
    await settle()
    batches.let_go("a")
    await settle()
    assert batches.running == ["b"]
    batches.let_go("b")
    with pytest.raises(ValueError, match="broken"):
        await task
    assert batches.done == ["b"]


async def test_an_error_of_the_last_batch_is_raised_at_the_end() -> None:
    batches = Batches()
    batches.let_go("a")
    with pytest.raises(ValueError, match="broken"):
        async with KeyedTaskQueue(2) as queue:
            await queue.start(batches.run("a", ValueError("broken")), ["a"])


async def test_leaving_with_an_error_cancels_running_tasks() -> None:
    batches = Batches()

    async def leave() -> None:
        async with KeyedTaskQueue(2) as queue:
            await queue.start(batches.run("a"), ["a"])
            await settle()
            raise KeyError

    with pytest.raises(KeyError):
        await leave()
    assert (batches.running, batches.done) == ([], [])


async def test_errors_after_the_first_are_not_logged_as_never_retrieved() -> None:
    batches = Batches()
    logged: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: logged.append(context["message"]))
    batches.let_go("a", "b")

    async def start_both() -> None:
        async with KeyedTaskQueue(2) as queue:
            await queue.start(batches.run("a", ValueError("broken")), ["a"])
            await queue.start(batches.run("b", ValueError("broken")), ["b"])

    with pytest.raises(ValueError, match="broken"):
        await start_both()
    gc.collect()
    await settle()
    assert logged == []
