"""The labels, types and properties that one user's graph really has, cached for a short time.

One statement a label reads its nodes and the relationships that start at them, up to limits that
keep its cost bounded.
"""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import TypeVar

from kgagent.bounded_map import bounded_map
from kgagent.errors import StatementTimeoutError
from kgagent.graph.identifiers import Identifier
from kgagent.graph.property_names import INTERNAL_PROPERTIES
from kgagent.graph.schema_parts import OWN_LABELS
from kgagent.graph.statements import statement
from kgagent.graph.store import Row, Store
from kgagent.models.live_schema import (
    LabelPair,
    LiveLabel,
    LiveProperty,
    LiveRelationshipType,
    LiveSchema,
    ValueKind,
)
from kgagent.ontology import Ontology
from kgagent.validation import check_user_id

MAX_LABELS = 500
"""Maximum number of labels that are read; those of the ontology come first."""

MAX_CONCURRENT = 4
"""Maximum number of concurrent statements."""

MAX_EXAMPLES = 5
VOCABULARY = "relationship_type"
"""The property whose texts are always given as examples: the free types of relationships."""

MAX_WORDS = 20
"""Maximum number of examples of the vocabulary."""

_KEY = "entity_key"
_KINDS = (
    ("STRING", ValueKind.TEXT),
    ("JSON", ValueKind.JSON),
    ("INTEGER", ValueKind.NUMBER),
    ("FLOAT", ValueKind.NUMBER),
    ("BOOLEAN", ValueKind.BOOLEAN),
    ("LIST", ValueKind.LIST),
    *((name, ValueKind.DATE_TIME) for name in ("DATE", "ZONED", "LOCAL", "DURATION")),
)


@dataclass(frozen=True, kw_only=True)
class LiveSchemaLimits:
    """How much is read at most; the names are those of the statement's parameters.

    Attributes:
        count_limit: nodes of a label, and relationships that start at them, that are counted.
        names_limit: nodes or relationships whose property names are read.
        values_limit: nodes of a label, and relationships of a type between two labels, whose values
            are read.
        texts_limit: different texts of a property with examples.
        text_limit: characters of an example.
    """

    count_limit: int = 100_000
    names_limit: int = 10_000
    values_limit: int = 300
    texts_limit: int = 20
    text_limit: int = 60


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
        timeout: float = 5.0,
        limits: LiveSchemaLimits = DEFAULT_LIMITS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare.

        Args:
            store: the database.
            ontology: its labels are read first, and it names hidden properties.
            lifetime: how long a schema is cached, in seconds; 0 disables the cache.
            timeout: maximum time of a statement on the server, in seconds; the result omits what
                takes longer.
            limits: how much is read.
            clock: returns seconds.
        """
        self._store = store
        self._ontology = ontology
        self._lifetime = lifetime
        self._timeout = timeout
        self._limits = limits
        self._hidden = INTERNAL_PROPERTIES | ontology.hidden_properties
        self._clock = clock
        self._cache: dict[str, tuple[float, LiveSchema]] = {}

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
        self._cache = {
            user: cached
            for user, cached in self._cache.items()
            if begun - cached[0] < self._lifetime
        }
        if fresh or user_id not in self._cache:
            self._cache[user_id] = (begun, await self._read(user_id))
        return self._cache[user_id][1]

    def forget(self, user_id: str) -> None:
        """Remove the schema of a user from the cache; it has examples of stored texts."""
        self._cache.pop(user_id, None)

    async def _read(self, user_id: str) -> LiveSchema:
        [row] = await self._store.read(statement("live_labels"), {}, timeout=self._timeout)
        stored = filter(Identifier.can_be, {*row["labels"]} - OWN_LABELS)
        names = sorted(stored, key=lambda name: (name not in self._ontology.labels, name))
        parameters = {"user_id": user_id, "hidden": sorted(self._hidden), **asdict(self._limits)}

        async def read_label(name: str) -> Row | None:
            try:
                text = statement("live_label", label=Identifier(name))
                [of_label] = await self._store.read(text, parameters, timeout=self._timeout)
            except StatementTimeoutError:
                return None
            return of_label

        rows = await bounded_map(read_label, names[:MAX_LABELS], limit=MAX_CONCURRENT)
        rows_by_label = {
            name: row
            for name, row in zip(names, rows, strict=False)
            if row is not None and row["count"]
        }
        most = self._limits.count_limit
        is_cut = any(
            max(row["count"], _count(row["relationships"])) > most for row in rows_by_label.values()
        )
        return LiveSchema(
            labels=tuple(
                sorted((self._label(*item) for item in rows_by_label.items()), key=_by_frequency)
            ),
            relationship_types=tuple(
                sorted(self._types(rows_by_label, is_cut=is_cut), key=_by_frequency)
            ),
            is_partial=is_cut or None in rows or len(names) > MAX_LABELS,
        )

    def _label(self, name: str, row: Row) -> LiveLabel:
        return LiveLabel(
            name=name,
            count=min(row["count"], self._limits.count_limit),
            is_lower_bound=row["count"] > self._limits.count_limit,
            sampled=row["count"] > self._limits.names_limit,
            properties=self._properties([row]),
        )

    def _types(
        self, rows_by_label: Mapping[str, Row], *, is_cut: bool
    ) -> Iterable[LiveRelationshipType]:
        rows_by_type: defaultdict[str, list[Row]] = defaultdict(list)
        pairs: defaultdict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
        counts: Counter[str] = Counter()
        for label, row in rows_by_label.items():
            for of_type in row["relationships"]:
                name = of_type["type"]
                rows_by_type[name].append(of_type)
                ends = filter(Identifier.can_be, of_type["ends"])
                pairs[name].update({(label, end): of_type["count"] for end in ends})
                # A relationship is read once for each label of its start.
                if label == next(start for start in of_type["starts"] if start in rows_by_label):
                    counts[name] += of_type["count"]
        for name in filter(Identifier.can_be, rows_by_type):
            ordered = sorted(pairs[name].items(), key=lambda pair: (-pair[1], pair[0]))
            yield LiveRelationshipType(
                name=name,
                count=counts[name],
                is_lower_bound=is_cut,
                sampled=is_cut
                or any(row["count"] > self._limits.names_limit for row in rows_by_type[name]),
                pairs=tuple(
                    LabelPair(from_label=start, to_label=end, count=n)
                    for (start, end), n in ordered
                ),
                properties=self._properties(rows_by_type[name]),
            )

    def _properties(self, rows: Iterable[Row]) -> tuple[LiveProperty, ...]:
        """Summarize the properties in rows with those of `_live_properties.cypher`."""
        values: defaultdict[str, _Values] = defaultdict(_Values)
        for row in rows:
            for name in row["names"]:
                if (
                    name not in self._hidden
                    and not name.lower().endswith("embedding")
                    and Identifier.can_be(name)
                ):
                    _ = values[name]
            for item in row["values"]:
                if item["name"] in values:
                    values[item["name"]].add(item["kind"], item["times"], item["texts"])
        return tuple(
            values[name].to_model(name, self._limits.texts_limit) for name in sorted(values)
        )


def _by_frequency(part: LiveLabel | LiveRelationshipType) -> tuple[int, str]:
    return -part.count, part.name


def _count(rows: Iterable[Row]) -> int:
    return sum(row["count"] for row in rows)


class _Values:
    """The values of a property."""

    def __init__(self) -> None:
        self._kinds: Counter[ValueKind] = Counter()
        self._texts: Counter[str] = Counter()
        self._is_free = False

    def add(self, value_type: str, times: int, texts: Iterable[tuple[str | None, int]]) -> None:
        kind = next((kind for name, kind in _KINDS if value_type.startswith(name)), ValueKind.OTHER)
        self._kinds[kind] += times
        for text, count in texts if kind in {ValueKind.TEXT, ValueKind.JSON} else ():
            if text is None:
                self._is_free = True
            else:
                self._texts[text] += count

    def to_model(self, name: str, most_texts: int) -> LiveProperty:
        texts = _most_frequent(self._texts)
        if name == VOCABULARY:
            examples = texts[:MAX_WORDS]
        else:
            examples = texts[:MAX_EXAMPLES] if name != _KEY and self._is_choice(most_texts) else []
        return LiveProperty(
            name=name, kinds=tuple(_most_frequent(self._kinds)), examples=tuple(examples)
        )

    def _is_choice(self, most_texts: int) -> bool:
        """Whether its texts look like a choice among few: short, and either very few or often
        repeated.
        """
        if self._is_free or len(self._texts) > most_texts:
            return False
        return len(self._texts) <= MAX_EXAMPLES or self._texts.total() >= 2 * len(self._texts)


NameT = TypeVar("NameT", bound=str)


def _most_frequent(counts: Counter[NameT]) -> list[NameT]:
    return sorted(counts, key=lambda name: (-counts[name], name))
