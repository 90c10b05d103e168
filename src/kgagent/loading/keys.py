"""The key of a node in a file: the same at every load, so that loading twice makes nothing twice."""

import uuid

from kgagent.loading.lines import NodeLine
from kgagent.ontology import Ontology

_NAMESPACE = uuid.UUID("6f0d4f3c-7f0b-4b8e-9d1e-2f5a1c7f3b60")


def node_key(line: NodeLine, text: str, *, user_id: str, ontology: Ontology) -> str:
    """Take the key that a line gives, or derive one.

    A label whose rule is deterministic has its key from the rule, unless the rule asks for a `created_at` that the line
    lacks. Any other has a UUID of the user and the line's `id`, or of the user and the whole line.

    Args:
        line: the line.
        text: as it stands in the file.
        user_id: whose graph it goes into.
        ontology: gives the rules.

    Raises:
        InputError: the ontology has no such label.
    """
    rule = ontology.label(line.label)
    if line.entity_key is not None:
        return line.entity_key
    if rule.is_deterministic and (line.created_at or not rule.key_includes_time):
        created_at = line.created_at.isoformat() if line.created_at else ""
        return rule.entity_key(
            name=line.name, description=line.description or "", user_id=user_id, created_at=created_at
        )
    kind, identity = ("line", text) if line.id is None else ("id", line.id)
    return str(uuid.uuid5(_NAMESPACE, f"{user_id}\n{kind}\n{identity}"))
