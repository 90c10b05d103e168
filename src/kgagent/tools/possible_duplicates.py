"""Older nodes that may be the same thing as new ones, and the other nodes that have an alias."""

from collections.abc import Mapping, Sequence

from kgagent.errors import KgAgentError
from kgagent.formatting import beginning
from kgagent.models import GraphNode
from kgagent.tools.context import ToolContext

MAX_SHOWN = 80
"""Characters of a description that a text repeats."""

REMEDY = "If a possible duplicate is the same thing, call merge_nodes and keep the existing node"


async def possible_duplicates(
    context: ToolContext, new: Sequence[GraphNode], embeddings: Mapping[str, Sequence[float]]
) -> Mapping[str, tuple[GraphNode, ...]]:
    """Older nodes like new ones, by the key of the new one; none if they cannot be read, as the writes succeeded."""
    try:
        return await context.retrieval.find_similar_nodes(new, embeddings, user_id=context.user_id)
    except KgAgentError:
        return {}


def about(node: GraphNode) -> str:
    """The beginning of a node's description, after a comma."""
    text = beginning(node.description, MAX_SHOWN)
    return f", {text}" if text else ""
