"""The nodes that the database finds for references, and which of them a reference means."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kgagent.formatting import beginning
from kgagent.graph.reference_forms import ReferenceForms, normalised_name
from kgagent.graph.store import Row
from kgagent.ontology import Ontology
from kgagent.suggestions import shorten_name

MAX_DESCRIPTION = 60


@dataclass(frozen=True)
class ReferencedNode:
    """A node that a reference may mean.

    Attributes:
        labels: all of its labels.
        description: the first 200 characters of it.
        aliases: its other names.
    """

    entity_key: str
    label: str
    labels: frozenset[str]
    name: str
    description: str
    aliases: tuple[str, ...] = ()

    def is_named(self, name: str) -> bool:
        """Whether a text is its name."""
        return normalised_name(name) == normalised_name(self.name)

    def is_called(self, name: str) -> bool:
        """Whether a text is its name, or one of its other names."""
        return normalised_name(name) in map(normalised_name, (self.name, *self.aliases))

    def has_alias(self, name: str) -> bool:
        """Whether a text is one of its other names."""
        return normalised_name(name) in map(normalised_name, self.aliases)

    def listed(self, short_key: str) -> str:
        """The node in a list, such as "Ruth Calder (Person, 5b0c1a2f): Naval architect in Bergen"."""
        description = beginning(self.description, MAX_DESCRIPTION)
        shown = f"{shorten_name(self.name)} ({self.label}, {short_key})"
        return f"{shown}: {description}" if description else shown


class FoundNodes:
    """What the database found for the references of one call."""

    def __init__(
        self,
        row: Row,
        named: Mapping[str, Sequence[Row]],
        ontology: Ontology,
        labels: frozenset[str] | None,
    ) -> None:
        self.owners = list(read_nodes(row["owners"], ontology, labels))
        self._by_key = {node.entity_key: node for node in read_nodes(row["by_key"], ontology, labels)}
        self._by_prefix: dict[str, list[ReferencedNode]] = {}
        for item in row["by_prefix"]:
            self._by_prefix.setdefault(item["prefix"], []).extend(read_nodes([item["node"]], ontology, labels))
        self._named = {folded: list(read_nodes(nodes, ontology, labels)) for folded, nodes in named.items()}

    def meant_by(self, forms: ReferenceForms) -> list[ReferencedNode]:
        """The nodes that a reference may mean, in the order of the ontology's labels and of their keys."""
        if forms.key in self._by_key:
            return [self._by_key[forms.key]]
        if forms.is_owner and self.owners:
            return self.owners
        named = [node for node in self._named.get(forms.folded, ()) if normalised_name(node.name) == forms.name]
        meant = {node.entity_key: node for node in (*named, *self._by_prefix.get(forms.key, ()))}
        if not meant and forms.inner_key is not None:
            inner = self._by_key.get(forms.inner_key)
            nodes = self._by_prefix.get(forms.inner_key, ()) if inner is None else (inner,)
            meant = {node.entity_key: node for node in nodes}
        return sorted(meant.values(), key=in_order)


def read_nodes(rows: Iterable[Row], ontology: Ontology, wanted: frozenset[str] | None) -> Iterable[ReferencedNode]:
    """The nodes of rows that have one of the wanted labels; a node that was deleted meanwhile has no key."""
    for row in rows:
        labels = frozenset(row["labels"])
        known = labels & ontology.labels.keys() & (labels if wanted is None else wanted)
        if known and row["entity_key"]:
            yield ReferencedNode(
                entity_key=row["entity_key"],
                label=min(known, key=lambda label: ontology.label_order[label]),
                labels=labels,
                name=row["name"] or "",
                description=row["description"] or "",
                aliases=tuple(row["aliases"]),
            )


def in_order(node: ReferencedNode) -> tuple[str, str]:
    """Sorts nodes by label, then by key."""
    return node.label, node.entity_key
