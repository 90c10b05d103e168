"""The nodes that the database finds for references, and which of them a reference means."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from kgagent.formatting import beginning
from kgagent.graph.pair_state import End
from kgagent.graph.reference_forms import ReferenceForms, name_and_label
from kgagent.graph.store import Row
from kgagent.names import normalised_name, shorten_name
from kgagent.ontology import Ontology
from kgagent.turns import in_turns

MAX_DESCRIPTION = 60


@dataclass(frozen=True, kw_only=True)
class ReferencedNode(End):
    """A node that a reference may mean.

    Attributes:
        labels: all of its labels.
        description: the first 200 characters of it.
        aliases: its other names.
    """

    labels: frozenset[str]
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
        """The node in a list, such as "Ruth Calder (Person, 5b0c1a2f): Naval architect in
        Bergen".
        """
        description = beginning(self.description, MAX_DESCRIPTION)
        shown = f"{shorten_name(self.name)} ({self.label}, {short_key})"
        return f"{shown}: {description}" if description else shown


class NodeLookup:
    """What the database returned for the references of one call; it answers as often as asked,
    without a statement.

    Attributes:
        loose: for each unknown name that was compared loosely, the node that it means, if only one.
        nearest: for each unknown reference that was compared with similar names, the nodes that
            have them, as listed.
    """

    def __init__(self, ontology: Ontology) -> None:
        self.loose: dict[str, ReferencedNode | None] = {}
        self.nearest: dict[str, Sequence[str]] = {}
        self._ontology = ontology
        self._owners: list[Row] = []
        self._by_key: dict[str, Row] = {}
        self._by_prefix: dict[str, list[Row]] = {}
        self._by_name: dict[str, Row] = {}
        self._by_plain_name: dict[str, Row] = {}

    def add(self, row: Row) -> None:
        """Add what `resolve_references.cypher` found."""
        self._owners += row["owners"]
        for item in row["by_prefix"]:
            self._by_prefix.setdefault(item["prefix"], []).append(item["node"])
        self._by_name |= {item["name"]: item for item in row["by_name"]}
        self._by_plain_name |= {item["plain"]: item for item in row["scanned"]}
        named = [
            node
            for item in (*row["by_name"], *row["scanned"])
            for node in (*item["nodes"], *item["called"])
        ]
        nodes = (
            *row["by_key"],
            *row["owners"],
            *(item["node"] for item in row["by_prefix"]),
            *named,
        )
        self._by_key |= {node["entity_key"]: node for node in nodes}

    def is_cut(self, forms: ReferenceForms) -> bool:
        """Whether the index has so many matches for a name that its node may not be among those
        examined.
        """
        item = self._by_name.get(forms.name)
        return item is not None and item["is_cut"] and not item["nodes"] and not item["called"]

    def owners(self, labels: Collection[str] | None = None) -> list[ReferencedNode]:
        """The nodes that stand for the user, if they were asked for."""
        return self._read(self._owners, labels)

    def node(self, key: str, labels: Collection[str] | None = None) -> ReferencedNode | None:
        """The node with a key, if it is among those that were found."""
        return next(
            iter(self._read([self._by_key[key]] if key in self._by_key else (), labels)), None
        )

    def ends(self) -> dict[str, End]:
        """All nodes that were found, by their keys, as ends of relationships."""
        nodes = [*self._read(self._by_key.values(), None), *filter(None, self.loose.values())]
        return {node.entity_key: node for node in nodes}

    async def candidates(
        self, references: Iterable[str], labels: Collection[str] | None = None
    ) -> dict[str, tuple[ReferencedNode, ...]]:
        """All nodes that each reference may mean, at most 11; a node with exactly that key is the
        only one.
        """
        asked = list(dict.fromkeys(references))
        return dict(
            zip(
                asked,
                await in_turns(lambda text: self._candidates(text, labels), asked),
                strict=True,
            )
        )

    def _candidates(
        self, reference: str, labels: Collection[str] | None
    ) -> tuple[ReferencedNode, ...]:
        forms = ReferenceForms.of(reference)
        meant = [] if forms is None else self._meant_by(forms, labels)
        if not meant and (part := name_and_label(reference)) is not None:
            name, label = part
            inner = ReferenceForms.of(name)
            meant = [] if inner is None else self._meant_by(inner, labels)
            return tuple(node for node in meant if node.label == label)
        return tuple(meant)

    def _meant_by(
        self, forms: ReferenceForms, labels: Collection[str] | None
    ) -> list[ReferencedNode]:
        """The nodes that a reference may mean, in the order of the ontology's labels and of their
        keys.
        """
        key, *inner_keys = forms.keys
        if (keyed := self.node(key, labels)) is not None:
            return [keyed]
        if forms.is_owner and (owners := self.owners(labels)):
            return owners
        named = [
            node
            for node in self._with_name(forms, "nodes", labels)
            if normalised_name(node.name) == forms.name
        ]
        meant = {
            node.entity_key: node
            for node in (*named, *self._read(self._by_prefix.get(key, ()), labels))
        }
        if not meant:
            for inner in inner_keys:
                keyed = self.node(inner, labels)
                nodes = (
                    self._read(self._by_prefix.get(inner, ()), labels) if keyed is None else [keyed]
                )
                meant |= {node.entity_key: node for node in nodes}
        return sorted(meant.values(), key=in_order) or self._called(forms, labels)

    def _called(
        self, forms: ReferenceForms, labels: Collection[str] | None
    ) -> list[ReferencedNode]:
        """The nodes with another name that a reference is."""
        nodes = self._with_name(forms, "called", labels)
        return sorted((node for node in nodes if node.has_alias(forms.written)), key=in_order)

    def _with_name(
        self, forms: ReferenceForms, part: str, labels: Collection[str] | None
    ) -> list[ReferencedNode]:
        """The nodes of which the name (`nodes`) or another name (`called`) is that of a reference
        without accents.
        """
        item = self._by_plain_name.get(forms.plain) or self._by_name.get(forms.name)
        return [] if item is None else self._read(item[part], labels)

    def _read(self, rows: Iterable[Row], labels: Collection[str] | None) -> list[ReferencedNode]:
        return list(read_nodes(rows, self._ontology, labels))


def read_nodes(
    rows: Iterable[Row], ontology: Ontology, wanted: Collection[str] | None
) -> Iterable[ReferencedNode]:
    """The nodes of rows that have one of the wanted labels; a node that was deleted meanwhile has
    no key.
    """
    for row in rows:
        labels = frozenset(row["labels"])
        known = labels & ontology.labels.keys() & (labels if wanted is None else frozenset(wanted))
        if known and row["entity_key"]:
            yield ReferencedNode(
                element_id=row["element_id"],
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
