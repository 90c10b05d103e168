"""The classes of the records of a file: an import raises none."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kgagent.graph.property_names import TRUST
from kgagent.models.history import HistoryEntry, dump_history, parse_history
from kgagent.models.note import Note, dump_notes, parse_notes
from kgagent.trust import OWN, Trust, lower, read_trust, stored_trust

_LISTS: Sequence[tuple[str, Callable[[object], Any], Callable[[Any], str]]] = (
    ("notes", parse_notes, dump_notes),
    ("history", parse_history, dump_history),
)
"""The properties that have classes of their own, and how they are read and written."""


def not_raised(
    properties: dict[str, Any], stored: Mapping[str, Any], most: Trust
) -> dict[str, Any]:
    """The properties of a record with classes not above those of the record that they replace.

    Args:
        properties: as the file has them.
        stored: of the record that they replace; empty if there is none.
        most: class of the process, the highest that they get.
    """
    if not stored and most == OWN:
        return properties
    trust = lower(read_trust(properties.get(TRUST)), read_trust(stored.get(TRUST)), most)
    lowered = {**properties, TRUST: stored_trust(trust)}
    for name, parse, dump in _LISTS:
        known = {_identity(one): one.trust for one in parse(stored.get(name))}
        given = parse(properties.get(name))
        classes = [lower(one.trust, known.get(_identity(one), OWN), most) for one in given]
        if classes != [one.trust for one in given]:
            lowered[name] = dump(
                one.model_copy(update={"trust": trust})
                for one, trust in zip(given, classes, strict=True)
            )
    return lowered


def _identity(one: Note | HistoryEntry) -> object:
    return one.identity if isinstance(one, Note) else (one.field, str(one.value))
