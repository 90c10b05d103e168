"""The class of a record, see `kgagent.trust`: one for its description, its bare statement and its
passages. A call of a lower class changes nothing that is there; a note keeps what it says.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from kgagent.errors import InputError
from kgagent.graph.merged_statements import lost_statement
from kgagent.graph.property_names import FIRST_SAID, LEVEL_FIELDS, SOURCE_TEXT, TRUST
from kgagent.graph.record_saver import with_properties
from kgagent.graph.records import Record, RelationshipRecord
from kgagent.models.free_types import new_types
from kgagent.models.note import parse_notes
from kgagent.names import shorten_name
from kgagent.ontology import Ontology
from kgagent.trust import Trust, level, lower, not_changed, read_trust, stored_trust

_TEXTS = ("relationship_type", "description", SOURCE_TEXT)
"""What a record may say. Without any, a node says its name."""

_SAID = (*_TEXTS, *LEVEL_FIELDS, "when", "aliases", "is_owner")
"""All that a record may have from a call, beside its name and its notes."""

_UNSAID = {*FIRST_SAID, TRUST, "is_reversed", "notes"}
"""Properties that follow from what a call says."""


def trust_after(
    stored: Record, changes: Mapping[str, Any], said: Mapping[str, Any], trust: Trust
) -> Trust:
    """The class of a record after a write: lower if a call of a lower class changes its words,
    higher if one of a higher class says all that it has.

    As one class stands for all words of a record, it is the lowest of theirs.

    Args:
        stored: the record.
        changes: the properties that change; None removes one.
        said: what the call says.
        trust: class of the call.
    """
    if level(trust) <= level(stored.trust):
        return trust if any(changes.get(name) for name in ("name", *_TEXTS)) else stored.trust
    after = {**stored.properties, **changes}
    words = [name for name in _SAID if after.get(name)] or ["name"]
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
    if not any(taken.get(name) for name in _SAID):
        return {}
    lowest = lower(*(one.trust for one in (kept, *others)))
    return {} if lowest == kept.trust else {TRUST: stored_trust(lowest)}


def highest_trust(properties: Mapping[str, Any]) -> Trust:
    """The highest class of the words and the notes of a record."""
    notes = parse_notes(properties.get("notes"))
    return max((read_trust(properties.get(TRUST)), *(one.trust for one in notes)), key=level)


def check_trusted(records: Iterable[Record], trust: Trust) -> None:
    """Refuse to change or remove whole records if one is of a higher class than the call.

    Raises:
        InputError: one is.
    """
    for record in records:
        stored = highest_trust(record.properties)
        if level(stored) > level(trust):
            raise InputError(not_changed(_shown(record), stored, trust))


def beside(
    stored: Record, values: Mapping[str, Any], trust: Trust, ontology: Ontology
) -> tuple[str, str]:
    """What a call of a class says otherwise than a record, for a note, and what the answer says of
    the values that it does not set; both are empty if it says the same.
    """
    said = {
        name: value
        for name, value in values.items()
        if name not in _UNSAID and (value or None) != (stored.properties.get(name) or None)
    }
    remark = not_changed(f"{', '.join(said)} of {_shown(stored)}", stored.trust, trust)
    own = {"is_reversed": stored.properties.get("is_reversed"), **values}
    if old := stored.text("relationship_type"):
        new = new_types(old, values.get("relationship_type") or "")
        own["relationship_type"] = ", ".join(new) or old
    told = with_properties(replace(stored, properties={}), own)
    text = lost_statement(stored, told, ontology)
    if not text and said.get("when") and isinstance(told, RelationshipRecord):
        text = f"{told.triplet}."
    if not said:
        return "", ""
    return text, f"{remark}. A note keeps what the call says" if text else remark


def _shown(record: Record) -> str:
    name = record.triplet if isinstance(record, RelationshipRecord) else record.text("name")
    return shorten_name(name)
