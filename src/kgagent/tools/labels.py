"""Labels as a model writes them."""

from collections.abc import Sequence
from typing import TypeVar

from kgagent.ontology import Ontology

LabelT = TypeVar("LabelT", str, str | None)


def known_label(ontology: Ontology, label: LabelT) -> LabelT:
    """The label of the ontology that differs from a given one only in letter case; without one, what was given."""
    if label is None or label in ontology.labels:
        return label
    found = [known for known in ontology.labels if known.casefold() == label.casefold()]
    return found[0] if len(found) == 1 else label


def known_labels(ontology: Ontology, labels: Sequence[str] | None) -> tuple[str, ...] | None:
    """Like `known_label`, for each label."""
    return None if labels is None else tuple(known_label(ontology, label) for label in labels)
