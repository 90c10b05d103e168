"""Calls are admitted up to a limit; users who wait take turns; who would wait too long is
refused.
"""

import asyncio
from contextlib import suppress

import pytest

from kgagent.admission import Admission
from kgagent.errors import BusyError


class Calls:
    """Calls that run until they are told to end, and the order in which they began."""

    def __init__(self, admission: Admission) -> None:
        self._admission = admission
        self._ends: dict[str, asyncio.Event] = {}
        self.begun: list[str] = []
        self.most = 0
        self._running = 0

    async def call(self, name: str) -> None:
        """Run a call; the first letter of its name is its user."""
        async with self._admission.admitted(name[0]):
            self.begun.append(name)
            self._running += 1
            self.most = max(self.most, self._running)
            await self._ends.setdefault(name, asyncio.Event()).wait()
            self._running -= 1

    async def start(self, *names: str) -> dict[str, asyncio.Task[None]]:
        """Start calls one after the other."""
        tasks = {}
        for name in names:
            tasks[name] = asyncio.create_task(self.call(name))
            await settled()
        return tasks

    async def end(self, name: str) -> None:
        """Let a call end."""
        self._ends.setdefault(name, asyncio.Event()).set()
        await settled()


async def settled() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_no_more_calls_run_than_the_limit_and_all_get_their_turn() -> None:
    calls = Calls(Admission(limit=3, user_limit=3, longest_wait=60))
    names = [f"a{i}" for i in range(10)]
    tasks = await calls.start(*names)
    assert calls.begun == ["a0", "a1", "a2"]
    for name in names:
        await calls.end(name)
    await asyncio.gather(*tasks.values())
    assert (calls.begun, calls.most) == (names, 3)


async def test_one_user_cannot_take_the_places_of_another() -> None:
    calls = Calls(Admission(limit=3, user_limit=2, longest_wait=60))
    await calls.start("a0", "a1", "a2", "a3", "b0")
    assert calls.begun == ["a0", "a1", "b0"]


async def test_users_who_wait_take_turns_whoever_asked_first() -> None:
    calls = Calls(Admission(limit=1, user_limit=1, longest_wait=60))
    await calls.start("a0", "a1", "a2", "a3", "b0", "b1", "c0")
    for _ in range(6):
        await calls.end(calls.begun[-1])
    assert calls.begun == ["a0", "a1", "b0", "c0", "a2", "b1", "a3"]


async def test_a_call_that_waits_too_long_is_refused_with_the_time_to_try_again() -> None:
    calls = Calls(Admission(limit=1, user_limit=1, longest_wait=0.25))
    tasks = await calls.start("a0", "a1")
    with pytest.raises(
        BusyError, match=r"^The graph is busy: 1 running and 0 waiting calls\. Try again in 1 s$"
    ):
        await tasks["a1"]
    await calls.end("a0")
    assert calls.begun == ["a0"]


async def test_a_call_that_would_wait_too_long_is_refused_at_once() -> None:
    calls = Calls(Admission(limit=1, user_limit=1, longest_wait=2.0))
    tasks = await calls.start("a0", *(f"b{i}" for i in range(100)))
    refused = [
        name
        for name, task in tasks.items()
        if task.done() and isinstance(task.exception(), BusyError)
    ]
    assert 80 < len(refused) < 100
    assert "b0" not in refused
    others = await calls.start("c0")
    assert not others["c0"].done(), "another user waits only for a turn"


async def test_slow_first_calls_do_not_make_later_calls_be_refused() -> None:
    admission = Admission(limit=4, user_limit=4, longest_wait=30)
    moment = 0.0

    async def call(seconds: float) -> None:
        nonlocal moment
        async with admission.admitted("a"):
            moment += seconds

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kgagent.admission.time.monotonic", lambda: moment)
        for _ in range(8):
            await call(20.0)
        calls = Calls(admission)
        tasks = await calls.start(*(f"a{i}" for i in range(100)))
        assert not any(task.done() for task in tasks.values())
        for task in tasks.values():
            task.cancel()
        # If calls stay slow, those that would wait too long are refused again.
        for _ in range(60):
            await call(20.0)
        tasks = await calls.start(*(f"b{i}" for i in range(100)))
        assert sum(task.done() for task in tasks.values()) > 80
        for task in tasks.values():
            task.cancel()


async def test_a_cancelled_call_gives_its_place_back_or_leaves_the_queue() -> None:
    calls = Calls(Admission(limit=1, user_limit=1, longest_wait=60))
    tasks = await calls.start("a0", "a1", "a2")
    tasks["a1"].cancel()
    tasks["a0"].cancel()
    with suppress(asyncio.CancelledError):
        await tasks["a0"]
    await settled()
    assert calls.begun == ["a0", "a2"]
    tasks |= await calls.start("b0")
    # It has its turn already, but has not run since.
    calls.begun.clear()
    await_end = asyncio.create_task(calls.end("a2"))
    await asyncio.sleep(0)
    tasks["b0"].cancel()
    await await_end
    late = await calls.start("c0")
    assert calls.begun == ["c0"]
    late["c0"].cancel()


async def test_a_failed_call_gives_its_place_back() -> None:
    admission = Admission(limit=1, user_limit=1, longest_wait=60)
    for _ in range(3):
        with pytest.raises(ValueError, match="wrong"):
            async with admission.admitted("a"):
                raise ValueError("wrong")
