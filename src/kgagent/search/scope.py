"""What all searches share: an observer, and for each statement the database, the user and
comparable embeddings.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import datetime
from functools import cached_property, wraps
from typing import Any, Self, TypeVar, cast

from kgagent.embedding.base import Embedder
from kgagent.errors import InputError
from kgagent.graph.identifiers import Identifier
from kgagent.graph.record_saver import with_properties
from kgagent.graph.records import NodeRecord, Record, RelationshipRecord
from kgagent.graph.statement_index import days_of
from kgagent.graph.statements import Filling, Statement, statement
from kgagent.graph.store import Row, Store
from kgagent.models import Note
from kgagent.models.free_types import type_names
from kgagent.models.graph import DescribedItem, GraphNode
from kgagent.models.history import dump_history, is_valid, known_on, values_on
from kgagent.models.note import oldest_first, utc_now
from kgagent.models.search import SearchFilters
from kgagent.models.when import OPEN_END, Period, day_of_question, overlaps, period_of, periods_of
from kgagent.names import normalised_type
from kgagent.ontology import Ontology
from kgagent.operations import Search
from kgagent.search.arguments import known_types
from kgagent.trust import Trust, level
from kgagent.validation import check_user_id

SHORTEST_TIMEOUT = 0.01
"""Seconds that a step may take if no time is left."""

ItemT = TypeVar("ItemT", bound=DescribedItem)
RecordT = TypeVar("RecordT", bound=Record)
ResultT = TypeVar("ResultT")
MethodT = TypeVar("MethodT", bound=Callable[..., Coroutine[Any, Any, Any]])


def observed(name: str) -> Callable[[MethodT], MethodT]:
    """Decorate a search method, so that the `observer` of its object watches it under a name."""

    def wrap(method: MethodT) -> MethodT:
        @wraps(method)
        async def watched(self: Any, /, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - of any method
            with self.observer.watch(Search(name)):
                return await method(self, *args, **kwargs)

        return cast("MethodT", watched)

    return wrap


@dataclass(frozen=True)
class SearchScope:
    """Runs the statements of searches with the parameters that all of them take.

    Attributes:
        store: the database.
        ontology: labels and relationship types that are searched.
        model: embedding model; vectors of another model are not compared.
        dimensions: length of its vectors.
        timeout: seconds that one statement may take on the server.
        places: fills the places of statements over all labels and types.
        user_id: owner of the records; empty until a search binds it.
        clock: returns the time, with time zone.
    """

    store: Store
    ontology: Ontology
    model: str
    dimensions: int
    timeout: float
    places: Mapping[str, Filling]
    user_id: str = ""
    clock: Callable[[], datetime] = utc_now

    @classmethod
    def over(
        cls,
        store: Store,
        ontology: Ontology,
        embedder: Embedder,
        *,
        timeout: float,
        clock: Callable[[], datetime] = utc_now,
    ) -> Self:
        """The scope of all searches of a graph, without a user."""
        labels, types = (
            Identifier.any_of(ontology.labels),
            Identifier.any_of(ontology.relationships),
        )
        places = {"labels": labels, "types": types}
        return cls(
            store, ontology, embedder.model, embedder.dimensions, timeout, places, clock=clock
        )

    def of(self, user_id: str) -> Self:
        """Bind a user.

        Raises:
            InputError: the user id is invalid.
            ConfigurationError: the caller is on another event loop than the graph.
        """
        check_user_id(user_id)
        self.store.origin.check()
        return replace(self, user_id=user_id)

    @property
    def owners(self) -> Sequence[str]:
        """Whose records are read; the user is the first."""
        return self.store.owners(self.user_id)

    async def read(
        self,
        text: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
    ) -> list[Row]:
        """Run a statement with `parameters`, and with the `user_id`, `model` and `dimensions` of
        this scope.

        Raises:
            StatementTimeoutError: it took longer than `timeout` seconds, or than `SHORTEST_TIMEOUT`
                if none are left.
            StoreError: the database failed.
        """
        common = {"user_id": self.user_id, "model": self.model, "dimensions": self.dimensions}
        seconds = self.timeout if timeout is None else max(timeout, SHORTEST_TIMEOUT)
        return await self.store.read(text, {**(parameters or {}), **common}, timeout=seconds)

    async def read_as(
        self,
        make: Callable[[list[Row]], ResultT],
        text: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
    ) -> ResultT:
        """Run a statement as `read` does, and make something of its rows.

        That runs in a thread: many rows, or notes, take a while, during which other users' calls go
        on.
        """
        return await asyncio.to_thread(make, await self.read(text, parameters, timeout=timeout))

    def statement(self, name: str) -> Statement:
        """A statement over all labels and relationship types of the ontology."""
        return statement(name, **self.places)

    def labels(self, labels: Sequence[str] | None) -> list[str]:
        """Check labels against the ontology; all of them if None.

        Raises:
            InputError: a label is unknown, or the list is empty.
        """
        if labels is None:
            return list(self.ontology.labels)
        if not labels:
            raise InputError(
                f"No label was given; omit labels, or choose among "
                f"{', '.join(self.ontology.labels)}"
            )
        for label in labels:
            self.ontology.label(label)
        return list(dict.fromkeys(labels))


@dataclass(frozen=True)
class RelationshipFilter:
    """Which relationships a search keeps.

    Attributes:
        relationship_types: free types ("mentor"); None keeps all.
        neo4j_types: types in the database, in the order of the ontology; None keeps all.
        labels: an end has one of them; None keeps all.
        as_of: relationships are valid on one of these days at least, and notes do not begin after
            them; None keeps all.
        known_as_of: only what was known on one of these days; None keeps all.
        between: relationships and notes that are dated, on one of these days at least; None keeps
            all.
        min_attitude, max_attitude, min_proximity, max_proximity: levels, 1 to 5; None keeps all.
        sources: False leaves out the passages of sources.
        min_trust: class that statements have at least; None keeps all.
        now: notes that have expired by then are not kept.
    """

    relationship_types: tuple[str, ...] | None = None
    neo4j_types: tuple[str, ...] | None = None
    labels: tuple[str, ...] | None = None
    as_of: Period | None = None
    known_as_of: Period | None = None
    between: Period | None = None
    min_attitude: int | None = None
    max_attitude: int | None = None
    min_proximity: int | None = None
    max_proximity: int | None = None
    sources: bool | None = None
    min_trust: Trust | None = None
    now: datetime = field(default_factory=utc_now)

    @classmethod
    def of(cls, scope: SearchScope, filters: SearchFilters) -> Self:
        """The relationships that the filters of a search keep.

        Raises:
            InputError: a Neo4j type or a label is unknown.
        """
        given = {name: getattr(filters, name) for name in _FILTERS}
        if filters.neo4j_types is not None:
            given["neo4j_types"] = tuple(known_types(scope.ontology, filters.neo4j_types))
        if filters.labels is not None:
            given["labels"] = tuple(scope.labels(filters.labels))
        for name in ("as_of", "known_as_of", "between"):
            given[name] = None if given[name] is None else period_of(given[name])
        return cls(**given, now=scope.clock())

    @property
    def day(self) -> int:
        """The day on which the question judges what is past."""
        return day_of_question(self.as_of, self.now)

    @property
    def is_of_other_time(self) -> bool:
        """Whether records are put together as they were, or as they were known, at another time."""
        return self.as_of is not None or self.known_as_of is not None

    @property
    def has_conditions(self) -> bool:
        """Whether it has conditions that no vector index has; indexes have the free type, the
        owner, the days and the trust.
        """
        in_indexes = {"relationship_types", "between", "min_trust"}
        return any(getattr(self, name) is not None for name in _FILTERS - in_indexes)

    def identifier(self, ontology: Ontology) -> Identifier:
        """The Neo4j types to keep, as statements name them."""
        return Identifier.any_of(
            ontology.relationships if self.neo4j_types is None else self.neo4j_types
        )

    @cached_property
    def parameters(self) -> Mapping[str, Any]:
        """The filter as statements take it: `filter`, and the free types for the index that has
        them.
        """
        periods = {
            "as_of": self.as_of,
            "known_as_of": self.known_as_of,
            "between": self.between,
        }
        days = {
            name: None if period is None else period._asdict() for name, period in periods.items()
        }
        last = min(
            (period.latest for period in (self.as_of, self.between) if period is not None),
            default=OPEN_END,
        )
        bounds = {
            "first_day": -1 if self.between is None else self.between.earliest,
            "last_day": last,
            "min_trust": None if self.min_trust is None else level(self.min_trust),
        }
        return {
            "filter": {
                **asdict(self),
                **days,
                **bounds,
                "day": self.day,
                "is_of_other_time": self.is_of_other_time,
            },
            # Of another time, a relationship may have another type than the index.
            "relationship_types": None if self.is_of_other_time else self.relationship_types,
        }

    def keeps_note(self, note: Note) -> bool:
        """Whether a note has not expired, is trusted, is not later than `as_of`, and is dated
        within `between`.
        """
        if not note.is_current(self.now) or not self.trusts(note):
            return False
        periods = periods_of(note.when)
        if not periods:
            return self.between is None
        begun = [
            period
            for period in periods
            if self.as_of is None or period.earliest <= self.as_of.latest
        ]
        return bool(begun) and (self.between is None or overlaps(begun, self.between))

    def began_between(self, when: str | None) -> bool:
        """Whether something with a time began on one of the days of `between`, not before."""
        days = self.between
        return days is not None and any(
            days.earliest <= period.earliest <= days.latest for period in periods_of(when)
        )

    def trusts(self, item: Note | Record | DescribedItem) -> bool:
        """Whether a note, or the words of a record, have the class that is asked for."""
        return self.min_trust is None or level(item.trust) >= level(self.min_trust)

    def keeps_node(self, node: NodeRecord | GraphNode) -> bool:
        """Whether a node may be found by itself: without a time of its own, it is `between` by the
        day of its description or its notes, and it is trusted by its words or its notes.
        """
        said_on, days = node.said_of.get("description"), self.between
        is_dated = days is None or overlaps(periods_of(said_on), days)
        return (is_dated and self.trusts(node)) or any(map(self.keeps_note, node.notes))

    def on_day(self, record: RecordT) -> RecordT | None:
        """A record as it was at the end of `as_of`, as far as that was known by `known_as_of`; None
        if that one is not kept.

        The conditions of statements keep all that it keeps, and what has a history.
        """
        if not self.is_of_other_time:
            return record
        if self.known_as_of is not None:
            day = self.known_as_of.latest
            if record.known_since > day:
                return None
            known = known_on(record.properties, record.history, record.notes, day)
            record = with_properties(record, known)
        if self.as_of is not None:
            last = self.as_of.latest
            if values := values_on(record.properties, record.history, last):
                history = dump_history(one for one in record.history if (one.end or last) <= last)
                record = with_properties(record, {**values, "history": history})
        if not self.trusts(record) and not any(map(self.keeps_note, record.notes)):
            return None
        if not isinstance(record, RelationshipRecord):
            return record
        record = with_properties(record, days_of([record.dated]))
        return record if self._keeps(record) else None

    def _keeps(self, record: RelationshipRecord) -> bool:
        """Whether a relationship is valid then, with a type and levels that are kept."""
        if self.as_of is not None and not is_valid(record.properties, self.as_of):
            return False
        types = record.text("relationship_type")
        if self.relationship_types is not None:
            listed = {normalised_type(types), *type_names(types)}
            if listed.isdisjoint(map(normalised_type, self.relationship_types)):
                return False
        return all(
            (least is None and most is None)
            or (level is not None and (least or level) <= level <= (most or level))
            for level, least, most in (
                (record.level("attitude"), self.min_attitude, self.max_attitude),
                (record.level("proximity"), self.min_proximity, self.max_proximity),
            )
        )

    def without_other_notes(self, item: ItemT) -> ItemT:
        """A result with the notes that the filter keeps, and without a description that it does not
        trust.
        """
        if self.as_of is None and self.between is None and self.min_trust is None:
            return item
        update: dict[str, Any] = {"notes": tuple(filter(self.keeps_note, item.notes))}
        if not self.trusts(item):
            update["description"] = ""
        if self.as_of is not None and not update["notes"]:
            dated = [
                note for note in oldest_first(item.notes) if note.when and note.is_current(self.now)
            ]
            update["first_noted"] = dated[0].when if dated else None
        return item.model_copy(update=update)


EVERY = RelationshipFilter()
"""Keeps all relationships."""

_FILTERS = {one.name for one in fields(RelationshipFilter)} - {"now"}
"""What the filters of a search and a `RelationshipFilter` have in common."""


def check_text(text: str) -> None:
    """Check a text to search for.

    Raises:
        InputError: it is empty, or contains an unpaired surrogate, which UTF-8 cannot encode.
    """
    if not text.strip():
        raise InputError("text must not be empty")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError(
            "the text contains an unpaired surrogate, which is not a character; remove it"
        ) from None
