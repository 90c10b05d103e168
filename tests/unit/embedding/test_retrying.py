from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgagent.embedding.retrying import MAX_WAIT, TransientError, requested_wait, with_retries
from kgagent.errors import EmbeddingUnavailableError

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after": "-1"}, 0.0),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after-ms": "250", "retry-after": "3"}, 0.25),
        ({"retry-after-ms": "soon", "retry-after": "3"}, 3.0),
        ({"retry-after": "Sun, 01 Mar 2026 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Sun, 01 Mar 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "Sun, 01 Mar 2026 12:00:30 -0000"}, 30.0),
        ({"retry-after": "Sun, 99 Mar 2026 12:00:30 GMT"}, None),
    ],
)
def test_the_requested_wait_is_parsed(headers: dict[str, str], wait: float | None) -> None:
    assert requested_wait(headers, now=NOW) == wait


@given(value=st.text())
def test_any_header_is_a_wait_from_0_or_none(value: str) -> None:
    wait = requested_wait({"retry-after": value, "retry-after-ms": value}, now=NOW)
    assert wait is None or wait >= 0


class _Call:
    """Raises the given faults, one a call, then answers how often it was called."""

    def __init__(self, *faults: Exception) -> None:
        self.faults = list(faults)
        self.calls = 0
        self.waits: list[float] = []

    async def __call__(self) -> int:
        self.calls += 1
        if self.faults:
            raise self.faults.pop(0)
        return self.calls

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)


async def test_a_call_that_succeeds_is_made_once() -> None:
    call = _Call()
    assert await with_retries(call, attempts=5, sleep=call.sleep) == 1
    assert call.waits == []


async def test_waits_at_most_double() -> None:
    call = _Call(*[TransientError("busy")] * 7)
    await with_retries(call, attempts=8, sleep=call.sleep)
    assert all(0 <= wait <= most for wait, most in zip(call.waits, [1, 2, 4, 8, 16, 20, 20], strict=True))


async def test_the_maximum_wait_is_accepted() -> None:
    call = _Call(TransientError("busy", requested_wait=MAX_WAIT))
    await with_retries(call, attempts=2, sleep=call.sleep)
    assert call.waits == [MAX_WAIT]


async def test_a_longer_wait_is_an_error() -> None:
    call = _Call(TransientError("busy", requested_wait=MAX_WAIT + 1))
    with pytest.raises(EmbeddingUnavailableError, match="busy; tried once, and the server requested a wait of 61 s"):
        await with_retries(call, attempts=5, sleep=call.sleep)
    assert call.waits == []


async def test_other_errors_are_not_retried() -> None:
    call = _Call(ValueError("no"))
    with pytest.raises(ValueError, match="no"):
        await with_retries(call, attempts=5, sleep=call.sleep)
    assert call.calls == 1


async def test_the_last_error_is_reported_with_its_cause() -> None:
    last = TransientError("slow")
    last.__cause__ = OSError("wire")
    call = _Call(TransientError("busy"), last)
    with pytest.raises(EmbeddingUnavailableError, match="slow; tried 2 times") as caught:
        await with_retries(call, attempts=2, sleep=call.sleep)
    assert caught.value.__cause__ is last.__cause__
