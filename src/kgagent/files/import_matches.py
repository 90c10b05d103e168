"""What a graph has for the records of a file: nothing, an equal or a different record; or why it
cannot have them.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from kgagent.files.export_format import (
    EMBEDDING_PROPERTIES,
    NOT_EXPORTED,
    ExportedDeletion,
    ExportedNode,
    ExportedRecord,
    ExportedRelationship,
    exported_record,
)
from kgagent.files.json_lines import dump_json
from kgagent.graph.deleted_records import DELETED_NAMES
from kgagent.graph.identifiers import Identifier
from kgagent.graph.records import ontology_label
from kgagent.graph.statements import statement
from kgagent.graph.store import Row
from kgagent.services import GraphServices

DIFFERENT = "the graph has another one with this key; overwrite replaces it"


@dataclass(frozen=True)
class Match:
    """What the graph has for a record of a file.

    Attributes:
        state: whether the graph has no such record, an equal or a different one, or cannot have the
            record.
        reason: why the record cannot be written, or not without `overwrite`.
        target: fields by which a statement finds where to write.
        stored: the properties of a different record.
    """

    state: Literal["new", "equal", "different", "impossible"]
    reason: str = ""
    target: Mapping[str, Any] = field(default_factory=dict)
    stored: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Matcher:
    """Finds what the graph of a user has for records of a file.

    Attributes:
        services: the parts of the graph.
        user_id: owner of the records.
    """

    services: GraphServices
    user_id: str

    async def find(self, records: Sequence[ExportedRecord]) -> list[Match]:
        """Find what the graph has for records of one kind.

        Raises:
            StoreError: the database failed.
        """
        finders: dict[str, Callable[[Any], Awaitable[list[Match]]]] = {
            "node": self._nodes,
            "relationship": self._relationships,
            "deleted": self._deleted,
        }
        return await finders[records[0].kind](records)

    async def _nodes(self, records: Sequence[ExportedNode]) -> list[Match]:
        """Find nodes by label and key; a node that would be a second owner is impossible."""
        rows = await self._find("nodes", keys=list({record.entity_key for record in records}))
        stored = {
            (label, row["entity_key"]): row["record"]
            for row in rows
            if row["record"] is not None
            for label in row["record"]["labels"]
        }
        matches = [self._match_node(record, stored) for record in records]
        owner_label = self.services.ontology.owner_label
        marked = [
            position
            for position, record in enumerate(records)
            if record.properties.get("is_owner") is True and owner_label in record.labels
        ]
        if marked:
            owners = {
                owner.entity_key for owner in await self.services.resolver.owners(self.user_id)
            }
            for position in marked:
                key = records[position].entity_key
                if matches[position].state != "equal" and owners - {key}:
                    matches[position] = Match("impossible", "the graph has another owner")
                owners.add(key)
        return matches

    async def _relationships(self, records: Sequence[ExportedRelationship]) -> list[Match]:
        """Find relationships between their nodes by their keys, and those without a key by their
        content.
        """
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
        rows = {row["position"]: row for row in await self._find("relationships", rows=wanted)}
        return [
            self._match_relationship(record, rows[position])
            for position, record in enumerate(records)
        ]

    async def _deleted(self, records: Sequence[ExportedDeletion]) -> list[Match]:
        """Find deleted records by their content, as several may have one key; none is ever
        different.
        """
        times = {str(_time_text(record.properties.get("kgagent_deleted_at"))) for record in records}
        rows = await self._find("deleted", texts=sorted(times))
        stored = {self._content(row["record"]) for row in rows if row["record"] is not None}
        return [
            Match("equal")
            if _content(record) in stored
            else Match("new", target={"labels": [record.label]})
            for record in records
        ]

    def _match_node(self, record: ExportedNode, stored: Mapping[tuple[str, str], Row]) -> Match:
        label = ontology_label(record.labels, self.services.ontology)
        target = {"label": label, "labels": list(record.labels), "entity_key": record.entity_key}
        row = stored.get((label, record.entity_key))
        if row is None:
            return Match("new", target=target)
        if self._content(row) == _content(record):
            return Match("equal")
        return self._different(target, row)

    def _match_relationship(self, record: ExportedRelationship, row: Row) -> Match:
        missing = [
            node[1]
            for node, found in ((record.start, row["start_id"]), (record.end, row["end_id"]))
            if found is None
        ]
        if missing:
            return Match("impossible", f"the node {missing[0]} does not exist")
        if _content(record) in map(self._content, row["records"]):
            return Match("equal")
        stored = {
            self._exported(other).properties.get("relationship_key"): other
            for other in row["records"]
        }
        is_old = record.key is None
        if (
            is_old
            and record.neo4j_type in self.services.ontology.relationships
            and stored.keys() - {None}
        ):
            return Match("impossible", "the two nodes have a relationship of the type already")
        target = {
            "neo4j_type": record.neo4j_type,
            "start_id": row["start_id"],
            "start_key": record.start[1],
            "end_id": row["end_id"],
            "end_key": record.end[1],
        }
        if is_old or record.key not in stored:
            return Match("new", target=target)
        other = stored[record.key]
        if other["from_entity_key"] != record.start[1]:
            return Match("impossible", "the graph has it in the opposite direction")
        return self._different(target, other)

    def _different(self, target: Mapping[str, Any], row: Row) -> Match:
        target = {**target, "element_id": row["element_id"]}
        return Match("different", DIFFERENT, target, self._exported(row).decoded())

    async def _find(self, kind: str, **parameters: object) -> list[Row]:
        find = statement(
            f"find_imported_{kind}",
            labels=Identifier.any_of(self.services.ontology.labels),
            all_deleted=DELETED_NAMES["all_deleted"],
        )
        omitted = [*NOT_EXPORTED, *EMBEDDING_PROPERTIES]
        return await self.services.store.read(
            find, {"user_id": self.user_id, "omitted": omitted, **parameters}
        )

    def _exported(self, row: Row) -> ExportedRecord:
        return exported_record(row, self.user_id, self.services.ontology)

    def _content(self, row: Row) -> str:
        return _content(self._exported(row))


def _content(record: ExportedRecord) -> str:
    """What two equal records have in common: all but their versions, and embeddings, which follow
    from their texts.
    """
    ignored = {"version", *EMBEDDING_PROPERTIES}
    properties = {name: value for name, value in record.properties.items() if name not in ignored}
    return dump_json(record.model_copy(update={"properties": properties}).model_dump())


def _time_text(value: object) -> object:
    return next(iter(value.values()), None) if isinstance(value, dict) else value
