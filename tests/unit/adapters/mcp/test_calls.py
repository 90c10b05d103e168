"""A call of a tool, where the way to the client is broken."""

import logging
from types import SimpleNamespace
from typing import cast

import anyio
import pytest

from kgagent.adapters.mcp.calls import Context, progress_reported


async def test_progress_that_cannot_be_sent_is_logged_once_and_does_not_end_the_call(
    caplog: pytest.LogCaptureFixture,
) -> None:
    failed_twice = anyio.Event()
    attempts = []

    class Session:
        async def report_progress(self, progress: float, *, message: str) -> None:
            attempts.append((progress, message))
            if len(attempts) > 1:
                failed_twice.set()
            raise anyio.BrokenResourceError

    context = cast("Context", SimpleNamespace(meta={"progress_token": 1}, session=Session()))
    with caplog.at_level(logging.WARNING), anyio.fail_after(60):
        async with progress_reported("slow", context, 0.001, lambda: ""):
            await failed_twice.wait()
    assert attempts[0][1] == "slow has been running for 0 s"
    assert [record.getMessage() for record in caplog.records] == [
        "Progress of slow could not be sent"
    ]
