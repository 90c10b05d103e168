"""What kgagent added to a record of another program, and can prove to have written: the name of
each property, with a fingerprint of the value.
"""

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from neo4j.time import DateTime

from kgagent.graph.property_names import ADOPTED, ADOPTED_HASHES


def fingerprint(name: str, value: Any) -> str:  # noqa: ANN401
    """A fingerprint of a property, the same before it is written and when it is read."""
    if isinstance(value, DateTime):
        value = value.to_native()
    text = str(value.astimezone(UTC)) if isinstance(value, datetime) else repr(value)
    return hashlib.sha256(f"{name}\n{text}".encode()).hexdigest()[:16]


def written_by_kgagent(properties: Mapping[str, Any]) -> set[str]:
    """The names of the added properties that still have the values that kgagent wrote."""
    return {
        name
        for name, known in _fingerprints(properties).items()
        if name in properties and fingerprint(name, properties[name]) == known
    }


def with_additions(before: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Changes of a record, with what says which of its properties kgagent has added.

    Args:
        before: its properties.
        changes: those that are set; None removes one.
    """
    hashes = _fingerprints(before)
    added = written_by_kgagent(before) | {name for name in changes if name not in before}
    for name in added & changes.keys():
        if changes[name] is None:
            hashes.pop(name, None)
        else:
            hashes[name] = fingerprint(name, changes[name])
    names = sorted(hashes)
    return {**changes, ADOPTED: names, ADOPTED_HASHES: [hashes[name] for name in names]}


def _fingerprints(properties: Mapping[str, Any]) -> dict[str, str]:
    """The fingerprint of each added property, as it was written."""
    return dict(zip(properties.get(ADOPTED, ()), properties.get(ADOPTED_HASHES, ()), strict=False))
