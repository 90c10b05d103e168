"""Tool calls: the result as MCP content, and progress notifications while a call runs."""

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio
from mcp.server import ServerRequestContext
from mcp.types import CallToolResult, TextContent

from kgagent.tools import BoundTool, Payload, ToolText

Context = ServerRequestContext[Any, Any]
Meta = dict[str, Any]
MetaOf = Callable[[Payload], Awaitable[Meta | None]]
"""What else a result carries for the client, and not for the model."""

_log = logging.getLogger(__name__)


async def call(
    tool: BoundTool,
    arguments: Mapping[str, Any],
    context: Context,
    *,
    progress_interval: float,
    structured: bool = False,
    meta_of: MetaOf | None = None,
) -> CallToolResult:
    """Call a tool. A failure is a result with `is_error`, not an exception.

    If the client cancels its request, the task that runs this call is cancelled, and with it the database statement.

    Args:
        tool: the tool, bound to the user.
        arguments: the model's arguments.
        context: the client's request; if it asks for progress, it is notified how long the call has been running.
        progress_interval: seconds between two notifications.
        structured: whether to add the payload as structured content, for programs.
        meta_of: returns what else to add.
    """
    if not (context.meta and context.meta.get("progress_token") is not None):
        return await _result(await tool.call_text(arguments), structured, meta_of)
    async with anyio.create_task_group() as group:
        group.start_soon(_report_progress, tool.name, context, progress_interval)
        answer = await tool.call_text(arguments)
        group.cancel_scope.cancel()
    return await _result(answer, structured, meta_of)


async def _result(answer: ToolText, structured: bool, meta_of: MetaOf | None) -> CallToolResult:
    return result_of(answer, structured=structured, meta=None if meta_of is None else await meta_of(answer.payload))


def result_of(answer: ToolText, *, structured: bool, meta: Meta | None = None) -> CallToolResult:
    """The answer of a tool as MCP content."""
    return CallToolResult(
        content=[TextContent(text=answer.text)],
        structured_content=answer.payload if structured else None,
        is_error=answer.is_error,
        meta=meta,
    )


async def _report_progress(name: str, context: Context, interval: float) -> None:
    """Notify the client until cancelled; only the first failure of a call is logged as a warning."""
    start = anyio.current_time()
    level = logging.WARNING
    while True:
        await anyio.sleep(interval)
        seconds = anyio.current_time() - start
        try:
            await context.session.report_progress(seconds, message=f"{name} has been running for {seconds:.0f} s")
        except Exception:
            # Each transport raises its own errors, and none of them concerns the tool.
            _log.log(level, "Progress of %s could not be sent", name, exc_info=True, extra={"tool": name})
            level = logging.DEBUG
