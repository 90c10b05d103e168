"""What conversions of other programs' files have in common: lines to load, and the labels of
nodes.
"""

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from kgagent.errors import InputError
from kgagent.ontology import Ontology

SNIFFED = 10_000
"""Characters of a table that tell its delimiter."""

Fields = Mapping[str, Any]
Converted = tuple[str, Fields | InputError]
"""The place of an item in its file, and the line to load, or why there is none."""


@dataclass(frozen=True)
class Target:
    """The graph that converted lines are for.

    Attributes:
        ontology: its labels and relationship types.
        user_id: owner of the graph.
        owners: names of the nodes that stand for the user (`is_owner`), by `entity_key`.
        label: label of nodes whose type is no label of the ontology; None makes them errors.
        columns: what the columns of an ordinary table are; None proposes it in an error.
        max_notes: most notes of a node.
        remarks: filled with what to say of a file as a whole, by its path.
    """

    ontology: Ontology
    user_id: str
    owners: Mapping[str, str] = field(default_factory=dict)
    label: str | None = None
    columns: str | None = None
    max_notes: int = 1_000
    remarks: dict[Path, str] = field(default_factory=dict)

    @property
    def owner(self) -> tuple[str, str] | None:
        """Key and name of the node that stands for the user; None if there is none."""
        return next(iter(self.owners.items()), None)

    def label_fields(self, types: Sequence[str]) -> tuple[str, Fields]:
        """The label of a node, and the property that keeps those of its types that are no labels.

        Raises:
            InputError: none of the types is a label, and no other label was chosen.
        """
        labels = {label.casefold(): label for label in self.ontology.labels}
        label = next(
            (labels[name.casefold()] for name in types if name.casefold() in labels), self.label
        )
        if label is None:
            given = (
                f"the type {', '.join(types)} is no label"
                if types
                else "the file gives no label for it"
            )
            raise InputError(
                f"{given}; choose one with `label` (--label): {', '.join(self.ontology.labels)}"
            )
        others = [name for name in types if name.casefold() not in labels]
        return label, {"entity_type": ", ".join(others)} if others else {}


def node_line(
    target: Target,
    node_id: str,
    name: object,
    types: Sequence[str],
    *,
    properties: Mapping[str, object] = MappingProxyType({}),
    **more: object,
) -> Fields:
    """A line with a node; what is None or empty is omitted.

    Raises:
        InputError: it has no label.
    """
    label, kept = target.label_fields(types)
    kept = {**kept, **filled(properties)}
    return {
        "kind": "node",
        "label": label,
        "id": node_id,
        **filled({"name": name, **more, "properties": kept}),
    }


def relationship_line(
    start: object, end: object, relationship_type: object, **more: object
) -> Fields:
    """A line with a relationship; what is None or empty is omitted."""
    given = {"from": start, "to": end, "relationship_type": relationship_type, **more}
    return {"kind": "relationship", **filled(given)}


def spaced(name: object) -> object:
    """A name with spaces, of one that has underscores instead: "Ada_Berg" becomes "Ada Berg"."""
    return name.replace("_", " ").strip() if isinstance(name, str) and " " not in name else name


def type_words(name: object) -> object:
    """The words of a relationship type: "WORKS_AT" and "works_at" become "works at"."""
    return spaced(name.lower() if isinstance(name, str) and name.isupper() else name)


def texts(values: object) -> list[str]:
    """The texts of a list that are not blank; a text alone is the only one."""
    listed: Iterable[object] = values if isinstance(values, list) else [values]
    return [text for text in listed if isinstance(text, str) and text.strip()]


def filled(fields: Mapping[str, object]) -> dict[str, object]:
    """The fields that are neither None nor empty."""
    return {name: value for name, value in fields.items() if value not in (None, "", [], {})}


def decoded(content: bytes) -> tuple[str, str]:
    """The text of a file, and what to say if it is not UTF-8."""
    try:
        return content.decode("utf-8-sig"), ""
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace"), "is not UTF-8, so read as Windows-1252"


def delimiter_of(text: str) -> str | None:
    """The delimiter of a table; None if its header has none."""
    header = text.partition("\n")[0]
    possible = "".join(one for one in ",;\t|" if one in header)
    try:
        return csv.Sniffer().sniff(text[:SNIFFED], possible).delimiter if possible else None
    except csv.Error:
        return max(possible, key=header.count)
