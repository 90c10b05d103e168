"""Keys of nodes in files; they are the same at every load, so that loading a file again creates nothing twice."""

import uuid

from kgagent.files.load_lines import NodeLine
from kgagent.ontology import Ontology
from kgagent.plain_names import plain_name

_NAMESPACE = uuid.UUID("6f0d4f3c-7f0b-4b8e-9d1e-2f5a1c7f3b60")


def node_key(line: NodeLine, text: str, *, user_id: str, ontology: Ontology) -> str:
    """Return the key that a line specifies, or derive one.

    A label with a deterministic rule has the key of the rule, as the tools derive it, unless the rule needs a
    `created_at` that the line lacks. Otherwise the key is a UUID of the user and the line's `id` or, without `id`, of
    the user and the whole line.

    Args:
        line: the parsed line.
        text: the text of the line.
        user_id: owner of the graph.
        ontology: provides the rules.

    Raises:
        InputError: the ontology has no such label.
    """
    rule = ontology.label(line.label)
    if line.entity_key is not None:
        return line.entity_key
    if rule.is_deterministic and (line.created_at or not rule.key_includes_time):
        created_at = line.created_at.isoformat() if line.created_at else ""
        return rule.entity_key(
            name=plain_name(line.name), description=line.description or "", user_id=user_id, created_at=created_at
        )
    kind, identity = ("line", text) if line.id is None else ("id", line.id)
    return str(uuid.uuid5(_NAMESPACE, f"{user_id}\n{kind}\n{identity}"))
