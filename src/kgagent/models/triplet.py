"""A relationship as a short sentence."""

from collections.abc import Mapping
from typing import Any


def humanize_relation_type(relation_type: str) -> str:
    """A type as words: WORKS_FOR is "works for"."""
    return relation_type.lower().replace("_", " ")


def display_name(properties: Mapping[str, Any] | None, key: str | None, element_id: str = "") -> str:
    """What a node is called: its name where that is text, else its key, else the database's id."""
    name = (properties or {}).get("name")
    return name if isinstance(name, str) and name else key or element_id


def triplet_text(source: str, relation_type: str, target: str, *, label: str = "") -> str:
    """Tell a relationship: "Elon Musk founded Tesla".

    Args:
        source: what the node is called that it is told from.
        relation_type: its type in the database.
        target: what the other node is called.
        label: a word or words of its own, which then stand in place of the type; written with underscores, they
            are read as a type.
    """
    said = humanize_relation_type(label) if "_" in label else label
    return f"{source} {said or humanize_relation_type(relation_type)} {target}"
