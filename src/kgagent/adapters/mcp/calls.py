"""Tool calls: the result as MCP content, and progress notifications while a call runs."""

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp.server import ServerRequestContext
from mcp.types import CallToolResult, TextContent

from kgagent.tools.payload import ToolText, visible

Context = ServerRequestContext[Any, Any]

_log = logging.getLogger(__name__)


def result_of(answer: ToolText, *, structured: bool) -> CallToolResult:
    """The answer of a tool as MCP content."""
    return CallToolResult(
        content=[TextContent(text=answer.text)],
        structured_content=visible(answer.payload) if structured else None,
        is_error=answer.is_error,
    )


@asynccontextmanager
async def progress_reported(
    name: str, context: Context, interval: float, state: Callable[[], str]
) -> AsyncIterator[None]:
    """Notify the client how long a call has been running, until the block ends, if it asked for
    that.

    Args:
        name: what is called.
        context: the client's request.
        interval: seconds between two notifications.
        state: returns what the call is waiting for; empty if it is running.
    """
    if not (context.meta and context.meta.get("progress_token") is not None):
        yield
        return
    async with anyio.create_task_group() as group:
        group.start_soon(_report_progress, name, context, interval, state)
        yield
        group.cancel_scope.cancel()


async def _report_progress(
    name: str, context: Context, interval: float, state: Callable[[], str]
) -> None:
    """Notify the client until cancelled; only the first failure of a call is logged as a
    warning.
    """
    start = anyio.current_time()
    level = logging.WARNING
    while True:
        await anyio.sleep(interval)
        seconds = anyio.current_time() - start
        message = f"{name} has been running for {seconds:.0f} s"
        try:
            await context.session.report_progress(seconds, message=state() or message)
        except Exception:
            # Each transport raises its own errors, and none of them concerns the tool.
            _log.log(
                level, "Progress of %s could not be sent", name, exc_info=True, extra={"tool": name}
            )
            level = logging.DEBUG
