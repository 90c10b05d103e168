"""The class of a record, see `kgagent.trust`: one for its description, its bare statement and its
passages.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from kgagent.graph.property_names import SOURCE_TEXT, TRUST
from kgagent.graph.records import NodeRecord, Record
from kgagent.trust import Trust, level, stored_trust

_TEXTS = ("description", SOURCE_TEXT)
"""Texts that a record may have. Without any, its name or its type is what it says."""


def trust_after(
    stored: Record, changes: Mapping[str, Any], said: Mapping[str, Any], trust: Trust
) -> Trust:
    """The class of a record after a write: lower if a call of a lower class changes its words,
    higher if one of a higher class says all of them.

    As one class stands for all words of a record, it is the lowest of theirs.

    Args:
        stored: the record.
        changes: the properties that change; None removes one.
        said: what the call says.
        trust: class of the call.
    """
    bare = "name" if isinstance(stored, NodeRecord) else "relationship_type"
    if level(trust) <= level(stored.trust):
        return trust if any(changes.get(name) for name in (bare, *_TEXTS)) else stored.trust
    after = {**stored.properties, **changes}
    words = [name for name in _TEXTS if after.get(name)] or [bare]
    return trust if all(said.get(name) == after.get(name) for name in words) else stored.trust


def trust_of_joined(
    kept: Record, others: Iterable[Record], taken: Mapping[str, Any]
) -> dict[str, Any]:
    """The class of a record as a property, if it takes words of others: the lowest of all.

    Args:
        kept: the record.
        others: those that are merged into it.
        taken: the properties that it takes from them.
    """
    if not any(taken.get(name) for name in ("relationship_type", *_TEXTS)):
        return {}
    lowest = min((one.trust for one in (kept, *others)), key=level)
    return {} if lowest == kept.trust else {TRUST: stored_trust(lowest)}
