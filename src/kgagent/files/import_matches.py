"""How nodes, relationships and deleted records of a file are found in the graph, and which statements write them."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Literal, TypeVar

from kgagent.files.export_format import (
    EMBEDDING_PROPERTIES,
    ExportedDeletion,
    ExportedNode,
    ExportedRecord,
    ExportedRelationship,
)
from kgagent.files.json_lines import dump_json
from kgagent.graph.deleted_records import DELETED_NAMES
from kgagent.graph.identifiers import Identifier
from kgagent.graph.records import ontology_label
from kgagent.graph.statements import Statement, statement
from kgagent.graph.store import Row
from kgagent.services import GraphServices

RecordT = TypeVar("RecordT", ExportedNode, ExportedRelationship, ExportedDeletion)

DIFFERENT = "the graph has another one with this key; overwrite replaces it"


@dataclass(frozen=True)
class Match:
    """What the graph has for a record of a file.

    Attributes:
        state: whether the graph has no such record, an equal or a different one, or cannot have the record.
        reason: why the record cannot be written, or not without `overwrite`.
        target: fields by which a statement finds where to write.
    """

    state: Literal["new", "equal", "different", "impossible"]
    reason: str = ""
    target: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ImportKind(ABC, Generic[RecordT]):
    """The records of one kind.

    Attributes:
        services: the parts of the graph.
        compares_embeddings: whether records with different embeddings differ.
    """

    name: ClassVar[Literal["nodes", "relationships", "deleted"]]

    services: GraphServices
    compares_embeddings: bool

    @abstractmethod
    async def find(self, user_id: str, records: Sequence[RecordT]) -> list[Match]:
        """Find what the graph has for each record.

        Raises:
            StoreError: the database failed.
        """

    @abstractmethod
    def title(self, record: RecordT) -> str:
        """The record for a message."""

    def write(self, action: Literal["import", "overwrite"]) -> Statement:
        """The statement that creates or changes records."""
        return statement(f"{action}_{self.name}", labels=Identifier.any_of(self.services.ontology.labels))

    async def _find(self, user_id: str, **parameters: object) -> list[Row]:
        find = statement(
            f"find_imported_{self.name}",
            labels=Identifier.any_of(self.services.ontology.labels),
            all_deleted=DELETED_NAMES["all_deleted"],
        )
        omitted = [] if self.compares_embeddings else sorted(EMBEDDING_PROPERTIES)
        return await self.services.store.read(find, {"user_id": user_id, "omitted": omitted, **parameters})

    def _content(self, record: ExportedRecord) -> str:
        """What two equal records have in common: all but their versions, and embeddings that are made again."""
        ignored = {"version"} if self.compares_embeddings else {"version", *EMBEDDING_PROPERTIES}
        properties = {name: value for name, value in record.properties.items() if name not in ignored}
        return dump_json(record.model_copy(update={"properties": properties}).model_dump())


class ImportedNodes(ImportKind[ExportedNode]):
    """The nodes, found by label and key."""

    name = "nodes"

    async def find(self, user_id: str, records: Sequence[ExportedNode]) -> list[Match]:
        """Find nodes by their keys; a node that would be a second owner is impossible."""
        rows = await self._find(user_id, keys=list({record.entity_key for record in records}))
        stored = {
            (label, row["entity_key"]): row["record"]
            for row in rows
            if row["record"] is not None
            for label in row["record"]["labels"]
        }
        matches = [self._match(record, stored, user_id) for record in records]
        marked = [position for position, record in enumerate(records) if self._is_owner(record)]
        if marked:
            owners = {owner.entity_key for owner in await self.services.references.owners(user_id)}
            for position in marked:
                key = records[position].entity_key
                if matches[position].state != "equal" and owners - {key}:
                    matches[position] = Match("impossible", "the graph has another owner")
                owners.add(key)
        return matches

    def title(self, record: ExportedNode) -> str:
        """Label and key."""
        return f"{ontology_label(record.labels, self.services.ontology)} {record.entity_key}"

    def _is_owner(self, record: ExportedNode) -> bool:
        return record.properties.get("is_owner") is True and self.services.ontology.owner_label in record.labels

    def _match(self, record: ExportedNode, stored: Mapping[tuple[str, str], Row], user_id: str) -> Match:
        label = ontology_label(record.labels, self.services.ontology)
        target = {"label": label, "labels": list(record.labels), "entity_key": record.entity_key}
        row = stored.get((label, record.entity_key))
        if row is None:
            return Match("new", target=target)
        if self._content(ExportedNode.of(row, user_id)) == self._content(record):
            return Match("equal")
        return Match("different", DIFFERENT, {**target, "element_id": row["element_id"]})


class ImportedRelationships(ImportKind[ExportedRelationship]):
    """The relationships, found between their nodes by their keys; those without a key by their content."""

    name = "relationships"

    async def find(self, user_id: str, records: Sequence[ExportedRelationship]) -> list[Match]:
        """Find relationships between their nodes."""
        wanted = [
            {
                "position": position,
                "neo4j_type": record.neo4j_type,
                "start_label": record.start[0],
                "start_key": record.start[1],
                "end_label": record.end[0],
                "end_key": record.end[1],
            }
            for position, record in enumerate(records)
        ]
        rows = {row["position"]: row for row in await self._find(user_id, rows=wanted)}
        return [self._match(record, rows[position], user_id) for position, record in enumerate(records)]

    def title(self, record: ExportedRelationship) -> str:
        """Type and keys of both ends."""
        return f"{record.neo4j_type} {record.start[1]} -> {record.end[1]}"

    def _match(self, record: ExportedRelationship, row: Row, user_id: str) -> Match:
        for (_, node_key), node_id in ((record.start, row["start_id"]), (record.end, row["end_id"])):
            if node_id is None:
                return Match("impossible", f"the node {node_key} does not exist")
        target = {
            "neo4j_type": record.neo4j_type,
            "start_id": row["start_id"],
            "start_key": record.start[1],
            "end_id": row["end_id"],
            "end_key": record.end[1],
        }
        stored = {
            stored_row["element_id"]: ExportedRelationship.of(stored_row, user_id, self.services.ontology)
            for stored_row in row["records"]
        }
        content = self._content(record)
        if any(self._content(other) == content for other in stored.values()):
            return Match("equal")
        key = record.properties.get("relationship_key")
        element_ids = {other.properties.get("relationship_key"): element_id for element_id, other in stored.items()}
        if key is None and record.neo4j_type in self.services.ontology.relationships and element_ids.keys() - {None}:
            return Match("impossible", "the two nodes have a relationship of the type already")
        if key is None or key not in element_ids:
            return Match("new", target=target)
        if stored[element_ids[key]].start != record.start:
            return Match("impossible", "the graph has it in the opposite direction")
        return Match("different", DIFFERENT, {**target, "element_id": element_ids[key]})


class ImportedDeletions(ImportKind[ExportedDeletion]):
    """The deleted records, found by their content, as several may have one key; none is ever different."""

    name = "deleted"

    async def find(self, user_id: str, records: Sequence[ExportedDeletion]) -> list[Match]:
        """Find deleted records with the same content."""
        times = {str(_time_text(record.properties.get("kgagent_deleted_at"))) for record in records}
        rows = await self._find(user_id, texts=sorted(times))
        stored = {
            self._content(ExportedDeletion.of(row["record"], user_id)) for row in rows if row["record"] is not None
        }
        return [
            Match("equal") if self._content(record) in stored else Match("new", target={"labels": [record.label]})
            for record in records
        ]

    def title(self, record: ExportedDeletion) -> str:
        """Its key."""
        return f"deleted {record.properties.get('relationship_key', record.properties.get('entity_key'))}"


def _time_text(value: object) -> object:
    return next(iter(value.values()), None) if isinstance(value, dict) else value
