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
    """A relationship as a short sentence in one line: "Elon Musk founded Tesla".

    Args:
        source: name of the node where it starts.
        relation_type: its Neo4j type.
        target: name of the node where it ends.
        label: what to write instead of the type; with underscores, it is converted to words like a type.
    """
    words = humanize_relation_type(label) if "_" in label else label
    return " ".join(f"{source} {words or humanize_relation_type(relation_type)} {target}".split())
