"""Rows of the database and what they are shown as."""

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from neo4j.time import Date, DateTime, Duration, Time
from pydantic import JsonValue

from kgagent.errors import InputError
from kgagent.models import GraphNode, GraphRelationship, Note, RelationshipSearchResult
from kgagent.models.ingestion_state import INGESTION_PROPERTIES
from kgagent.models.note import format_utc, notes_text_at, parse_notes
from kgagent.models.triplet import display_name, triplet_text
from kgagent.ontology import Ontology

OLD_EMBEDDINGS = ("relation_embedding", "notes_embedding", "description_embedding")
OLD_IS_REVERSED = "told_in_reverse"
"""Name of `is_reversed` in graphs written by kgagent 0.x: read as such, and replaced by the first write."""

INTERNAL_PROPERTIES = frozenset(
    {"embedding", "relationship_embedding", *OLD_EMBEDDINGS, "is_reversed", OLD_IS_REVERSED, "notes_text"}
    | INGESTION_PROPERTIES
    | {"embedding_hash", "embedding_model", "version", "write_lock", "relationship_key", "user_id"}
)
LEVEL_FIELDS = ("attitude", "proximity")
TIMES = frozenset({"created_at", "updated_at"})
"""When kgagent wrote something; it says nothing of the graph's subject."""

_NODE_FIELDS = frozenset({"entity_key", "name", "description", "notes"})
_RELATIONSHIP_FIELDS = frozenset({"relationship_type", "description", "attitude", "proximity", "notes"})


@dataclass(frozen=True, kw_only=True)
class Record:
    """A node or a relationship as it is stored, without its vectors.

    Attributes:
        element_id: the database's own id, good for the moment.
        vector_length: length of the stored vector; None where there is none.
    """

    element_id: str
    vector_length: int | None
    properties: Mapping[str, Any]

    @property
    def version(self) -> int:
        """How often the record was written; 0 for one that kgagent never wrote.

        Raises:
            InputError: another program put something else in its place.
        """
        stored = self.properties.get("version")
        if stored is not None and not isinstance(stored, int):
            raise InputError(f"version must be a whole number, got {stored!r}; `kgagent doctor` lists such records")
        return stored or 0

    @property
    def has_old_properties(self) -> bool:
        """Whether the next write removes or renames properties of an old graph."""
        return False

    @property
    def notes(self) -> tuple[Note, ...]:
        """The notes, expired ones too.

        Raises:
            StoreError: what is stored there are no notes.
        """
        return parse_notes(self.properties.get("notes"))

    def notes_text(self, now: datetime) -> str | None:
        """What full-text search finds of the notes: those that have not expired; None where there are none."""
        return notes_text_at(self.notes, now) or None

    def text(self, field: str) -> str:
        """A text property; empty where it is missing."""
        return as_text(self.properties.get(field))

    def level(self, field: str) -> int | None:
        """Attitude or proximity; None where it is missing or no whole number."""
        value = self.properties.get(field)
        return int(value) if isinstance(value, int | float) and math.isfinite(value) and int(value) == value else None


@dataclass(frozen=True, kw_only=True)
class NodeRecord(Record):
    """A node as it is stored."""

    label: str

    @classmethod
    def read(cls, row: Mapping[str, Any], ontology: Ontology, *, labels: Sequence[str] | None = None) -> "NodeRecord":
        """Read the map that `_node.cypher` makes; of a node with several labels, one of `labels` is told."""
        return cls(
            element_id=row["element_id"],
            label=ontology_label(
                [label for label in row["labels"] if label in (labels or ())] or row["labels"], ontology
            ),
            vector_length=row["vector_length"],
            properties=_present(row["properties"]),
        )

    @property
    def entity_key(self) -> str:
        """The node's key."""
        return self.text("entity_key")

    def to_model(self, ontology: Ontology) -> GraphNode:
        """As a caller sees it."""
        return GraphNode(
            entity_key=self.entity_key,
            label=self.label,
            name=self.text("name"),
            description=self.text("description"),
            notes=self.notes,
            properties=visible(self.properties, _NODE_FIELDS | INTERNAL_PROPERTIES | ontology.hidden_properties),
        )


@dataclass(frozen=True, kw_only=True)
class RelationshipRecord(Record):
    """A relationship as it is stored.

    Attributes:
        has_old_embeddings: whether it holds an embedding field that kgagent removes.
        has_old_is_reversed: whether it holds `is_reversed` under its old name.
        from_element_id: of the node that a new relationship starts from; empty for a stored one.
        to_element_id: of the node that a new relationship leads to; empty for a stored one.
        from_labels: of the node that it starts from; known to a search alone.
        to_labels: of the node that it leads to; known to a search alone.
    """

    neo4j_type: str
    from_entity_key: str
    to_entity_key: str
    from_name: str
    to_name: str
    has_old_embeddings: bool = False
    has_old_is_reversed: bool = False
    from_element_id: str = ""
    to_element_id: str = ""
    from_labels: tuple[str, ...] = ()
    to_labels: tuple[str, ...] = ()

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> "RelationshipRecord":
        """Read the map that `_relationship.cypher` makes, or one of those that leave out what a search need not."""
        return cls(
            element_id=row["element_id"],
            neo4j_type=row["neo4j_type"],
            from_entity_key=row["from_entity_key"],
            to_entity_key=row["to_entity_key"],
            from_name=as_text(row["from_name"]),
            to_name=as_text(row["to_name"]),
            vector_length=row["vector_length"],
            has_old_embeddings=row.get("has_old_embeddings", False),
            from_labels=tuple(row.get("from_labels", ())),
            to_labels=tuple(row.get("to_labels", ())),
            properties={},
        ).with_stored(row["properties"])

    def with_stored(self, properties: Mapping[str, Any]) -> "RelationshipRecord":
        """This record with properties as they are stored; an old name of a property is replaced by its present one."""
        present = {key: value for key, value in properties.items() if value is not None}
        has_old = OLD_IS_REVERSED in present
        if has_old:
            old = present.pop(OLD_IS_REVERSED)
            present.setdefault("is_reversed", old)
        return replace(self, properties=present, has_old_is_reversed=has_old)

    @property
    def has_old_properties(self) -> bool:
        """Whether the next write removes old embeddings, or renames `is_reversed`."""
        return self.has_old_embeddings or self.has_old_is_reversed

    def known_level(self, ontology: Ontology, field: str) -> int | None:
        """Attitude or proximity; old graphs also hold words and numbers written as text. None where it is neither."""
        value = self.properties.get(field)
        if not isinstance(value, str):
            return self.level(field)
        try:
            return ontology.level(self.neo4j_type, field, value.strip() or None)
        except InputError:
            return None

    def to_model(self, ontology: Ontology, *, asked_from: str | None = None) -> GraphRelationship:
        """As a caller sees it.

        Args:
            ontology: gives the words and what is hidden.
            asked_from: the end that the caller named first; where None, the one that its creator named first.
        """
        return GraphRelationship(**self._fields(ontology, asked_from=asked_from))

    @property
    def triplet(self) -> str:
        """The relationship as a short sentence, as its creator told it."""
        source, target = (display_name({"name": name}, key) for key, name in self._ends(None))
        return triplet_text(source, self.neo4j_type, target, label=self.text("relationship_type"))

    def matched(
        self,
        ontology: Ontology,
        similarity: float,
        *,
        score: float | None = None,
        path: Sequence["RelationshipRecord"] = (),
    ) -> RelationshipSearchResult:
        """As a search shows it.

        Args:
            ontology: gives the words and what is hidden.
            similarity: plain cosine with the query.
            score: what the search ranks by; the similarity where None.
            path: the relationships that led to it.
        """
        return RelationshipSearchResult(
            **self._fields(ontology, asked_from=None),
            similarity=similarity,
            score=similarity if score is None else score,
            path=tuple(record.triplet for record in path),
        )

    @property
    def ends_in_direction(self) -> dict[str, tuple[str, ...]]:
        """Keys of both ends, the one that it is told from first, each with the labels of the node as far as known."""
        labels = {self.from_entity_key: self.from_labels, self.to_entity_key: self.to_labels}
        return {key: labels[key] for key, _ in self._ends(None)}

    def _ends(self, asked_from: str | None) -> tuple[tuple[str, str], tuple[str, str]]:
        """Key and name of the end that it is told from, and of the other; see `shown`."""
        start, end = (self.from_entity_key, self.from_name), (self.to_entity_key, self.to_name)
        told = (end, start) if self.properties.get("is_reversed") else (start, end)
        return told if asked_from in {None, told[0][0]} else (told[1], told[0])

    def _fields(self, ontology: Ontology, *, asked_from: str | None) -> dict[str, Any]:
        (from_key, from_name), (to_key, to_name) = self._ends(asked_from)
        [(told_from, _), _] = self._ends(None)
        attitude, proximity = (self.known_level(ontology, field) for field in LEVEL_FIELDS)
        return {
            "from_entity_key": from_key,
            "to_entity_key": to_key,
            "from_name": from_name,
            "to_name": to_name,
            "neo4j_type": self.neo4j_type,
            "relationship_type": self.text("relationship_type"),
            "description": self.text("description"),
            "attitude": attitude,
            "proximity": proximity,
            "attitude_word": ontology.word(self.neo4j_type, "attitude", attitude),
            "proximity_word": ontology.word(self.neo4j_type, "proximity", proximity),
            "notes": self.notes,
            "properties": visible(
                self.properties, _RELATIONSHIP_FIELDS | INTERNAL_PROPERTIES | ontology.hidden_properties
            ),
            "ends_reversed": from_key != told_from,
        }


def ontology_label(labels: Sequence[str], ontology: Ontology) -> str:
    """The label that the ontology knows; the first in its order where a node carries several."""
    return min((label for label in labels if label in ontology.labels), key=lambda label: ontology.label_order[label])


def as_text(value: object) -> str:
    """A value that should be text; empty where it is none."""
    return value if isinstance(value, str) else ""


def visible(properties: Mapping[str, Any], hidden: Iterable[str]) -> dict[str, JsonValue]:
    """What of a record's properties may be shown, as JSON types."""
    return {
        key: _time(value) if key in TIMES else plain(value)
        for key, value in sorted(properties.items())
        if key not in hidden and not key.lower().endswith("embedding")
    }


def _time(value: object) -> JsonValue:
    """A time in one form, whether the database gave it as such or as text; what is none stays as it is."""
    moment = value
    with suppress(ValueError):
        if isinstance(value, DateTime):
            moment = value.to_native()
        elif isinstance(value, str):
            # The database ends a time in a zone that has a name with that name, in brackets.
            moment = datetime.fromisoformat(value.partition("[")[0])
        if isinstance(moment, datetime) and moment.tzinfo is not None:
            return format_utc(moment)
    return plain(value)


def plain(value: object) -> JsonValue:
    """Turn a value of the database into a JSON type."""
    if value is None or isinstance(value, str | bool | int) or (isinstance(value, float) and math.isfinite(value)):
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


def _present(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in properties.items() if value is not None}
