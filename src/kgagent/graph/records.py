"""Nodes and relationships as they are stored, and as models for callers."""

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from neo4j.time import Date, DateTime, Duration, Time
from neo4j.vector import Vector
from pydantic import JsonValue

from kgagent.errors import InputError
from kgagent.graph.property_names import (
    INTERNAL_PROPERTIES,
    LEVEL_FIELDS,
    RECORD_OWNER,
    TIMES,
    TRUST,
)
from kgagent.models import GraphNode, GraphRelationship, Note
from kgagent.models.history import HistoryEntry, last_stated, parse_history, said_of_type
from kgagent.models.note import as_utc, format_utc, notes_text_at, parse_notes
from kgagent.models.plain import aliases_in, display_name, triplet_text
from kgagent.models.when import OPEN_START, first_day, periods_of
from kgagent.names import other_spelling
from kgagent.ontology import Ontology
from kgagent.trust import Trust, read_trust, stored_trust

MIN_VECTOR_LENGTH = 32
"""Numbers in a list that is taken for an embedding."""

PARALLEL = "#"
"""Begins the keys of relationships besides the first one of a type between two nodes; see
`RelationshipRecord.is_parallel`.
"""

_NODE_FIELDS = frozenset({"entity_key", "name", "description", "notes"})
_RELATIONSHIP_FIELDS = frozenset(
    {"relationship_type", "description", "attitude", "proximity", "when", "notes"}
)


@dataclass(frozen=True, kw_only=True)
class Record:
    """A node or a relationship as it is stored, without its vectors.

    Attributes:
        vector_property: the property that holds the embedding.
        element_id: the database's id, which it may reuse later.
        vector_length: length of the stored embedding; None if there is none, and for what a search
            found.
        has_old_embeddings: whether it has an embedding property that kgagent no longer uses.
    """

    vector_property: str = "embedding"
    element_id: str
    vector_length: int | None
    properties: Mapping[str, Any]
    has_old_embeddings: bool = False

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """The notes, including expired ones."""
        return parse_notes(self.properties.get("notes"))

    @cached_property
    def history(self) -> tuple[HistoryEntry, ...]:
        """Earlier values, the oldest first."""
        return parse_history(self.properties.get("history"))

    def notes_text(self, now: datetime) -> str | None:
        """The text of the notes for full-text search, without expired ones; None if it is empty."""
        return notes_text_at(self.notes, now) or None

    @property
    def created(self) -> datetime | None:
        """When it was created; None if that is not known."""
        with suppress(ValueError):
            return as_utc(datetime.fromisoformat(str(_time(self.properties.get("created_at")))))
        return None

    @property
    def known_since(self) -> int:
        """The day on which it was first said, or else created, such as 20230204; 0 if neither is
        known.
        """
        times = (self.text("said_on"), _time(self.properties.get("created_at")))
        return next(filter(None, map(first_day, times)), OPEN_START)

    @property
    def said_of(self) -> dict[str, str]:
        """When its type, its description and its levels were last said, in EDTF, as far as that is
        known.
        """
        stated = last_stated(self.properties, self.history)
        return {name: one.said_on for one, names in stated.items() for name in names if one.said_on}

    @property
    def last_said(self) -> str | None:
        """When something of it was last said, in EDTF; None if that is not known."""
        said = [self.text("said_on"), *(one.said_on or "" for one in self.history)]
        said += [note.said_on or "" for note in self.notes]
        return max(filter(periods_of, said), key=periods_of, default=None)

    @property
    def stated_times(self) -> tuple[str, ...]:
        """When what it states by itself held or was said, in EDTF: of a node, its description."""
        return tuple(day for name, day in self.said_of.items() if name == "description")

    def text(self, field: str) -> str:
        """A text property; empty if it is missing."""
        return as_text(self.properties.get(field))

    @property
    def trust(self) -> Trust:
        """The class of its words, which its notes do not have."""
        return read_trust(self.properties.get(TRUST))

    def level(self, field: str) -> int | None:
        """Attitude or proximity; None if it is missing or not an integer."""
        value = self.properties.get(field)
        return (
            int(value)
            if isinstance(value, int | float) and math.isfinite(value) and int(value) == value
            else None
        )


@dataclass(frozen=True, kw_only=True)
class NodeRecord(Record):
    """A node as it is stored."""

    label: str

    @classmethod
    def read(
        cls, row: Mapping[str, Any], ontology: Ontology, *, labels: Sequence[str] | None = None
    ) -> "NodeRecord":
        """Read a row of `_node.cypher`; of several labels, one of `labels` is preferred."""
        return cls(
            element_id=row["element_id"],
            label=ontology_label(
                [label for label in row["labels"] if label in (labels or ())] or row["labels"],
                ontology,
            ),
            vector_property=ontology.node_embedding,
            vector_length=row.get("vector_length"),
            properties={
                key: value for key, value in row["properties"].items() if value is not None
            },
        )

    @property
    def entity_key(self) -> str:
        """The node's key."""
        return self.text("entity_key")

    def notes_text(self, now: datetime) -> str | None:
        """Its other names, names without accents, and the text of its notes."""
        aliases = aliases_in(self.properties)
        plain = (other_spelling(name) for name in (self.text("name"), *aliases))
        return " ".join(filter(None, (*aliases, *plain, super().notes_text(now)))) or None

    def to_model(self, ontology: Ontology) -> GraphNode:
        """The node as callers see it."""
        return GraphNode(
            entity_key=self.entity_key,
            label=self.label,
            name=self.text("name"),
            description=self.text("description"),
            notes=self.notes,
            trust=stored_trust(self.trust),
            owner=self.properties.get(RECORD_OWNER),
            said_of=self.said_of,
            properties=visible(
                self.properties, _NODE_FIELDS | INTERNAL_PROPERTIES | ontology.hidden_properties
            ),
        )


@dataclass(frozen=True, kw_only=True)
class RelationshipRecord(Record):
    """A relationship as it is stored.

    Attributes:
        from_element_id: element id of the start node; set for a new or restored relationship if
            that node is stored.
        to_element_id: element id of the end node, likewise.
        from_labels: labels of the start node; set while a search ranks, otherwise empty.
        to_labels: labels of the end node, likewise.
    """

    vector_property: str = "relationship_embedding"
    neo4j_type: str
    from_entity_key: str
    to_entity_key: str
    from_name: str
    to_name: str
    from_element_id: str = ""
    to_element_id: str = ""
    from_labels: tuple[str, ...] = ()
    to_labels: tuple[str, ...] = ()

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> "RelationshipRecord":
        """Read a row of `_relationship.cypher` or of one of the shorter fragments that searches
        use.
        """
        return cls(
            element_id=row["element_id"],
            neo4j_type=row["neo4j_type"],
            from_entity_key=row["from_entity_key"],
            to_entity_key=row["to_entity_key"],
            from_name=as_text(row["from_name"]),
            to_name=as_text(row["to_name"]),
            vector_length=row.get("vector_length"),
            has_old_embeddings=row.get("has_old_embeddings", False),
            from_labels=tuple(row.get("from_labels", ())),
            to_labels=tuple(row.get("to_labels", ())),
            properties={
                key: value for key, value in row["properties"].items() if value is not None
            },
        )

    def known_level(self, ontology: Ontology, field: str) -> int | None:
        """Attitude or proximity, which old graphs also store as words or as text; None if it is
        neither.
        """
        value = self.properties.get(field)
        if not isinstance(value, str):
            return self.level(field)
        try:
            return ontology.level(self.neo4j_type, field, value.strip() or None)
        except InputError:
            return None

    def to_model(self, ontology: Ontology, *, asked_from: str | None = None) -> GraphRelationship:
        """The relationship as callers see it.

        Args:
            ontology: the words, and which properties are hidden.
            asked_from: key of the end that the caller named first; None for the direction of the
                relationship.
        """
        (from_key, from_name), (to_key, to_name) = self._ends(asked_from)
        [(source_key, _), _] = self._ends(None)
        attitude, proximity = (self.known_level(ontology, field) for field in LEVEL_FIELDS)
        return GraphRelationship(
            from_entity_key=from_key,
            to_entity_key=to_key,
            from_name=from_name,
            to_name=to_name,
            neo4j_type=self.neo4j_type,
            relationship_type=self.text("relationship_type"),
            description=self.text("description"),
            attitude=attitude,
            proximity=proximity,
            attitude_word=ontology.level_words.get(
                (self.neo4j_type, "attitude", attitude or 0), ""
            ),
            proximity_word=ontology.level_words.get(
                (self.neo4j_type, "proximity", proximity or 0), ""
            ),
            when=self.text("when") or None,
            said_on=said_of_type(self.properties, self.history),
            said_of=self.said_of,
            last_said=self.last_said,
            notes=self.notes,
            trust=stored_trust(self.trust),
            owner=self.properties.get(RECORD_OWNER),
            properties=visible(
                self.properties,
                _RELATIONSHIP_FIELDS | INTERNAL_PROPERTIES | ontology.hidden_properties,
            ),
            ends_reversed=from_key != source_key,
            relationship_id=None if self.key == self.key_of_pair else self.id,
        )

    @property
    def pair(self) -> frozenset[str]:
        """The keys of its two nodes."""
        return frozenset((self.from_entity_key, self.to_entity_key))

    @property
    def dated(self) -> str | None:
        """When it held, or else when it was first said, in EDTF; None if neither is known."""
        times = (self.text("when"), self.text("said_on"))
        return next((time for time in times if periods_of(time)), None)

    @property
    def stated_times(self) -> tuple[str, ...]:
        """When it held, or else when it and its parts were said, in EDTF."""
        if periods_of(self.text("when")):
            return (self.text("when"),)
        said = (self.text("said_on"), *self.said_of.values())
        return tuple(day for day in dict.fromkeys(said) if periods_of(day))

    @property
    def key(self) -> str:
        """What tells it apart: the stored key or, without one, its type, its nodes and the id of
        the database.
        """
        suffix = f"#{self.element_id}" if self.element_id else ""
        return self.text("relationship_key") or self.key_of_pair + suffix

    @property
    def key_of_pair(self) -> str:
        """The key of the one relationship of its type between its nodes that the tools create."""
        return relationship_key(self.neo4j_type, self.from_entity_key, self.to_entity_key)

    @property
    def id(self) -> str:
        """A short form of its key, by which callers choose one of several."""
        return hashlib.sha256(self.key.encode()).hexdigest()[:8]

    @property
    def start(self) -> str:
        """The key of the node where it starts."""
        return next(iter(self.ends_in_direction))

    @property
    def is_parallel(self) -> bool:
        """Whether it is one of several adopted relationships of its type between two nodes, but not
        the first.
        """
        return self.text("relationship_key").startswith(PARALLEL)

    @property
    def triplet(self) -> str:
        """The relationship as a short sentence in its direction."""
        source, target = (display_name({"name": name}, key) for key, name in self._ends(None))
        return triplet_text(source, self.neo4j_type, target, label=self.text("relationship_type"))

    @property
    def ends_in_direction(self) -> dict[str, tuple[str, ...]]:
        """Keys of both ends in the direction of the relationship, each with the labels of the node
        as far as known.
        """
        labels = {self.from_entity_key: self.from_labels, self.to_entity_key: self.to_labels}
        return {key: labels[key] for key, _ in self._ends(None)}

    def _ends(self, asked_from: str | None) -> tuple[tuple[str, str], tuple[str, str]]:
        """Key and name of both ends, the first end first; see `to_model`."""
        start, end = (self.from_entity_key, self.from_name), (self.to_entity_key, self.to_name)
        first, second = (end, start) if self.properties.get("is_reversed") else (start, end)
        return (first, second) if asked_from in {None, first[0]} else (second, first)


def relationship_key(neo4j_type: str, one: str, other: str) -> str:
    """The unique key of a relationship between two nodes, by their keys: the same from either end,
    with a length that separates the ends.
    """
    first, second = sorted((one, other))
    return f"{neo4j_type}:{len(first)}:{first}:{second}"


def ontology_label(labels: Sequence[str], ontology: Ontology) -> str:
    """The label of a node in the ontology; of several, the first in its order."""
    return min(
        (label for label in labels if label in ontology.labels),
        key=lambda label: ontology.label_order[label],
    )


def as_text(value: object) -> str:
    """A value that should be text; empty if it is not."""
    return value if isinstance(value, str) else ""


def visible(properties: Mapping[str, Any], hidden: Iterable[str]) -> dict[str, JsonValue]:
    """The properties of a record that callers may see, as JSON types; no embeddings, whatever their
    names.
    """
    return {
        key: _time(value) if key in TIMES else plain(value)
        for key, value in sorted(properties.items())
        if key not in hidden and not key.lower().endswith("embedding") and not _is_vector(value)
    }


def _is_vector(value: object) -> bool:
    if isinstance(value, Vector):
        return True
    return (
        isinstance(value, list)
        and len(value) >= MIN_VECTOR_LENGTH
        and {type(item) for item in value} <= {int, float}
    )


def _time(value: object) -> JsonValue:
    """A time in one form, whether it was stored as a time or as text; other values are
    unchanged.
    """
    moment = value
    with suppress(ValueError):
        if isinstance(value, DateTime):
            moment = value.to_native()
        elif isinstance(value, str):
            # The database appends the name of a time zone in brackets.
            moment = datetime.fromisoformat(value.partition("[")[0])
        if isinstance(moment, datetime) and moment.tzinfo is not None:
            return format_utc(moment)
    return plain(value)


def plain(value: object) -> JsonValue:
    """Convert a value of the database to a JSON type."""
    if (
        value is None
        or isinstance(value, str | bool | int)
        or (isinstance(value, float) and math.isfinite(value))
    ):
        return value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, DateTime | Date | Time | Duration):
        return value.iso_format()
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    return str(value)
