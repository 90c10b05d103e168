"""Limits how many calls run at once; users who wait take turns, so that the load of one does not
delay the others.
"""

import asyncio
import math
import time
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from kgagent.errors import BusyError
from kgagent.origin import Origin

_SMOOTHING = 0.1
_FIRST_GUESS = 0.2
"""Seconds that a call is assumed to take before any has been measured."""


class Admission:
    """Admits calls up to a limit, and up to another for each user; the others wait, but not past a
    deadline.
    """

    def __init__(self, *, limit: int, user_limit: int, longest_wait: float) -> None:
        """Limit the calls.

        Args:
            limit: calls of all users that run at once.
            user_limit: calls of one user that run at once.
            longest_wait: seconds after which a call that waits is refused.
        """
        self._origin = Origin()
        self._limit = limit
        self._user_limit = user_limit
        self._longest_wait = longest_wait
        self._running = Counter[str]()
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        self._seconds = _FIRST_GUESS

    @asynccontextmanager
    async def admitted(self, user_id: str) -> AsyncIterator[None]:
        """Run the block when it is its turn. What the block does needs no further admission.

        Raises:
            BusyError: too many calls are before it.
            ConfigurationError: the caller is on another event loop than the graph.
        """
        self._origin.check()
        if self._waiting or not self._has_room(user_id):
            await self._wait(user_id)
        else:
            self._running[user_id] += 1
        began = time.monotonic()
        try:
            yield
        finally:
            self._measure(time.monotonic() - began)
            self._release(user_id)

    def _measure(self, seconds: float) -> None:
        """Take the duration of a call into account.

        It counts at most twice the estimate: the first calls of a cold server are slow because it
            plans its statements,
        and must not make the calls after them be refused. Lasting slowness doubles the estimate
        every 7 calls.
        """
        self._seconds += _SMOOTHING * (min(seconds, 2 * self._seconds) - self._seconds)

    def _has_room(self, user_id: str) -> bool:
        return self._running.total() < self._limit and self._running[user_id] < self._user_limit

    async def _wait(self, user_id: str) -> None:
        """Wait for a place, which `_admit_next` takes for this call."""
        if self._expected_wait(user_id) > self._longest_wait:
            raise self._busy(user_id)
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(user_id, deque()).append(turn)
        self._admit_next()
        try:
            async with asyncio.timeout(self._longest_wait):
                await turn
        except BaseException as error:
            if turn.done() and not turn.cancelled():
                self._release(user_id)
            else:
                self._forget(user_id, turn)
            if isinstance(error, TimeoutError):
                raise self._busy(user_id) from None
            raise

    def _release(self, user_id: str) -> None:
        self._running[user_id] -= 1
        if not self._running[user_id]:
            del self._running[user_id]
        self._admit_next()

    def _admit_next(self) -> None:
        """Give free places to those who wait, one user after the other."""
        while user_id := next(filter(self._has_room, self._waiting), None):
            turns = self._waiting.pop(user_id)
            turn = turns.popleft()
            if turns:
                # At the end of the round.
                self._waiting[user_id] = turns
            if not turn.done():
                self._running[user_id] += 1
                turn.set_result(None)

    def _forget(self, user_id: str, turn: asyncio.Future[None]) -> None:
        turns = self._waiting.get(user_id, deque())
        if turn in turns:
            turns.remove(turn)
        if not turns:
            self._waiting.pop(user_id, None)

    def _expected_wait(self, user_id: str) -> float:
        """Seconds until another call of the user would have its turn, if users take turns."""
        own = len(self._waiting.get(user_id, ())) + 1
        others = sum(
            min(own, len(turns)) for user, turns in self._waiting.items() if user != user_id
        )
        return self._seconds * max((own + others) / self._limit, own / self._user_limit)

    def _busy(self, user_id: str) -> BusyError:
        running, waiting = self._running.total(), sum(map(len, self._waiting.values()))
        soon = max(1, math.ceil(self._expected_wait(user_id)))
        return BusyError(
            f"The graph is busy: {running} running and {waiting} waiting calls. Try again in "
            f"{soon} s"
        )
