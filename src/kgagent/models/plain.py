"""Names of nodes, triplets, and JSON values without those that are empty."""

from collections.abc import Mapping
from typing import Any

from kgagent.ontology.model import as_words


def humanize_relation_type(relation_type: str) -> str:
    """A type as words: WORKS_FOR is "works for"."""
    return as_words(relation_type)


def display_name(
    properties: Mapping[str, Any] | None, key: str | None, element_id: str = ""
) -> str:
    """The name of a node if it is text, else its key, else its element id."""
    name = (properties or {}).get("name")
    return name if isinstance(name, str) and name else key or element_id


def aliases_in(properties: Mapping[str, Any]) -> tuple[str, ...]:
    """The other names among the properties of a node, the newest last; another program's property
    may be none.
    """
    stored = properties.get("aliases")
    return (
        tuple(name for name in stored if isinstance(name, str)) if isinstance(stored, list) else ()
    )


def triplet_text(source: str, relation_type: str, target: str, *, label: str = "") -> str:
    """A relationship as a short sentence in one line, "Elon Musk founded Tesla", with its label or
    else its type.
    """
    words = humanize_relation_type(label) if "_" in label else label
    return " ".join(f"{source} {words or humanize_relation_type(relation_type)} {target}".split())


def without_empty(value: Any) -> Any:  # noqa: ANN401
    """Omit None, empty texts, empty lists and empty mappings inside of mappings."""
    if isinstance(value, Mapping):
        kept = {key: without_empty(item) for key, item in value.items()}
        return {key: item for key, item in kept.items() if item not in (None, "", [], {})}
    if isinstance(value, list | tuple):
        return [without_empty(item) for item in value]
    return value
