"""What the graph of one user really holds, whatever the ontology says, kept for a short time."""

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
"""Labels, and relationship types, that are looked at; those of the ontology first."""

AT_ONCE = 4
"""Statements under way at once."""

DEFAULT_LIMITS = LiveSchemaLimits()


class LiveSchemaReader:
    """Reads what a user's graph holds: labels, relationship types, and their properties.

    Nodes without any label are seen only at the ends of relationships. For use from one event loop.
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
        """Read from a store.

        Args:
            store: the database.
            ontology: its labels have an index on user_id, and it says what is hidden.
            lifetime: seconds that what was read may be used again; 0 reads anew each time.
            users: users whose schema is kept; the one unused for longest makes room.
            timeout: seconds that a statement may take on the server; what takes longer is left out.
            limits: how much is looked at.
            clock: gives seconds.
        """
        self._store = store
        self._ontology = ontology
        self._lifetime = lifetime
        self._users = users
        self._timeout = timeout
        self._limits = limits
        self._clock = clock
        self._kept: OrderedDict[str, tuple[float, LiveSchema]] = OrderedDict()

    async def read(self, user_id: str, *, fresh: bool = False) -> LiveSchema:
        """What the user's graph holds.

        Args:
            user_id: whose graph.
            fresh: whether it is read anew, even if it was read a moment ago.

        Raises:
            InputError: the user id is empty.
            StoreError: the database failed.
        """
        if not user_id:
            raise InputError("user_id must not be empty: a schema is one user's")
        begun = self._clock()
        read_at, schema = self._kept.get(user_id, (begun, None))
        if schema is None or fresh or begun - read_at >= self._lifetime:
            schema = await self._read(user_id)
            self._kept[user_id] = (begun, schema)
        if user_id in self._kept:
            self._kept.move_to_end(user_id)
        while len(self._kept) > self._users:
            self._kept.popitem(last=False)
        return schema

    async def _read(self, user_id: str) -> LiveSchema:
        [names] = await self._store.read(statement("live_names"), {}, timeout=self._timeout)
        # Deleted relationships are kept in nodes of a label of their own, which is nothing that the user has.
        told = (label for label in names["labels"] if label != DELETED_RELATIONSHIP)
        wanted_labels = _quotable(told, first=self._ontology.labels)
        wanted_types = _quotable(names["types"], first=self._ontology.relationships)
        reading = LiveReading(self._store, self._ontology, self._limits, user_id, self._timeout)
        labels = await bounded_map(reading.label, wanted_labels[:MAX_NAMES], limit=AT_ONCE)
        owned = [label.name for label in labels if label is not None]
        read_type = partial(reading.relationship_type, labels=owned)
        types = await bounded_map(read_type, wanted_types[:MAX_NAMES], limit=AT_ONCE)
        return LiveSchema(
            labels=tuple(sorted(filter(None, labels), key=_by_frequency)),
            relationship_types=tuple(sorted(filter(None, types), key=_by_frequency)),
            is_partial=reading.gave_up or max(len(wanted_labels), len(wanted_types)) > MAX_NAMES,
        )


def _quotable(names: Iterable[str], *, first: Iterable[str]) -> list[str]:
    """The names that can stand in a statement, those that the ontology knows before others."""
    known = set(first)
    return sorted(filter(Identifier.can_be, names), key=lambda name: (name not in known, name))


def _by_frequency(part: LiveLabel | LiveRelationshipType) -> tuple[int, str]:
    return -part.count, part.name
