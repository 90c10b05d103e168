"""What a scan reads of a record, and what can be wrong with it: defects for a person, conditions for a migration."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TypeVar

from kgagent.embedding.base import Embedder
from kgagent.errors import InputError
from kgagent.graph.nodes import NodeRepository
from kgagent.graph.property_names import LEVEL_FIELDS
from kgagent.graph.record_saver import is_current
from kgagent.graph.records import NodeRecord, Record, RelationshipRecord
from kgagent.graph.relationships import RelationshipRepository
from kgagent.ontology import Ontology

CaseT = TypeVar("CaseT")


@dataclass(frozen=True, kw_only=True)
class InspectedEnd:
    """A node at the end of a relationship; a missing or invalid value is empty.

    Attributes:
        label: its label in the ontology.
    """

    entity_key: str
    user_id: str
    label: str


@dataclass(frozen=True, kw_only=True)
class InspectedNode:
    """A stored node.

    Attributes:
        record: its texts and bookkeeping; other properties are not read.
        user_id: its owner; empty if it has none.
        has_vector: whether the property of its embedding has any value.
    """

    record: NodeRecord
    user_id: str
    has_vector: bool

    @property
    def entity_keys(self) -> frozenset[str]:
        """Its key."""
        return frozenset((self.record.entity_key,))

    def __str__(self) -> str:
        """Name it for a person who searches for it."""
        return f"{self.record.label} {self.record.entity_key or self.record.text('name')!r} ({self.record.element_id})"


@dataclass(frozen=True, kw_only=True)
class InspectedRelationship:
    """A stored relationship.

    Attributes:
        record: its texts and bookkeeping; other properties and the names of its ends are not read.
        start: the node that it starts at.
        end: the node that it ends at.
        has_vector: whether the property of its embedding has any value.
        is_duplicate: whether its nodes have another relationship of its type, which the tools use instead.
    """

    record: RelationshipRecord
    start: InspectedEnd
    end: InspectedEnd
    has_vector: bool
    is_duplicate: bool

    @property
    def user_id(self) -> str:
        """The owner of its start node; empty if that has none."""
        return self.start.user_id

    @property
    def entity_keys(self) -> frozenset[str]:
        """The keys of its two nodes."""
        return frozenset((self.start.entity_key, self.end.entity_key))

    def __str__(self) -> str:
        """Name it for a person who searches for it."""
        record = self.record
        return f"{record.neo4j_type} {record.from_entity_key!r} -> {record.to_entity_key!r} ({record.element_id})"


Inspected = InspectedNode | InspectedRelationship


class Defect(StrEnum):
    """A defect that makes a record unusable and that only a person can decide how to fix."""

    NO_ENTITY_KEY = "a node has no entity_key, or one that is not text"
    NO_LABEL = "a node has none of the ontology's labels"
    NO_USER = "a node has no user_id, or one that is not text"
    TWO_USERS = "its nodes belong to different users"
    DUPLICATE = "its nodes have another relationship of its type"
    ONE_NODE = "it connects a node with itself"
    WRONG_LABELS = "its type does not connect nodes of these labels"
    WRONG_LEVEL = "attitude or proximity is neither 1 to 5 nor one of the words"
    WRONG_VERSION = "version is not an integer"


class Condition(StrEnum):
    """A condition that the migration fixes; the text continues "3 of 100 relationships …"."""

    NO_EMBEDDING = "have no embedding"
    NOT_A_VECTOR = "have an embedding that is not a list of numbers"
    WRONG_LENGTH = "have an embedding of another length"
    OTHER_MODEL = "have an embedding of another model"
    UNKNOWN_MODEL = "have an embedding of an unknown model"
    STALE = "have an embedding of an earlier text"
    WITHOUT_TEXT = "have an embedding but no text"
    WRONG_NOTES_TEXT = "have notes that full-text search misses, or still finds"
    LEVELS_AS_TEXT = "store attitude or proximity as text instead of a number"
    OLD_EMBEDDINGS = "have embedding properties of an old format"
    OLD_IS_REVERSED = "hold told_in_reverse, the old name of is_reversed"
    NO_USER = "have no user_id, so no search finds them"
    WRONG_USER = "have a user_id that differs from their nodes' user_id"
    WRONG_KEY = "have no relationship_key, or one that does not match their nodes"


@dataclass(frozen=True, kw_only=True)
class Examination:
    """The result of examining a record.

    Attributes:
        defect: its first defect; the conditions of such a record are not examined.
        conditions: what the migration fixes; empty if the record is stored as the tools would store it.
        outdated_text: the text to embed; None if the stored embedding is current, or there is no text.
    """

    defect: Defect | None = None
    conditions: tuple[Condition, ...] = ()
    outdated_text: str | None = None


def examine_node(node: InspectedNode, nodes: NodeRepository, embedder: Embedder, now: datetime) -> Examination:
    """Examine a node; notes that have expired by `now` do not count."""
    if defect := _node_defect(node):
        return Examination(defect=defect)
    text = nodes.text(node.record, now)
    condition = _text_condition(node, text, embedder, now)
    return Examination(
        conditions=() if condition is None else (condition,),
        outdated_text=None if is_current(node.record, text, embedder) else text or None,
    )


def examine_relationship(
    relationship: InspectedRelationship, relationships: RelationshipRepository, embedder: Embedder, now: datetime
) -> Examination:
    """Examine a relationship; notes that have expired by `now` do not count."""
    if defect := _relationship_defect(relationship, relationships.ontology):
        return Examination(defect=defect)
    record = relationship.record
    text = relationships.text(record, now)

    def conditions() -> Iterator[Condition]:
        if any(isinstance(record.properties.get(field), str) for field in LEVEL_FIELDS):
            yield Condition.LEVELS_AS_TEXT
        elif condition := _text_condition(relationship, text, embedder, now):
            yield condition
        if record.has_old_embeddings:
            yield Condition.OLD_EMBEDDINGS
        if record.has_old_is_reversed:
            yield Condition.OLD_IS_REVERSED
        user_id = record.properties.get("user_id")
        if user_id != relationship.user_id:
            yield Condition.NO_USER if user_id is None else Condition.WRONG_USER
        if record.properties.get("relationship_key") != relationships.relationship_key(record):
            yield Condition.WRONG_KEY

    return Examination(
        conditions=tuple(conditions()),
        outdated_text=None if is_current(record, text, embedder) else text or None,
    )


def stored_level(ontology: Ontology, record: RelationshipRecord, field: str) -> int | None:
    """The attitude or proximity of a record as a number; old graphs also hold words and numbers written as text.

    Raises:
        InputError: it is neither 1 to 5 nor one of the type's words.
    """
    value, neo4j_type = record.properties.get(field), record.neo4j_type
    if isinstance(value, str):
        return ontology.level(neo4j_type, field, value.strip() or None)
    if value is None:
        return None
    number = record.level(field)
    if isinstance(value, bool) or number is None:
        raise InputError(f"{field} must be 1 to 5 or one of the words of {neo4j_type}, got {value!r}")
    return ontology.level(neo4j_type, field, number)


def _text_condition(inspected: Inspected, text: str, embedder: Embedder, now: datetime) -> Condition | None:
    """The condition of the embedding or, if the embedding is current, of the text that full-text search indexes."""
    record = inspected.record
    if is_current(record, text, embedder):
        is_indexed = record.properties.get("notes_text") == record.notes_text(now)
        return None if is_indexed else Condition.WRONG_NOTES_TEXT
    return _first(
        (not text, Condition.WITHOUT_TEXT),
        (not inspected.has_vector, Condition.NO_EMBEDDING),
        (record.vector_length is None, Condition.NOT_A_VECTOR),
        (record.vector_length != embedder.dimensions, Condition.WRONG_LENGTH),
        (record.properties.get("embedding_model") is None, Condition.UNKNOWN_MODEL),
        (record.properties.get("embedding_model") != embedder.model, Condition.OTHER_MODEL),
        (True, Condition.STALE),
    )


def _node_defect(node: InspectedNode) -> Defect | None:
    return _first(
        (not node.record.entity_key, Defect.NO_ENTITY_KEY),
        (not node.user_id, Defect.NO_USER),
        (_has_wrong_version(node.record), Defect.WRONG_VERSION),
        (True, None),
    )


def _relationship_defect(relationship: InspectedRelationship, ontology: Ontology) -> Defect | None:
    record, start, end = relationship.record, relationship.start, relationship.end
    definition = ontology.relationship(record.neo4j_type)
    return _first(
        (not (start.label and end.label), Defect.NO_LABEL),
        (not (start.entity_key and end.entity_key), Defect.NO_ENTITY_KEY),
        (not (start.user_id and end.user_id), Defect.NO_USER),
        (start.user_id != end.user_id, Defect.TWO_USERS),
        (start.entity_key == end.entity_key, Defect.ONE_NODE),
        ({start.label, end.label} != {definition.from_label, definition.to_label}, Defect.WRONG_LABELS),
        (relationship.is_duplicate, Defect.DUPLICATE),
        (_has_wrong_level(record, ontology), Defect.WRONG_LEVEL),
        (_has_wrong_version(record), Defect.WRONG_VERSION),
        (True, None),
    )


def _has_wrong_level(record: RelationshipRecord, ontology: Ontology) -> bool:
    try:
        for field in LEVEL_FIELDS:
            stored_level(ontology, record, field)
    except InputError:
        return True
    return False


def _has_wrong_version(record: Record) -> bool:
    version = record.properties.get("version")
    return not (version is None or (isinstance(version, int) and not isinstance(version, bool)))


def _first(*cases: tuple[bool, CaseT]) -> CaseT:
    return next(case for holds, case in cases if holds)
