"""Parts of the questions with which a user is asked before something is removed, and of the answers
that say what was.
"""

from datetime import datetime, timedelta

from kgagent.formatting import beginning, counted
from kgagent.graph.reference_forms import message_key
from kgagent.models import GraphNode
from kgagent.models.note import format_utc

MAX_NAME, MAX_TEXT = 80, 200
"""Characters of a name, and of another text."""


def quoted(text: str) -> str:
    """The beginning of a stored text."""
    return f'"{beginning(text, MAX_TEXT)}"'


def undo(window: timedelta) -> str:
    """Say how long a deletion or a merge can be undone."""
    if not window:
        return "It cannot be undone"
    days = window / timedelta(days=1)
    return f"It can be undone for {days:,g} {'day' if days == 1 else 'days'}"


def described(node: GraphNode) -> str:
    """A node, such as "Person Ruth Calder (5b0c1a2f-61a)"."""
    return f"{node.label} {beginning(node.name, MAX_NAME)} ({message_key(node.entity_key)})"


def and_relationships(count: int) -> str:
    """What was removed or restored with a node; empty if nothing."""
    return f" and {counted(count, 'relationship')}" if count else ""


def utc(moment: datetime | None) -> str | None:
    """A time as answers contain it; None if there is none."""
    return None if moment is None else format_utc(moment)
