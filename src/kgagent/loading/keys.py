"""The key of a node in a file: the same at every load, so that loading twice makes nothing twice."""

import uuid
from datetime import UTC, datetime

from kgagent.errors import InputError
from kgagent.loading.lines import NodeLine
from kgagent.ontology import Ontology

_NAMESPACE = uuid.UUID("6f0d4f3c-7f0b-4b8e-9d1e-2f5a1c7f3b60")


def node_key(line: NodeLine, text: str, *, user_id: str, ontology: Ontology) -> str:
    """Take the key that a line gives, or derive one.

    A label whose rule is deterministic has its key from the rule; a `created_at` that the rule asks for and the line
    lacks counts as empty. Any other has a UUID of the user and the line's `id`, or of the user and the whole line.

    Args:
        line: the line.
        text: as it stands in the file.
        user_id: whose graph it goes into.
        ontology: gives the rules.

    Raises:
        InputError: the ontology has no such label, or the time is none that UTC has.
    """
    rule = ontology.label(line.label)
    if line.entity_key is not None:
        return line.entity_key
    if rule.is_deterministic:
        created_at = _in_utc(line.created_at) if line.created_at else ""
        return rule.entity_key(
            name=line.name, description=line.description or "", user_id=user_id, created_at=created_at
        )
    kind, identity = ("line", text) if line.id is None else ("id", line.id)
    return str(uuid.uuid5(_NAMESPACE, f"{user_id}\n{kind}\n{identity}"))


def _in_utc(moment: datetime) -> str:
    try:
        return moment.astimezone(UTC).isoformat()
    except OverflowError:
        raise InputError(f"created_at is out of range, got {moment}") from None
