"""A call of a tool, where the way to the client is broken."""

import logging
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

import anyio
import pytest
from mcp.types import TextContent

from kgagent.adapters.mcp.calls import Context, call
from kgagent.tools import BoundTool, ToolText


async def test_progress_that_cannot_be_sent_is_logged_and_does_not_end_the_tool(
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

    class SlowTool:
        name = "slow"

        async def call_text(self, arguments: Mapping[str, Any]) -> ToolText:
            assert arguments == {}
            await failed_twice.wait()
            return ToolText("done", is_error=False, payload={"success": True, "message": "done"})

    context = cast("Context", SimpleNamespace(meta={"progress_token": 1}, session=Session()))
    with caplog.at_level(logging.WARNING), anyio.fail_after(60):
        result = await call(cast("BoundTool", SlowTool()), {}, context, progress_interval=0.001)
    [content] = result.content
    assert isinstance(content, TextContent)
    assert (content.text, result.structured_content, result.is_error) == ("done", None, False)
    assert [record.getMessage() for record in caplog.records] == ["Progress of slow could not be sent"]
