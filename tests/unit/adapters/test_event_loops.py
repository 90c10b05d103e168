"""Work on the event loop of another thread, which may end before the work does."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from kgagent.adapters import event_loops
from kgagent.errors import ConfigurationError

LONGEST = 60


class Elsewhere:
    """A loop that runs in a thread until it is stopped."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.begun = threading.Event()
        self.cancelled = threading.Event()
        self._thread = threading.Thread(target=self.loop.run_forever)
        self._thread.start()

    async def endless(self) -> str:
        self.begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        return "never"

    def end(self) -> None:
        """Cancel what it had to do, as `asyncio.run` does."""

        async def cancel_all() -> None:
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)

        if self._thread.is_alive():
            asyncio.run_coroutine_threadsafe(cancel_all(), self.loop).result(LONGEST)
            self.loop.call_soon_threadsafe(self.loop.stop)
            self._thread.join(LONGEST)


@pytest.fixture
def elsewhere() -> Iterator[Elsewhere]:
    made = Elsewhere()
    yield made
    made.end()
    made.loop.close()


def test_wait_on_fails_if_the_loop_ends_first(elsewhere: Elsewhere) -> None:
    pool = ThreadPoolExecutor()
    waiting = pool.submit(
        event_loops.wait_on, elsewhere.loop, elsewhere.endless(), instead="ainvoke"
    )
    pool.shutdown(wait=False)
    assert elsewhere.begun.wait(LONGEST)
    elsewhere.end()
    with pytest.raises(ConfigurationError, match="ended during the call"):
        waiting.result(LONGEST)
    with pytest.raises(ConfigurationError, match="has ended"):
        event_loops.wait_on(elsewhere.loop, elsewhere.endless(), instead="ainvoke")


async def test_run_on_fails_if_the_loop_ends_first(elsewhere: Elsewhere) -> None:
    waiting = asyncio.ensure_future(event_loops.run_on(elsewhere.loop, elsewhere.endless()))
    assert await asyncio.to_thread(elsewhere.begun.wait, LONGEST)
    await asyncio.to_thread(elsewhere.end)
    with pytest.raises(ConfigurationError, match="ended during the call"):
        await asyncio.wait_for(waiting, LONGEST)


async def test_cancelling_run_on_cancels_the_coroutine(elsewhere: Elsewhere) -> None:
    waiting = asyncio.ensure_future(event_loops.run_on(elsewhere.loop, elsewhere.endless()))
    assert await asyncio.to_thread(elsewhere.begun.wait, LONGEST)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert await asyncio.to_thread(elsewhere.cancelled.wait, LONGEST)


@pytest.mark.parametrize("error", [TimeoutError, ValueError])
async def test_results_and_errors_are_returned(
    elsewhere: Elsewhere, error: type[Exception]
) -> None:
    async def give() -> int:
        await asyncio.sleep(0)
        return 7

    async def fail() -> int:
        raise error("from the work")

    assert await event_loops.run_on(elsewhere.loop, give()) == 7
    assert (
        await asyncio.to_thread(event_loops.wait_on, elsewhere.loop, give(), instead="ainvoke") == 7
    )
    with pytest.raises(error, match="from the work"):
        await event_loops.run_on(elsewhere.loop, fail())
    with pytest.raises(error, match="from the work"):
        await asyncio.to_thread(event_loops.wait_on, elsewhere.loop, fail(), instead="ainvoke")
