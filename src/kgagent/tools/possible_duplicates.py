"""Older nodes that may be the same thing as new ones, and the other nodes that have an alias."""

from collections.abc import Iterable, Mapping, Sequence

from kgagent.errors import KgAgentError
from kgagent.formatting import beginning
from kgagent.models import GraphNode
from kgagent.tools.context import ToolContext

MAX_SHOWN = 80
"""Characters of a description that a text repeats."""

_MERGE = "If a possible duplicate of the same label is the same thing, call merge_nodes and keep the existing node"
_DELETE = (
    "If one of another label is the same thing, write to it what the new node has, then delete the new node with "
    "delete_node"
)


async def possible_duplicates(
    context: ToolContext, new: Sequence[GraphNode], embeddings: Mapping[str, Sequence[float]]
) -> Mapping[str, tuple[GraphNode, ...]]:
    """Older nodes like new ones, by the key of the new one; none if they cannot be read, as the writes succeeded."""
    try:
        return await context.retrieval.find_similar_nodes(new, embeddings, user_id=context.user_id)
    except KgAgentError:
        return {}


def remedies(context: ToolContext, found: Iterable[tuple[str, Iterable[GraphNode]]]) -> list[str]:
    """What to do about possible duplicates, as far as the agent has tools for it.

    Args:
        context: the user's graph.
        found: the label of each new node, and the older nodes like it.
    """
    is_same = [node.label == label for label, older in found for node in older]
    advice = []
    if True in is_same and context.offers("merge_nodes"):
        advice.append(_MERGE)
    if False in is_same and context.offers("delete_node"):
        advice.append(_DELETE)
    return advice


def about(node: GraphNode) -> str:
    """The beginning of a node's description, after a comma."""
    text = beginning(node.description, MAX_SHOWN)
    return f", {text}" if text else ""
