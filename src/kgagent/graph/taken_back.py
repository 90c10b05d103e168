"""Taking back what a write changed, without losing what was written later."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from kgagent.graph.adopted import fingerprint
from kgagent.graph.aliases import ALIASES
from kgagent.graph.records import Record
from kgagent.models.history import dump_history, parse_history
from kgagent.models.note import dump_notes, parse_notes
from kgagent.models.plain import aliases_in


class _Items(NamedTuple):
    """How a property that is a list is read and written."""

    read: Callable[[Any], Iterable[Any]]
    write: Callable[[list[Any]], Any]


_LISTS = {
    "notes": _Items(parse_notes, dump_notes),
    "history": _Items(parse_history, dump_history),
    ALIASES: _Items(lambda stored: aliases_in({ALIASES: stored}), list),
}


def fingerprints(written: Mapping[str, Any]) -> str:
    """What a write made of the properties that it changed: a fingerprint of each, and those of the
    items of a list, as JSON, so that no text is stored again.
    """
    return json.dumps(
        {
            name: [fingerprint(name, value), *_of_items(name, value)]
            for name, value in written.items()
        }
    )


def taken_back(before: Record, written: str, now: Record) -> dict[str, Any]:
    """The properties to write so that a record is as it was before a write.

    A value that has changed since then stays. Of a list, what the write added goes, what it removed
    comes back, and later changes stay.

    Args:
        before: the record before the write.
        written: the fingerprints of what it wrote.
        now: the record as it is.
    """
    changes: dict[str, Any] = {}
    for name, (whole, *items) in json.loads(written).items():
        old, value = before.properties.get(name), now.properties.get(name)
        if fingerprint(name, value) == whole:
            changes[name] = old
        elif name in _LISTS:
            changes[name] = _without(name, set(items), old, value)
    return {name: value for name, value in changes.items() if value != now.properties.get(name)}


def _without(name: str, written: set[str], old: Any, value: Any) -> Any:  # noqa: ANN401
    former, present = set(_of_items(name, old)), set(_of_items(name, value))
    read, write = _LISTS[name]
    items = [
        *(item for item in read(old) if _of_item(item) in present or _of_item(item) not in written),
        *(item for item in read(value) if _of_item(item) not in written | former),
    ]
    return write(items) if items else None


def _of_items(name: str, value: Any) -> list[str]:  # noqa: ANN401
    return [_of_item(item) for item in _LISTS[name].read(value)] if name in _LISTS else []


def _of_item(item: object) -> str:
    return fingerprint("", item)
