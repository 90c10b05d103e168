"""Warns of an alias that belongs to another node too, so that it does not clearly refer to either."""

from collections.abc import Mapping, Sequence

from kgagent.errors import KgAgentError
from kgagent.graph.referenced_nodes import ReferencedNode
from kgagent.graph.short_keys import message_key
from kgagent.tools.context import ToolContext


async def shared_aliases(context: ToolContext, given: Mapping[str, Sequence[str]]) -> list[str]:
    """A warning for each alias that is a name or an alias of other nodes; none if they cannot be read.

    Args:
        context: the user's graph.
        given: aliases that were written, by the key of their node.
    """
    names = list(dict.fromkeys(alias for aliases in given.values() for alias in aliases))
    try:
        found = await context.references.candidates(context.user_id, names) if names else {}
    except KgAgentError:
        return []
    return [
        f"{alias!r} is also {_whose(alias, others)}"
        for key, aliases in given.items()
        for alias in aliases
        if (others := [one for one in found[alias] if one.entity_key != key and one.is_called(alias)])
    ]


def _whose(alias: str, others: Sequence[ReferencedNode]) -> str:
    other = others[0]
    what = "the name" if other.is_named(alias) else "an alias"
    more = f" and of {len(others) - 1} more" if len(others) > 1 else ""
    return f"{what} of {other.name} ({other.label}, {message_key(other.entity_key)}){more}"
