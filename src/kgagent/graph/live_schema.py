"""The labels, types and properties that one user's graph really has, cached for a short time.

They are read with statements whose cost does not grow with the graph. The relationships of a user with few nodes are
found from these; otherwise the first relationships of each type are scanned.
"""

import json
import time
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import TypeVar

from kgagent.bounded_map import bounded_map
from kgagent.errors import StatementTimeoutError
from kgagent.graph.identifiers import Identifier
from kgagent.graph.property_names import INTERNAL_PROPERTIES
from kgagent.graph.schema_parts import OWN_LABELS
from kgagent.graph.statements import statement
from kgagent.graph.store import Row, Store
from kgagent.models.live_schema import LabelPair, LiveLabel, LiveProperty, LiveRelationshipType, LiveSchema, ValueKind
from kgagent.ontology import Ontology
from kgagent.validation import check_user_id

MAX_NAMES = 500
"""Maximum number of labels, and of relationship types, that are read; those of the ontology come first."""

MAX_CONCURRENT = 4
"""Maximum number of concurrent statements."""


MAX_EXAMPLES = 5
VOCABULARY = "relationship_type"
"""The property whose texts are always given as examples: the free types of relationships."""

MAX_WORDS = 20
"""Maximum number of examples of the vocabulary."""

_KEY = "entity_key"
_KINDS = (
    ("INTEGER", ValueKind.NUMBER),
    ("FLOAT", ValueKind.NUMBER),
    ("BOOLEAN", ValueKind.BOOLEAN),
    ("LIST", ValueKind.LIST),
    *((name, ValueKind.DATE_TIME) for name in ("DATE", "ZONED", "LOCAL", "DURATION")),
)


@dataclass(frozen=True, kw_only=True)
class LiveSchemaLimits:
    """How much is read at most; the names are those of the statements' parameters.

    Attributes:
        count_limit: nodes of a label that are counted.
        names_limit: nodes of a label whose property names are read.
        scan_limit: relationships of a type that are scanned; more nodes or relationships of a user are many.
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


DEFAULT_LIMITS = LiveSchemaLimits()


class LiveSchemaReader:
    """Reads the labels, the relationship types and their properties of a user's graph.

    Nodes without a label appear only at the ends of relationships. For use from one event loop.
    """

    def __init__(
        self,
        store: Store,
        ontology: Ontology,
        *,
        lifetime: float = 60.0,
        users: int = 100,
        timeout: float = 5.0,
        limits: LiveSchemaLimits = DEFAULT_LIMITS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare.

        Args:
            store: the database.
            ontology: its labels have an index on user_id, and it names hidden properties.
            lifetime: how long a schema is cached, in seconds; 0 disables the cache.
            users: maximum number of users in the cache; the least recently used is removed.
            timeout: maximum time of a statement on the server, in seconds; the result omits what takes longer.
            limits: how much is read.
            clock: returns seconds.
        """
        self._store = store
        self._ontology = ontology
        self._lifetime = lifetime
        self._users = users
        self._timeout = timeout
        self._limits = limits
        self._clock = clock
        self._cache: OrderedDict[str, tuple[float, LiveSchema]] = OrderedDict()

    async def read(self, user_id: str, *, fresh: bool = False) -> LiveSchema:
        """Read the schema of a user's graph.

        Args:
            user_id: owner of the graph.
            fresh: whether to ignore the cache.

        Raises:
            InputError: the user id is empty.
            StoreError: the database failed.
        """
        check_user_id(user_id)
        begun = self._clock()
        read_at, schema = self._cache.get(user_id, (begun, None))
        if schema is None or fresh or begun - read_at >= self._lifetime:
            schema = await self._read(user_id)
            self._cache[user_id] = (begun, schema)
        if user_id in self._cache:
            self._cache.move_to_end(user_id)
        while len(self._cache) > self._users:
            self._cache.popitem(last=False)
        return schema

    def forget(self, user_id: str) -> None:
        """Remove the schema of a user from the cache; it has examples of stored texts."""
        self._cache.pop(user_id, None)

    async def _read(self, user_id: str) -> LiveSchema:
        [names] = await self._store.read(statement("live_names"), {}, timeout=self._timeout)
        labels_of_users = (label for label in names["labels"] if label not in OWN_LABELS)
        wanted_labels = _quotable(labels_of_users, first=self._ontology.labels)
        wanted_types = _quotable(names["types"], first=self._ontology.relationships)
        reading = _SchemaRead(self._store, self._ontology, self._limits, user_id, self._timeout)
        labels = await bounded_map(reading.label, wanted_labels[:MAX_NAMES], limit=MAX_CONCURRENT)
        owned = [label for label in labels if label is not None]
        types = await reading.relationship_types(wanted_types, owned)
        return LiveSchema(
            labels=tuple(sorted(owned, key=_by_frequency)),
            relationship_types=tuple(sorted(types, key=_by_frequency)),
            is_partial=reading.is_partial or len(wanted_labels) > MAX_NAMES,
        )


class _SchemaRead:
    """One read of a user's labels and types.

    Attributes:
        is_partial: whether something was omitted, because a statement timed out or there are too many types.
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
        self.is_partial = False

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

    async def relationship_types(self, names: Sequence[str], labels: Sequence[LiveLabel]) -> list[LiveRelationshipType]:
        """Read the relationship types that the user has.

        Args:
            names: the types of the database.
            labels: all labels of the user's nodes.

        Raises:
            StoreError: the database failed.
        """
        label_names = [label.name for label in labels]
        if sum(label.count for label in labels) <= self._limits.scan_limit:
            rows, is_cut = await self._from_nodes("live_types_at_nodes", {}, label_names)
            if not is_cut:
                by_type: dict[str, list[Row]] = {}
                for row in rows:
                    by_type.setdefault(row["type"], []).append(row)
                found = self._first([name for name in names if name in by_type])
                return await bounded_map(lambda name: self._type(name, by_type[name]), found, limit=MAX_CONCURRENT)
        scan = partial(self._scanned_type, labels=label_names)
        types = await bounded_map(scan, self._first(names), limit=MAX_CONCURRENT)
        return [one for one in types if one is not None]

    def _first(self, types: Sequence[str]) -> Sequence[str]:
        self.is_partial |= len(types) > MAX_NAMES
        return types[:MAX_NAMES]

    async def _scanned_type(self, name: str, labels: Sequence[str]) -> LiveRelationshipType | None:
        """Read a relationship type; None if the user has no such relationship.

        The first relationships of the type are scanned, of all users. If there are more and most of those belong to
        other users, the relationships at the user's nodes are scanned instead.
        """
        rows = await self._rows("live_type", {"types": Identifier(name)})
        foreign = _count(row for row in rows if row["pair"] is None)
        rows = [row for row in rows if row["pair"] is not None]
        sampled = _count(rows) + foreign >= self._limits.scan_limit
        if sampled and foreign > _count(rows):
            at_nodes, is_cut = await self._from_nodes("live_type_from_nodes", {"types": Identifier(name)}, labels)
            if _count(at_nodes) >= _count(rows):
                rows, sampled = at_nodes, is_cut
        return await self._type(name, rows, sampled=sampled) if rows else None

    async def _type(self, name: str, rows: Sequence[Row], *, sampled: bool = False) -> LiveRelationshipType:
        return LiveRelationshipType(
            name=name,
            count=_count(rows),
            is_lower_bound=sampled,
            sampled=sampled,
            pairs=_pairs(rows),
            properties=await self._properties("live_relationship_values", rows),
        )

    async def _from_nodes(
        self, statement_name: str, places: Mapping[str, Identifier], labels: Sequence[str]
    ) -> tuple[list[Row], bool]:
        """Read the relationships at nodes of these labels, and whether there may be more.

        Labels without an index are read separately, since one of them would disable the indexes of the others.
        """
        indexed = [label for label in labels if label in self._ontology.labels]
        others = [label for label in labels if label not in self._ontology.labels]
        found: list[Row] = []
        is_cut = False
        for some, excluded in ((indexed, []), (others, indexed)):
            if some:
                labels_of_part = {"labels": Identifier.any_of(some)}
                rows = await self._rows(statement_name, {**places, **labels_of_part}, excluded=excluded)
                is_cut |= _count(rows) >= self._limits.scan_limit
                found += rows
        return found, is_cut or self.is_partial

    async def _properties(self, values: str, rows: Sequence[Row]) -> tuple[LiveProperty, ...]:
        each = max(1, self._limits.values_limit // len(rows))
        element_ids = [element_id for row in rows for element_id in row["element_ids"][:each]]
        names = {name for row in rows for name in row["names"]}
        found = await self._rows(values, {}, element_ids=element_ids[: self._limits.values_limit])
        return _summarize_properties(names, found, hidden=self._hidden, most_texts=self._limits.texts_limit)

    async def _rows(self, name: str, places: Mapping[str, Identifier], **more: object) -> list[Row]:
        text = statement(name, **places)
        try:
            return await self._store.read(text, {**self._parameters, **more}, timeout=self._timeout)
        except StatementTimeoutError:
            self.is_partial = True
            return []


def _quotable(names: Iterable[str], *, first: Iterable[str]) -> list[str]:
    """The names that a statement can contain, those of the ontology first."""
    known = set(first)
    return sorted(filter(Identifier.can_be, names), key=lambda name: (name not in known, name))


def _by_frequency(part: LiveLabel | LiveRelationshipType) -> tuple[int, str]:
    return -part.count, part.name


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


def _summarize_properties(
    names: Iterable[str], values: Iterable[Row], *, hidden: Collection[str], most_texts: int
) -> tuple[LiveProperty, ...]:
    """Summarize properties.

    Args:
        names: names of all properties.
        values: rows of `_live_values.cypher`.
        hidden: properties to omit, besides embeddings.
        most_texts: maximum number of different texts of a property with examples; the rows hold one more.
    """
    seen: defaultdict[str, _Values] = defaultdict(_Values)
    for name in names:
        if name not in hidden and not name.lower().endswith("embedding") and Identifier.can_be(name):
            _ = seen[name]
    for row in values:
        seen[row["name"]].add(row["kind"], row["times"], row["texts"])
    return tuple(seen[name].to_model(name, most_texts) for name in sorted(seen) if Identifier.can_be(name))


class _Values:
    """The values of a property."""

    def __init__(self) -> None:
        self._kinds: Counter[ValueKind] = Counter()
        self._texts: Counter[str] = Counter()
        self._is_free = False

    def add(self, kind: str, times: int, texts: Iterable[tuple[str | None, int]]) -> None:
        if kind == "JSON":
            # Properties with JSON are rarely a choice among few texts, so they get no examples.
            self._is_free = True
            for text, found in texts:
                self._kinds[ValueKind.JSON if _is_json(text) else ValueKind.TEXT] += found
            return
        self._kinds[_kind(kind)] += times
        for text, found in texts if kind == "STRING" else ():
            if text is None:
                self._is_free = True
            else:
                self._texts[text] += found

    def to_model(self, name: str, most_texts: int) -> LiveProperty:
        texts = _most_frequent(self._texts)
        if name == VOCABULARY:
            examples = texts[:MAX_WORDS]
        else:
            examples = texts[:MAX_EXAMPLES] if name != _KEY and self._is_choice(most_texts) else []
        return LiveProperty(name=name, kinds=tuple(_most_frequent(self._kinds)), examples=tuple(examples))

    def _is_choice(self, most_texts: int) -> bool:
        """Whether its texts look like a choice among few: short, and either very few or often repeated."""
        if self._is_free or len(self._texts) > most_texts:
            return False
        return len(self._texts) <= MAX_EXAMPLES or self._texts.total() >= 2 * len(self._texts)


def _kind(value_type: str) -> ValueKind:
    if value_type == "STRING":
        return ValueKind.TEXT
    return next((kind for name, kind in _KINDS if value_type.startswith(name)), ValueKind.OTHER)


def _is_json(text: str | None) -> bool:
    """Whether a text is a JSON object or list; None stands for a text that is too long to check."""
    try:
        return text is not None and isinstance(json.loads(text), dict | list)
    except (ValueError, RecursionError):
        return False


NameT = TypeVar("NameT", bound=str)


def _most_frequent(counts: Counter[NameT]) -> list[NameT]:
    return sorted(counts, key=lambda name: (-counts[name], name))
