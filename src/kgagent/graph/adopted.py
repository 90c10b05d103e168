"""What kgagent added to a record of another program, and can prove to have written.

Such a record has a ledger: the names of the properties that kgagent wrote, each with a fingerprint
of the value that it wrote last. All else is the other program's, whatever its name.
"""

import hashlib
from array import array
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal

from neo4j.time import DateTime

from kgagent.errors import InputError
from kgagent.graph.property_names import ADOPTED, ADOPTED_HASHES, FIRST_SAID, HEARD_ON
from kgagent.ontology import Ontology

Writer = Literal["adoption", "tool"]

NOT_REPLACED = frozenset({"history", "updated_at", HEARD_ON, *FIRST_SAID})
"""What a write keeps beside its content, unless another program has a property of that name."""


def fingerprint(name: str, value: Any, writer: Writer = "adoption") -> str:  # noqa: ANN401
    """A fingerprint of a property, the same before it is written and when it is read."""
    if isinstance(value, DateTime):
        value = value.to_native()
    if isinstance(value, datetime):
        text = str(value.astimezone(UTC)).encode()
    elif isinstance(value, array | list) and value and isinstance(value[0], float):
        text = array("f", value).tobytes()
    else:
        text = repr(value).encode(errors="surrogatepass")
    return hashlib.sha256(f"{writer}\n{name}\n".encode() + text).hexdigest()[:16]


def written_by(writer: Writer, properties: Mapping[str, Any]) -> set[str]:
    """The names of the properties that still are as this writer left them."""
    return {
        name
        for name, known in _ledger(properties).items()
        if fingerprint(name, properties.get(name), writer) == known
    }


def written_by_kgagent(properties: Mapping[str, Any]) -> set[str]:
    """The names of the properties that still are as kgagent left them."""
    return written_by("adoption", properties) | written_by("tool", properties)


def is_foreign(stored: Mapping[str, Any], ontology: Ontology) -> bool:
    """Whether another program wrote a record: it was adopted, or is new in an adopted graph,
    without what every write of kgagent sets.
    """
    is_new = not {"user_id", "version"} <= stored.keys()
    return ADOPTED in stored or (ontology.adopted_for is not None and is_new)


def without_others(before: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Changes of the content of a record, without those of properties that another program wrote.

    Args:
        before: its properties.
        changes: those that are set; None removes one.

    Raises:
        InputError: the content to change is the other program's.
    """
    theirs = before.keys() - written_by_kgagent(before)
    kept = {name for name in changes.keys() & theirs if changes[name] != before[name]}
    if refused := sorted(kept - NOT_REPLACED):
        raise InputError(
            f"{refused[0]} of {before.get('name') or 'this record'} was written by another "
            f"program, and kgagent does not change it. Say it in another field, such as "
            f"{'description' if refused[0] == 'notes' else 'notes'}"
        )
    return {name: value for name, value in changes.items() if name not in kept}


def ledger(
    before: Mapping[str, Any], changes: Mapping[str, Any], writer: Writer = "tool"
) -> dict[str, list[str]]:
    """The properties to write with all changes of a record: which ones kgagent has written."""
    known = _ledger(before)
    theirs = before.keys() - written_by_kgagent(before)
    for name, value in changes.items():
        if name not in theirs and value != before.get(name):
            known[name] = fingerprint(name, value, writer)
    return {ADOPTED: list(known), ADOPTED_HASHES: list(known.values())}


def _ledger(properties: Mapping[str, Any]) -> dict[str, str]:
    """The fingerprint of each property that kgagent wrote."""
    return dict(zip(properties.get(ADOPTED, ()), properties.get(ADOPTED_HASHES, ()), strict=False))
