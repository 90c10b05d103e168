"""Nodes and relationships as short texts."""

from collections.abc import Mapping
from typing import Any


def humanize_relation_type(relation_type: str) -> str:
    """A type as words: WORKS_FOR is "works for"."""
    return relation_type.lower().replace("_", " ")


def display_name(properties: Mapping[str, Any] | None, key: str | None, element_id: str = "") -> str:
    """The name of a node if it is text, else its key, else its element id."""
    name = (properties or {}).get("name")
    return name if isinstance(name, str) and name else key or element_id


def triplet_text(source: str, relation_type: str, target: str, *, label: str = "") -> str:
    """A relationship as a short sentence in one line, "Elon Musk founded Tesla", with its label or else its type."""
    words = humanize_relation_type(label) if "_" in label else label
    return " ".join(f"{source} {words or humanize_relation_type(relation_type)} {target}".split())
