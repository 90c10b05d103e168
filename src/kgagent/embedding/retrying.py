"""Retries of calls that failed temporarily."""

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

from kgagent.errors import EmbeddingUnavailableError, KgAgentError

Result = TypeVar("Result")
Sleep = Callable[[float], Awaitable[None]]

MAX_WAIT = 60.0
"""Seconds; if a server asks for a longer wait, the call is not retried."""

_MAX_BACKOFF_LENGTH = 20.0


class TransientError(KgAgentError):
    """One attempt failed, and a retry may succeed. Internal: it is never raised out of an embedder.

    Attributes:
        requested_wait: seconds that the server asked to wait, from 0; None if it did not ask.
    """

    def __init__(self, reason: str, *, requested_wait: float | None = None) -> None:
        super().__init__(reason)
        self.requested_wait = requested_wait


async def with_retries(call: Callable[[], Awaitable[Result]], *, attempts: int, sleep: Sleep) -> Result:
    """Await a call; after a `TransientError`, wait and retry.

    The wait is the one that the server requested, else random within a window that doubles from 1 s to 20 s
    ("full jitter": Brooker, Exponential Backoff And Jitter, AWS Architecture Blog, 2015).

    Args:
        call: raises `TransientError` if a retry may succeed; any other exception is raised at once.
        attempts: maximum number of attempts, from 1.
        sleep: waits the given seconds.

    Raises:
        EmbeddingUnavailableError: the last attempt failed, or the server requested a wait above `MAX_WAIT`.
    """
    retrying = AsyncRetrying(
        retry=retry_if_exception(_can_retry),
        stop=stop_after_attempt(attempts),
        wait=_wait,
        sleep=sleep,
        reraise=True,
    )
    try:
        result: Result = await retrying(call)
    except TransientError as error:
        raise EmbeddingUnavailableError(
            f"{error}; {_attempt_count(retrying)}{_excessive_wait(error)}"
        ) from error.__cause__
    return result


def _can_retry(error: BaseException) -> bool:
    return isinstance(error, TransientError) and (error.requested_wait or 0.0) <= MAX_WAIT


_backoff = wait_random_exponential(multiplier=1, max=_MAX_BACKOFF_LENGTH)


def _wait(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    if isinstance(error, TransientError) and error.requested_wait is not None:
        return error.requested_wait
    return _backoff(state)


def _attempt_count(retrying: AsyncRetrying) -> str:
    attempts = retrying.statistics["attempt_number"]
    return "tried once" if attempts == 1 else f"tried {attempts} times"


def _excessive_wait(error: TransientError) -> str:
    if error.requested_wait is None or error.requested_wait <= MAX_WAIT:
        return ""
    return f", and the server requested a wait of {error.requested_wait:.0f} s, above the maximum of {MAX_WAIT:.0f} s"


def requested_wait(headers: Mapping[str, str], *, now: datetime | None = None) -> float | None:
    """Parse the wait that the server requests: `retry-after-ms`, else `Retry-After` (RFC 9110, 10.2.3).

    Args:
        headers: headers of the response; looked up by lower-case name.
        now: current time, with a time zone, to which an HTTP date is compared.

    Returns:
        Seconds from 0, or None if the headers are missing or invalid.
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
