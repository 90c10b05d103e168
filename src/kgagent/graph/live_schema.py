"""The labels, types and properties that one user's graph really has, cached for a short time."""

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from functools import partial

from kgagent.concurrency import bounded_map
from kgagent.errors import InputError
from kgagent.graph.identifiers import Identifier
from kgagent.graph.live_reading import LiveReading, LiveSchemaLimits
from kgagent.graph.schema_parts import DELETED_RELATIONSHIP
from kgagent.graph.statements import statement
from kgagent.graph.store import Store
from kgagent.models.live_schema import LiveLabel, LiveRelationshipType, LiveSchema
from kgagent.ontology import Ontology

MAX_NAMES = 500
"""Maximum number of labels, and of relationship types, that are read; those of the ontology come first."""

MAX_CONCURRENT = 4
"""Maximum number of concurrent statements."""

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
        if not user_id:
            raise InputError("user_id must not be empty: a schema is one user's")
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

    async def _read(self, user_id: str) -> LiveSchema:
        [names] = await self._store.read(statement("live_names"), {}, timeout=self._timeout)
        labels_of_users = (label for label in names["labels"] if label != DELETED_RELATIONSHIP)
        wanted_labels = _quotable(labels_of_users, first=self._ontology.labels)
        wanted_types = _quotable(names["types"], first=self._ontology.relationships)
        reading = LiveReading(self._store, self._ontology, self._limits, user_id, self._timeout)
        labels = await bounded_map(reading.label, wanted_labels[:MAX_NAMES], limit=MAX_CONCURRENT)
        owned = [label.name for label in labels if label is not None]
        read_type = partial(reading.relationship_type, labels=owned)
        types = await bounded_map(read_type, wanted_types[:MAX_NAMES], limit=MAX_CONCURRENT)
        return LiveSchema(
            labels=tuple(sorted(filter(None, labels), key=_by_frequency)),
            relationship_types=tuple(sorted(filter(None, types), key=_by_frequency)),
            is_partial=reading.gave_up or max(len(wanted_labels), len(wanted_types)) > MAX_NAMES,
        )


def _quotable(names: Iterable[str], *, first: Iterable[str]) -> list[str]:
    """The names that a statement can contain, those of the ontology first."""
    known = set(first)
    return sorted(filter(Identifier.can_be, names), key=lambda name: (name not in known, name))


def _by_frequency(part: LiveLabel | LiveRelationshipType) -> tuple[int, str]:
    return -part.count, part.name
