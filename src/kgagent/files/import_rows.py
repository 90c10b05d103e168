"""Turns records of a file into the parameters of the statements that write them."""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kgagent.embedding.base import Embedder
from kgagent.errors import InputError
from kgagent.files.export_format import DeletedLine, NodeLine, RecordLine, RelationshipLine
from kgagent.files.property_values import TimeText, decode_property
from kgagent.files.stored_records import EMBEDDING_PROPERTIES
from kgagent.formatting import beginning
from kgagent.graph.identifiers import MAX_LENGTH, Identifier
from kgagent.graph.nodes import NodeRepository
from kgagent.graph.record_saver import vector_changes
from kgagent.graph.records import NodeRecord, Record, RelationshipRecord, ontology_label
from kgagent.graph.relationships import RelationshipRepository
from kgagent.graph.schema_parts import DELETED_NODE, DELETED_RELATIONSHIP, OWN_LABELS
from kgagent.graph.store import Row, Store
from kgagent.ontology import Ontology
from kgagent.validation import check_user_id

Properties = dict[str, Any]

MAX_LABELS = 100
"""Characters of unknown labels that an error repeats."""


def check_record(record: RecordLine, user_id: str | None, ontology: Ontology) -> None:
    """Refuse a record that export would not write, or that this graph cannot have.

    Args:
        record: the record.
        user_id: whose records the file has; None for those of all users.
        ontology: labels of the nodes.

    Raises:
        InputError: what is wrong with it.
    """
    check_user_id(record.user_id)
    if user_id is not None and record.user_id != user_id:
        raise InputError(f"the file has records of user {user_id!r}, but this record belongs to {record.user_id!r}")
    decoded_properties(record)
    stored_user = record.properties.get("user_id")
    match record:
        case NodeLine():
            key = record.properties.get("entity_key")
            if not key or not isinstance(key, str) or stored_user != record.user_id:
                raise InputError("a node must have an entity_key, and the user_id of its line")
            _check_names(record.labels)
            _check_known(record.labels, ontology)
        case RelationshipLine():
            if stored_user is not None and stored_user != record.user_id:
                raise InputError("a relationship cannot have another user_id than its line")
            _check_names([record.neo4j_type])
            for label, _ in (record.start, record.end):
                _check_known([label], ontology)
        case DeletedLine():
            if record.label not in {DELETED_NODE, DELETED_RELATIONSHIP}:
                raise InputError(f"a deleted record cannot have the label {record.label!r}")
            if stored_user != record.user_id:
                raise InputError("a deleted record must have the user_id of its line")
            _check_names(_kept_names(record))


def _kept_names(record: DeletedLine) -> list[str]:
    """The type or the labels that a deleted record gets back."""
    is_node = record.label == DELETED_NODE
    kept = record.properties.get("kgagent_labels" if is_node else "kgagent_neo4j_type", [])
    names = kept if is_node else [kept] if kept else []
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InputError(f"a deleted record cannot be restored as {str(kept)[:80]}")
    return names


def _check_names(names: Iterable[str]) -> None:
    """Refuse labels and types that are invalid or kgagent's own."""
    for name in names:
        Identifier(name)
        if name in OWN_LABELS:
            raise InputError(f"a node or a relationship cannot be a {name}")


def decoded_properties(record: RecordLine) -> Properties:
    """The properties of a record.

    Raises:
        InputError: a value is invalid.
    """
    found = {}
    for name, value in record.properties.items():
        if not name or len(name) > MAX_LENGTH or "\0" in name:
            raise InputError(f"{name[:80]!r} cannot be the name of a property")
        try:
            found[name] = decode_property(value)
        except InputError as error:
            raise InputError(f"property {name!r} is {error}") from None
    return found


def row_of(properties: Mapping[str, object], store: Store, **location: object) -> Row:
    """The parameter by which a statement writes a record.

    Args:
        properties: its properties.
        store: says in which form its server accepts vectors.
        location: other fields of the row.
    """
    row: Row = {"properties": {}, "times": [], "vectors": [], **location}
    for name, value in properties.items():
        if isinstance(value, array):
            row["vectors"].append({"name": name, "value": store.vector(value)})
        elif isinstance(value, TimeText):
            row["times"].append({"name": name, "kind": value.kind, "value": str(value)})
        elif isinstance(value, list) and value and isinstance(value[0], TimeText):
            texts = [str(item) for item in value]
            row["times"].append({"name": name, "kind": f"{value[0].kind}s", "value": texts})
        else:
            row["properties"][name] = value
    return row


@dataclass(frozen=True)
class Reembedding:
    """Gives records of another model, or of none, the embedding of their text.

    Attributes:
        nodes: says what the text of a node is.
        relationships: says what the text of a relationship is.
        embedder: makes the embeddings.
        now: the time, with time zone.
    """

    nodes: NodeRepository
    relationships: RelationshipRepository
    embedder: Embedder
    now: datetime

    async def apply(self, records: Sequence[RecordLine]) -> tuple[list[Properties], int]:
        """The properties of records of one kind with current embeddings, and the number of those that were made.

        A deleted record gets its embedding when it is restored.

        Raises:
            EmbeddingError: the embedder failed.
        """
        decoded = [decoded_properties(record) for record in records]
        if isinstance(records[0], DeletedLine):
            return [_without(properties, EMBEDDING_PROPERTIES) for properties in decoded], 0
        is_node = isinstance(records[0], NodeLine)
        vector_property = (self.nodes if is_node else self.relationships).vector_property
        texts = [
            self._text(record, properties, vector_property) for record, properties in zip(records, decoded, strict=True)
        ]
        changes = await vector_changes(self.embedder, texts, vector_property=vector_property)
        for properties, change in zip(decoded, changes, strict=True):
            properties.update(change.properties)
            if change.vector is not None:
                properties[vector_property] = change.vector
        made = sum(change.vector is not None for change in changes)
        return [{name: value for name, value in one.items() if value is not None} for one in decoded], made

    def _text(self, record: RecordLine, properties: Properties, vector_property: str) -> tuple[str, Record]:
        """The text of a record, and the record with the embedding of the file."""
        vector = properties.get(vector_property)
        length = len(vector) if isinstance(vector, array) else None
        if isinstance(record, NodeLine):
            label = ontology_label(record.labels, self.nodes.ontology)
            node = NodeRecord(element_id="", label=label, vector_length=length, properties=properties)
            return self.nodes.text(node, self.now), node
        assert isinstance(record, RelationshipLine)  # noqa: S101
        relationship = RelationshipRecord(
            element_id="",
            vector_length=length,
            properties=properties,
            neo4j_type=record.neo4j_type,
            from_entity_key=record.start[1],
            to_entity_key=record.end[1],
            from_name="",
            to_name="",
        )
        is_known = record.neo4j_type in self.relationships.ontology.relationships
        return (self.relationships.text(relationship, self.now) if is_known else ""), relationship


def _without(properties: Properties, names: Iterable[str]) -> Properties:
    return {name: value for name, value in properties.items() if name not in set(names)}


def _check_known(labels: Iterable[str], ontology: Ontology) -> None:
    if not set(labels) & ontology.labels.keys():
        raise InputError(
            f"the ontology has none of the labels {beginning(', '.join(map(repr, labels)), MAX_LABELS)}; it has "
            f"{', '.join(ontology.labels)}"
        )
