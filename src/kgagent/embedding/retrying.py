"""Calls tried again after faults that pass by themselves."""

import math
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from tenacity import (
    AsyncRetrying,
    RetryCallState,
    retry_if_exception,
    stop_after_attempt,
    wait_random_exponential,
)

from kgagent.errors import EmbeddingUnavailableError

Result = TypeVar("Result")
Sleep = Callable[[float], Awaitable[None]]

MAX_WAIT = 60.0
"""Seconds; a server that asks for a longer wait is not asked again."""

_MAX_BACKOFF_LENGTH = 20.0


class TemporaryFault(Exception):  # noqa: N818 - it never leaves the embedders
    """One try failed in a way that may pass.

    Attributes:
        asked_wait: seconds that the server asked to wait, from 0; None where it did not say.
    """

    def __init__(self, reason: str, *, asked_wait: float | None = None) -> None:
        super().__init__(reason)
        self.asked_wait = asked_wait


async def with_retries(call: Callable[[], Awaitable[Result]], *, attempts: int, sleep: Sleep) -> Result:
    """Await a call; after a `TemporaryFault` wait and try again.

    The wait is what the server asked for, else random within a window that doubles from 1 s to 20 s
    ("full jitter": Brooker, Exponential Backoff And Jitter, AWS Architecture Blog, 2015).

    Args:
        call: raises `TemporaryFault` where another try may help; any other exception ends it at once.
        attempts: tries in all, from 1.
        sleep: waits the given seconds.

    Raises:
        EmbeddingUnavailableError: the last try failed too, or the server asked for more than `MAX_WAIT`.
    """
    retrying = AsyncRetrying(
        retry=retry_if_exception(_may_pass),
        stop=stop_after_attempt(attempts),
        wait=_wait,
        sleep=sleep,
        reraise=True,
    )
    try:
        result: Result = await retrying(call)
    except TemporaryFault as fault:
        raise EmbeddingUnavailableError(f"{fault}; {_tried(retrying)}{_asked(fault)}") from fault.__cause__
    return result


def _may_pass(error: BaseException) -> bool:
    return isinstance(error, TemporaryFault) and (error.asked_wait or 0.0) <= MAX_WAIT


_backoff = wait_random_exponential(multiplier=1, max=_MAX_BACKOFF_LENGTH)


def _wait(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    if isinstance(error, TemporaryFault) and error.asked_wait is not None:
        return error.asked_wait
    return _backoff(state)


def _tried(retrying: AsyncRetrying) -> str:
    attempts = retrying.statistics["attempt_number"]
    return "tried once" if attempts == 1 else f"tried {attempts} times"


def _asked(fault: TemporaryFault) -> str:
    if fault.asked_wait is None or fault.asked_wait <= MAX_WAIT:
        return ""
    return f", and the server asked to wait {fault.asked_wait:.0f} s, over the {MAX_WAIT:.0f} s allowed"


def asked_wait(headers: Mapping[str, str], *, now: datetime | None = None) -> float | None:
    """Read how long the server asks to wait: `retry-after-ms`, else `Retry-After` (RFC 9110, 10.2.3).

    Args:
        headers: of the answer, looked up by lower-case name.
        now: the time that an HTTP date is compared with; an aware datetime.

    Returns:
        Seconds from 0, or None where the headers do not say or say nothing that can be read.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1_000
    asked = headers.get("retry-after")
    seconds = _number(asked)
    return seconds if seconds is not None else _until(asked, now or datetime.now(UTC))


def _number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return max(number, 0.0) if math.isfinite(number) else None


def _until(value: str | None, now: datetime) -> float | None:
    try:
        date = parsedate_to_datetime(value or "")
    except (ValueError, TypeError):
        return None
    aware = date if date.tzinfo else date.replace(tzinfo=UTC)
    return max((aware - now).total_seconds(), 0.0)
