"""One call of a tool: its answer as MCP gives it, and signs of life while it takes long."""

import logging
from collections.abc import Mapping
from typing import Any

import anyio
from mcp.server import ServerRequestContext
from mcp.types import CallToolResult, TextContent

from kgagent.tools import BoundTool, Payload
from kgagent.tools.base import dump

Context = ServerRequestContext[Any, Any]

_log = logging.getLogger(__name__)


async def call(
    tool: BoundTool, arguments: Mapping[str, Any], context: Context, progress_interval: float
) -> CallToolResult:
    """Call a tool; what goes wrong is in the answer.

    A client that cancels the request cancels the task that runs this, and with it the statement in the database.

    Args:
        tool: bound to the user.
        arguments: what the model filled in.
        context: the client's request; where it asks for progress, it hears how long the call has taken so far.
        progress_interval: seconds between two such signs.
    """
    if not (context.meta and context.meta.get("progress_token") is not None):
        return answer(await tool(**arguments))
    async with anyio.create_task_group() as group:
        group.start_soon(_tell_progress, tool.name, context, progress_interval)
        payload = await tool(**arguments)
        group.cancel_scope.cancel()
    return answer(payload)


def answer(payload: Payload) -> CallToolResult:
    """A tool's answer, structured for programs and as text for a model."""
    return CallToolResult(
        content=[TextContent(text=dump(payload))], structured_content=payload, is_error=not payload["success"]
    )


async def _tell_progress(name: str, context: Context, interval: float) -> None:
    """Tell until it is cancelled; a sign that cannot be sent is logged, the first of a call for people to see."""
    begun = anyio.current_time()
    level = logging.WARNING
    while True:
        await anyio.sleep(interval)
        seconds = anyio.current_time() - begun
        try:
            await context.session.report_progress(seconds, message=f"{name} has been running for {seconds:.0f} s")
        except Exception:
            # Each transport fails in its own way, and none of that is the tool's concern.
            _log.log(level, "Progress of %s could not be sent", name, exc_info=True, extra={"tool": name})
            level = logging.DEBUG
