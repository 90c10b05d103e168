"""Other names of a node: its names before it was renamed, those of nodes merged into it, and those
that were given.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from kgagent.errors import InputError
from kgagent.graph.records import NodeRecord
from kgagent.models.plain import aliases_in
from kgagent.names import normalised_name

ALIASES = "aliases"
"""The property that holds them, a list of texts as they were written."""

MAX_ALIASES = 20
"""Other names that a node keeps; of more, the oldest are dropped."""


def changed_aliases(
    node: NodeRecord,
    *,
    values: Mapping[str, Any],
    added: Iterable[str] = (),
    former: Iterable[str] = (),
) -> dict[str, Any]:
    """The property to write if a node gets a new name or other names; empty if they stay as they
    are.

    Args:
        node: the node as it is stored, or a new one.
        values: properties that are set; a new name makes the old one another name, and `aliases`
            None removes all.
        added: names that were given for it.
        former: names of a node that is merged into it.

    Raises:
        InputError: more names were given than a node may have.
    """
    given = list(added)
    if len(given) > MAX_ALIASES:
        raise InputError(f"A node may have at most {MAX_ALIASES} aliases, got {len(given)}")
    old = node.text("name")
    is_cleared = ALIASES in values
    stored = () if is_cleared else aliases_in(node.properties)
    renamed = [old] if values.get("name") and not is_cleared else []
    new = [name for name in (*renamed, *former, *given) if name]
    if not new:
        return {}
    names: dict[str, str] = {}
    for alias in (*stored, *new):
        names.setdefault(normalised_name(alias), alias)
    names.pop(normalised_name(values.get("name") or old), None)
    return {ALIASES: list(names.values())[-MAX_ALIASES:] or None}
