"""Checks records of a file, and turns them into the parameters of the statements that write
them.
"""

import asyncio
from array import array
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from kgagent.errors import InputError
from kgagent.files.export_format import (
    EMBEDDING_PROPERTIES,
    NOT_EXPORTED,
    ExportedDeletion,
    ExportedNode,
    ExportedRecord,
    ExportedRelationship,
)
from kgagent.files.property_values import TimeText, decode_property
from kgagent.graph.embedded_text import EmbeddedText, vector_changes
from kgagent.graph.records import NodeRecord, RelationshipRecord, as_text, ontology_label
from kgagent.graph.schema_parts import DELETED_NODE, DELETED_RELATIONSHIP, OWN_LABELS
from kgagent.graph.statement_index import index_row
from kgagent.graph.store import Row, Store
from kgagent.graph.writes import RecordKind
from kgagent.ontology import Ontology
from kgagent.services import GraphServices
from kgagent.validation import check_user_id

Properties = dict[str, Any]


def check_record(record: ExportedRecord, user_id: str | None, ontology: Ontology) -> None:
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
        raise InputError(
            f"the file has records of user {user_id!r}, but this record belongs to "
            f"{record.user_id!r}"
        )
    decoded_properties(record)
    # A relationship of an old graph has no user_id.
    stored_user = record.properties.get(
        "user_id", record.user_id if isinstance(record, ExportedRelationship) else None
    )
    if stored_user != record.user_id:
        raise InputError(
            f"the record belongs to {record.user_id!r}, but its properties have user_id "
            f"{stored_user!r}"
        )
    if isinstance(record, ExportedDeletion):
        if record.label not in {DELETED_NODE, DELETED_RELATIONSHIP}:
            raise InputError(f"a deleted record cannot have the label {record.label!r}")
        return
    if isinstance(record, ExportedNode) and not as_text(record.properties.get("entity_key")):
        raise InputError("a node must have an entity_key")
    for labels in record.node_labels:
        if own := OWN_LABELS.intersection(labels):
            raise InputError(f"a node cannot be a {min(own)}")
        if not ontology.labels.keys() & labels:
            raise InputError(
                f"the ontology has none of the labels {', '.join(map(repr, labels))}; it has "
                f"{', '.join(ontology.labels)}"
            )


def decoded_properties(record: ExportedRecord) -> Properties:
    """The properties of a record.

    Raises:
        InputError: a name or a value is invalid.
    """
    decoded = {}
    for name, value in record.properties.items():
        if name in NOT_EXPORTED:
            continue
        if not name or "\0" in name:
            raise InputError(f"{name!r} cannot be the name of a property")
        try:
            decoded[name] = decode_property(value)
        except InputError as error:
            raise InputError(f"property {name!r} is {error}") from None
    return decoded


def row_of(properties: Mapping[str, object], store: Store, **target: object) -> Row:
    """The parameter by which a statement writes a record.

    Args:
        properties: its properties.
        store: says in which form its server accepts vectors.
        target: other fields of the row.
    """
    row: Row = {"properties": {}, "times": [], "vectors": [], **target}
    for name, value in properties.items():
        if isinstance(value, array):
            row["vectors"].append({"name": name, "value": store.vector(value)})
        elif isinstance(value, TimeText):
            row["times"].append({"name": name, "kind": value.kind, "value": value.text})
        elif isinstance(value, list) and value and isinstance(value[0], TimeText):
            texts = [item.text for item in value]
            row["times"].append({"name": name, "kind": f"{value[0].kind}s", "value": texts})
        else:
            row["properties"][name] = value
    return row


async def rows_of(
    records: Sequence[ExportedRecord],
    targets: Sequence[Mapping[str, object]],
    services: GraphServices,
    now: datetime,
    *,
    keeps_embeddings: bool,
) -> tuple[list[Row], int]:
    """The parameters by which a statement writes records of one kind, and the number of embeddings
    that were made.

    Statements are indexed. A deleted record gets embeddings when it is restored.

    Args:
        records: the records.
        targets: other fields of their rows.
        services: the parts of the graph.
        now: the time of the import.
        keeps_embeddings: whether records have embeddings of the present model.

    Raises:
        EmbeddingError: the embedder failed.
    """
    decoded = await asyncio.to_thread(lambda: [decoded_properties(record) for record in records])
    if isinstance(records[0], ExportedDeletion):
        omitted = frozenset() if keeps_embeddings else EMBEDDING_PROPERTIES
        kept = (
            {name: value for name, value in one.items() if name not in omitted} for one in decoded
        )
        return [
            row_of(one, services.store, **target) for one, target in zip(kept, targets, strict=True)
        ], 0
    stored = [_stored(*both, services) for both in zip(records, decoded, strict=True)]
    texts = [
        _embedded_text(record, services, now, keeps_embeddings=keeps_embeddings)
        for record in stored
    ]
    changes = await vector_changes(services.embedder, texts)
    rows = []
    for record, properties, change, target in zip(stored, decoded, changes, targets, strict=True):
        properties.update(change.properties)
        if change.vector is not None:
            properties[record.vector_property] = change.vector
        present = {name: value for name, value in properties.items() if value is not None}
        stated = index_row(_kind(record, services), change, services.embedder)
        rows.append(row_of(present, services.store, stated=stated, **target))
    return rows, sum(change.vector is not None for change in changes)


def _stored(
    exported: ExportedRecord, properties: Properties, services: GraphServices
) -> NodeRecord | RelationshipRecord:
    """A record of a file as the database would have it."""
    if isinstance(exported, ExportedNode):
        return NodeRecord(
            element_id="",
            label=ontology_label(exported.labels, services.ontology),
            vector_property=services.ontology.node_embedding,
            vector_length=_length(properties.get(services.ontology.node_embedding)),
            properties=properties,
        )
    assert isinstance(exported, ExportedRelationship)  # noqa: S101
    return RelationshipRecord(
        element_id="",
        vector_length=_length(properties.get(RelationshipRecord.vector_property)),
        properties=properties,
        neo4j_type=exported.neo4j_type,
        from_entity_key=exported.start[1],
        to_entity_key=exported.end[1],
        from_name="",
        to_name="",
    )


def _kind(record: NodeRecord | RelationshipRecord, services: GraphServices) -> RecordKind[Any, Any]:
    return services.nodes if isinstance(record, NodeRecord) else services.relationships


def _embedded_text(
    record: NodeRecord | RelationshipRecord,
    services: GraphServices,
    now: datetime,
    *,
    keeps_embeddings: bool,
) -> EmbeddedText:
    """What is embedded of a record; nothing of a relationship of a type that the ontology does not
    have.
    """
    if (
        isinstance(record, RelationshipRecord)
        and record.neo4j_type not in services.ontology.relationships
    ):
        return EmbeddedText("", None if keeps_embeddings else record)
    return EmbeddedText.of(_kind(record, services), record, record, now)._replace(
        keeps_vector=keeps_embeddings
    )


def _length(vector: object) -> int | None:
    return len(vector) if isinstance(vector, array) else None
