"""Keys of new nodes, derived from the plain form of the name, so that spellings which look alike give one node."""

from kgagent.ontology import NodeLabel
from kgagent.plain_names import plain_name


def keys_by_spelling(
    rule: NodeLabel, *, name: str, description: str, user_id: str, created_at: str, idempotency_key: str | None
) -> tuple[str, str | None]:
    """The key of a new node, and the key that earlier versions and load files derive from the name as it is written.

    Args:
        rule: the rule of its label.
        name: its name.
        description: its description.
        user_id: its owner.
        created_at: ISO 8601 time.
        idempotency_key: see `NodeLabel.entity_key`.

    Returns:
        Both keys; the second is None if it is the same, as for most names.
    """

    def key_of(spelling: str) -> str:
        return rule.entity_key(
            name=spelling,
            description=description,
            user_id=user_id,
            created_at=created_at,
            idempotency_key=idempotency_key,
        )

    plain = plain_name(name)
    key = key_of(plain)
    if not rule.key_includes_name or plain.lower() == name.lower():
        return key, None
    return key, key_of(name)
