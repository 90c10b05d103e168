"""The mark of what rests only on sources that are not known."""

from kgagent.trust import UNKNOWN, Trust

UNKNOWN_SOURCE = "unknown source"


def trust_mark(trust: Trust | None) -> str:
    """What follows a text of a class."""
    return f" ({UNKNOWN_SOURCE})" if trust == UNKNOWN else ""
