"""Gives the records of a file to another user."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from kgagent.graph.records import as_text, ontology_label
from kgagent.graph.relationships import relationship_key
from kgagent.graph.schema_parts import DELETED_NODE
from kgagent.ontology import Ontology
from kgagent.plain_names import plain_name
from kgagent.transfer.file_format import DeletedLine, NodeLine, RecordLine, RelationshipLine

_SHA256 = re.compile(r"\b[0-9a-f]{64}\b")
_KEYED = frozenset(
    {
        "entity_key",
        "notes",
        "ingestion_merged",
        "kgagent_from_entity_key",
        "kgagent_to_entity_key",
    }
)
"""Properties that contain keys of nodes."""


@dataclass(frozen=True)
class UserChange:
    """How the records of one user become those of another.

    The key of a node such as a Concept is made of its name and its user: it changes with the user, wherever it occurs,
    so that the tools find the node by its name. Other keys stay.

    Attributes:
        user_id: the user who gets the records.
        keys: the new key of each key that changes.
    """

    user_id: str
    keys: Mapping[str, str]

    @classmethod
    def for_nodes(cls, records: Iterable[RecordLine], *, user_id: str, ontology: Ontology) -> "UserChange":
        """Find the keys that change."""
        keys: dict[str, str] = {}
        for record in records:
            labels = _known_labels(record, ontology)
            if labels and record.user_id != user_id:
                rule = ontology.label(ontology_label(labels, ontology))
                key = as_text(record.properties.get("entity_key"))
                if rule.key_includes_name and not rule.key_includes_time:
                    texts = {field: as_text(record.properties.get(field)) for field in ("name", "description")}
                    for name in (texts["name"], plain_name(texts["name"])):
                        spelled = {**texts, "name": name}
                        if key == rule.entity_key(**spelled, user_id=record.user_id, created_at=""):
                            keys[key] = rule.entity_key(**spelled, user_id=user_id, created_at="")
        return cls(user_id, keys)

    def of(self, record: RecordLine) -> RecordLine:
        """The record as the other user has it."""
        properties = {name: self._value(name, value, record.user_id) for name, value in record.properties.items()}
        changed: dict[str, Any] = {"user_id": self.user_id, "properties": properties}
        if isinstance(record, RelationshipLine):
            ends, neo4j_type = (record.start[1], record.end[1]), record.neo4j_type
            changed["start"] = (record.start[0], self._key(record.start[1]))
            changed["end"] = (record.end[0], self._key(record.end[1]))
        else:
            stored = record.properties
            neo4j_type = as_text(stored.get("kgagent_neo4j_type"))
            ends = (as_text(stored.get("kgagent_from_entity_key")), as_text(stored.get("kgagent_to_entity_key")))
        if record.properties.get("relationship_key") == relationship_key(neo4j_type, *ends):
            properties["relationship_key"] = relationship_key(neo4j_type, *map(self._key, ends))
        return record.model_copy(update=changed)

    def _value(self, name: str, value: object, user_id: str) -> object:
        if name == "user_id" and value == user_id:
            return self.user_id
        if name in _KEYED and isinstance(value, str):
            return _SHA256.sub(lambda found: self._key(found[0]), value)
        return value

    def _key(self, key: str) -> str:
        return self.keys.get(key, key)


def _known_labels(record: RecordLine, ontology: Ontology) -> list[str]:
    """The labels of a node, or of a deleted one, that the ontology has."""
    match record:
        case NodeLine():
            labels: Iterable[str] = record.labels
        case DeletedLine(label=label) if label == DELETED_NODE:
            labels = record.properties.get("kgagent_labels") or ()
        case _:
            labels = ()
    return [label for label in labels if label in ontology.labels]
