"""Says of a node that does not exist that it was deleted, and until when it can be restored."""

from collections.abc import Sequence

from kgagent.errors import KgAgentError
from kgagent.graph.deleted_records import format_minute
from kgagent.graph.node_restoration import NodeRestorationIntent, NodeRestorationStrategy
from kgagent.tools.context import ToolContext

MAX_EXAMINED = 2
"""Unknown references of which deleted nodes are looked up; a tool has at most two."""


async def deleted_nodes_hint(context: ToolContext, references: Sequence[str]) -> str:
    """Which of the references mean deleted nodes that can be restored; empty if none, or if that cannot be read."""
    strategy = NodeRestorationStrategy(
        context.nodes, context.relationships, context.write_context, user_id=context.user_id
    )
    intents = [NodeRestorationIntent(reference=one, new_key="") for one in references[:MAX_EXAMINED]]
    try:
        found = await strategy.read(intents) if intents else []
    except KgAgentError:
        return ""
    now = context.write_context.clock()
    restorable = [next((node for node in one.nodes if node.undo_until > now), None) for one in found]
    return ". ".join(
        f"{node} was deleted on {format_minute(node.deleted_at)}; restorable until {format_minute(node.undo_until)}"
        for node in restorable
        if node is not None
    )
