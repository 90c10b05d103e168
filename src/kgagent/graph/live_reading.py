"""Reading the labels and types of a user's graph with statements whose cost does not grow with the graph."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from kgagent.errors import StatementTimeoutError
from kgagent.graph.identifiers import Identifier
from kgagent.graph.live_properties import read_properties
from kgagent.graph.property_names import INTERNAL_PROPERTIES
from kgagent.graph.statements import statement
from kgagent.graph.store import Row, Store
from kgagent.models.live_schema import LabelPair, LiveLabel, LiveProperty, LiveRelationshipType
from kgagent.ontology import Ontology


@dataclass(frozen=True, kw_only=True)
class LiveSchemaLimits:
    """How much is read at most; the names are those of the statements' parameters.

    Attributes:
        count_limit: nodes of a label that are counted.
        names_limit: nodes of a label whose property names are read.
        scan_limit: relationships of a type that are scanned.
        values_limit: nodes of a label, and relationships of a type, whose values are read.
        texts_limit: different texts of a property with examples.
        text_limit: characters of an example.
        json_limit: characters of a text that is parsed as JSON.
    """

    count_limit: int = 100_000
    names_limit: int = 10_000
    scan_limit: int = 10_000
    values_limit: int = 300
    texts_limit: int = 20
    text_limit: int = 60
    json_limit: int = 10_000


class LiveReading:
    """Reads a user's labels and types, one by one.

    Attributes:
        gave_up: whether a statement timed out, so that the result may be incomplete.
    """

    def __init__(
        self, store: Store, ontology: Ontology, limits: LiveSchemaLimits, user_id: str, timeout: float
    ) -> None:
        self._store = store
        self._ontology = ontology
        self._limits = limits
        self._hidden = INTERNAL_PROPERTIES | ontology.hidden_properties
        self._parameters = {"user_id": user_id, "hidden": sorted(self._hidden), **asdict(limits)}
        self._timeout = timeout
        self.gave_up = False

    async def label(self, name: str) -> LiveLabel | None:
        """Read a label; None if the user has no such node.

        Raises:
            StoreError: the database failed.
        """
        rows = await self._rows("live_label", {"label": Identifier(name)})
        count = sum(row["count"] for row in rows)
        if not count:
            return None
        return LiveLabel(
            name=name,
            count=min(count, self._limits.count_limit),
            is_lower_bound=count > self._limits.count_limit,
            sampled=count > self._limits.names_limit,
            properties=await self._properties("live_node_values", rows),
        )

    async def relationship_type(self, name: str, labels: Sequence[str]) -> LiveRelationshipType | None:
        """Read a relationship type; None if the user has no such relationship.

        The first relationships of the type are scanned, of all users. If there are more and most of those belong to
        other users, the relationships at the user's nodes are scanned instead.

        Args:
            name: the type.
            labels: all labels of the user's nodes.

        Raises:
            StoreError: the database failed.
        """
        rows = await self._rows("live_type", {"types": Identifier(name)})
        foreign = _count(row for row in rows if row["pair"] is None)
        rows = [row for row in rows if row["pair"] is not None]
        sampled = _count(rows) + foreign >= self._limits.scan_limit
        if sampled and foreign > _count(rows):
            at_nodes, is_cut = await self._from_nodes(name, labels)
            if _count(at_nodes) >= _count(rows):
                rows, sampled = at_nodes, is_cut
        if not rows:
            return None
        return LiveRelationshipType(
            name=name,
            count=_count(rows),
            is_lower_bound=sampled,
            sampled=sampled,
            pairs=_pairs(rows),
            properties=await self._properties("live_relationship_values", rows),
        )

    async def _from_nodes(self, name: str, labels: Sequence[str]) -> tuple[list[Row], bool]:
        """Read the relationships that start at nodes of these labels, and whether there may be more.

        Labels without an index are read separately, since one of them would disable the indexes of the others.
        """
        indexed = [label for label in labels if label in self._ontology.labels]
        others = [label for label in labels if label not in self._ontology.labels]
        found: list[Row] = []
        is_cut = False
        for some, excluded in ((indexed, []), (others, indexed)):
            if some:
                places = {"types": Identifier(name), "labels": Identifier.any_of(some)}
                rows = await self._rows("live_type_from_nodes", places, excluded=excluded)
                is_cut |= _count(rows) >= self._limits.scan_limit
                found += rows
        return found, is_cut or self.gave_up

    async def _properties(self, values: str, rows: Sequence[Row]) -> tuple[LiveProperty, ...]:
        each = max(1, self._limits.values_limit // len(rows))
        element_ids = [element_id for row in rows for element_id in row["element_ids"][:each]]
        names = {name for row in rows for name in row["names"]}
        found = await self._rows(values, {}, element_ids=element_ids[: self._limits.values_limit])
        return read_properties(names, found, hidden=self._hidden, most_texts=self._limits.texts_limit)

    async def _rows(self, name: str, places: Mapping[str, Identifier], **more: object) -> list[Row]:
        text = statement(name, **places)
        try:
            return await self._store.read(text, {**self._parameters, **more}, timeout=self._timeout)
        except StatementTimeoutError:
            self.gave_up = True
            return []


def _count(rows: Iterable[Row]) -> int:
    return sum(row["count"] for row in rows)


def _pairs(rows: Iterable[Row]) -> tuple[LabelPair, ...]:
    counts: Counter[tuple[str, str]] = Counter()
    for row in rows:
        starts, ends = ([label for label in labels if Identifier.can_be(label)] for labels in row["pair"])
        for start in starts:
            counts.update({(start, end): row["count"] for end in ends})
    pairs = (LabelPair(from_label=start, to_label=end, count=count) for (start, end), count in counts.items())
    return tuple(sorted(pairs, key=lambda pair: (-pair.count, pair.from_label, pair.to_label)))
