"""What can be wrong with a stored node or relationship, and in which order it is checked."""

from enum import StrEnum
from typing import TypeVar

from kgagent.embedding.base import Embedder
from kgagent.errors import InputError
from kgagent.graph.inspection import InspectedNode, InspectedRelationship
from kgagent.graph.property_names import LEVEL_FIELDS
from kgagent.graph.record_saver import is_current
from kgagent.graph.records import Record, RelationshipRecord
from kgagent.ontology import Ontology

CaseT = TypeVar("CaseT")


class VectorCondition(StrEnum):
    """How a stored vector relates to the embedding text of its record."""

    CURRENT = "current"
    MISSING = "no embedding"
    NOT_A_VECTOR = "an embedding that is not a list of numbers"
    WRONG_LENGTH = "an embedding of another length"
    OTHER_MODEL = "an embedding of another model"
    UNKNOWN_MODEL = "an embedding of an unknown model"
    STALE = "an embedding of an earlier text"
    WITHOUT_TEXT = "an embedding but no text"


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


def vector_condition(record: Record, text: str, embedder: Embedder, *, has_vector: bool) -> VectorCondition:
    """Compare a stored vector with the embedding text and the model of its record.

    Args:
        record: the node or relationship.
        text: its present embedding text.
        embedder: the present embedder.
        has_vector: whether the property of the vector has any value.
    """
    if is_current(record, text, embedder):
        return VectorCondition.CURRENT
    return _first(
        (not text, VectorCondition.WITHOUT_TEXT),
        (not has_vector, VectorCondition.MISSING),
        (record.vector_length is None, VectorCondition.NOT_A_VECTOR),
        (record.vector_length != embedder.dimensions, VectorCondition.WRONG_LENGTH),
        (record.properties.get("embedding_model") is None, VectorCondition.UNKNOWN_MODEL),
        (record.properties.get("embedding_model") != embedder.model, VectorCondition.OTHER_MODEL),
        (True, VectorCondition.STALE),
    )


def node_defect(node: InspectedNode) -> Defect | None:
    """The first defect of a node."""
    return _first(
        (not node.record.entity_key, Defect.NO_ENTITY_KEY),
        (not node.user_id, Defect.NO_USER),
        (_has_wrong_version(node.record), Defect.WRONG_VERSION),
        (True, None),
    )


def relationship_defect(relationship: InspectedRelationship, ontology: Ontology) -> Defect | None:
    """The first defect of a relationship."""
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
