"""How nodes, relationships and deleted records of a file are found in the graph, and which statements write them."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Literal, TypeVar

from kgagent.files.export_format import DeletedLine, NodeLine, RecordLine, RelationshipLine
from kgagent.files.json_lines import dump_json
from kgagent.files.stored_records import EMBEDDING_PROPERTIES, deleted_line, node_line, relationship_line
from kgagent.graph.deleted_records import DELETED_NAMES
from kgagent.graph.identifiers import Identifier
from kgagent.graph.node_references import NodeReferences
from kgagent.graph.records import ontology_label
from kgagent.graph.statements import Statement, statement
from kgagent.graph.store import Row, Store
from kgagent.ontology import Ontology

LineT = TypeVar("LineT", NodeLine, RelationshipLine, DeletedLine)

State = Literal["new", "equal", "different", "impossible"]


@dataclass(frozen=True)
class Place:
    """Where the graph has, or will have, a record of a file.

    Attributes:
        state: whether it has none, an equal or a different one, or can have none.
        reason: why it can have none.
        location: fields by which a statement finds the place.
    """

    state: State
    reason: str = ""
    location: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ImportKind(ABC, Generic[LineT]):
    """The records of one kind.

    Attributes:
        store: the database.
        ontology: labels of the nodes.
        compares_embeddings: whether records with different embeddings differ.
    """

    name: ClassVar[Literal["nodes", "relationships", "deleted"]]

    store: Store
    ontology: Ontology
    compares_embeddings: bool

    @abstractmethod
    async def find(self, user_id: str, lines: Sequence[LineT]) -> list[Place]:
        """Find the place of each record.

        Raises:
            StoreError: the database failed.
        """

    @abstractmethod
    def create(self) -> Statement:
        """The statement that creates records."""

    @abstractmethod
    def overwrite(self) -> Statement:
        """The statement that changes records."""

    @abstractmethod
    def title(self, line: LineT) -> str:
        """The record for a message."""

    def _content(self, line: RecordLine) -> str:
        """What two equal records have in common: all but their versions, and embeddings that are made again."""
        ignored = {"version"} if self.compares_embeddings else {"version", *EMBEDDING_PROPERTIES}
        properties = {name: value for name, value in line.properties.items() if name not in ignored}
        return dump_json(line.model_copy(update={"properties": properties}).model_dump())

    @property
    def _omitted(self) -> list[str]:
        return [] if self.compares_embeddings else sorted(EMBEDDING_PROPERTIES)


class ImportedNodes(ImportKind[NodeLine]):
    """The nodes, found by label and key."""

    name = "nodes"

    async def find(self, user_id: str, lines: Sequence[NodeLine]) -> list[Place]:
        """Find nodes by their keys."""
        rows = await self.store.read(
            statement("find_imported_nodes", **self._names),
            {"user_id": user_id, "keys": list({line.entity_key for line in lines}), "omitted": self._omitted},
        )
        found: dict[tuple[str, str], tuple[str, str]] = {}
        for row in rows:
            if (record := row["record"]) is not None:
                stored = self._content(node_line(record, user_id))
                for label in record["labels"]:
                    found[label, row["entity_key"]] = record["element_id"], stored
        places = [self._place(line, found) for line in lines]
        return await self._with_one_owner(user_id, lines, places)

    async def _with_one_owner(self, user_id: str, lines: Sequence[NodeLine], places: list[Place]) -> list[Place]:
        """The places without those of owners that would be second ones."""
        marked = [position for position, line in enumerate(lines) if self._is_owner(line)]
        if not marked:
            return places
        owners = {owner.entity_key for owner in await NodeReferences(self.store, self.ontology).owners(user_id)}
        for position in marked:
            key = lines[position].entity_key
            if places[position].state != "equal" and owners - {key}:
                places[position] = Place("impossible", "the graph has another owner")
            owners.add(key)
        return places

    def _is_owner(self, line: NodeLine) -> bool:
        return line.properties.get("is_owner") is True and self.ontology.owner_label in line.labels

    def _place(self, line: NodeLine, found: Mapping[tuple[str, str], tuple[str, str]]) -> Place:
        label = ontology_label(line.labels, self.ontology)
        location = {"label": label, "labels": list(line.labels), "entity_key": line.entity_key}
        known = found.get((label, line.entity_key))
        if known is None:
            return Place("new", location=location)
        element_id, stored = known
        state: State = "equal" if stored == self._content(line) else "different"
        return Place(state, location={**location, "element_id": element_id})

    def create(self) -> Statement:
        """The statement that creates nodes."""
        return statement("import_nodes", **self._names)

    def overwrite(self) -> Statement:
        """The statement that changes nodes."""
        return statement("overwrite_nodes", **self._names)

    def title(self, line: NodeLine) -> str:
        """Label and key."""
        return f"{ontology_label(line.labels, self.ontology)} {line.entity_key}"

    @property
    def _names(self) -> dict[str, Identifier]:
        return {"labels": Identifier.any_of(self.ontology.labels)}


class ImportedRelationships(ImportKind[RelationshipLine]):
    """The relationships, found between their nodes by their keys; those without a key by their content."""

    name = "relationships"

    async def find(self, user_id: str, lines: Sequence[RelationshipLine]) -> list[Place]:
        """Find relationships between their nodes."""
        rows = await self.store.read(
            statement("find_imported_relationships", labels=Identifier.any_of(self.ontology.labels)),
            {
                "user_id": user_id,
                "omitted": self._omitted,
                "rows": [
                    {
                        "position": position,
                        "neo4j_type": line.neo4j_type,
                        **{"start_label": line.start[0], "start_key": line.start[1]},
                        **{"end_label": line.end[0], "end_key": line.end[1]},
                    }
                    for position, line in enumerate(lines)
                ],
            },
        )
        by_position = {row["position"]: row for row in rows}
        return [self._place(line, by_position[position], user_id) for position, line in enumerate(lines)]

    def _place(self, line: RelationshipLine, row: Row, user_id: str) -> Place:
        for (_, missing), found in ((line.start, row["start_id"]), (line.end, row["end_id"])):
            if found is None:
                return Place("impossible", f"the node {missing} does not exist")
        location = {
            "neo4j_type": line.neo4j_type,
            **{"start_id": row["start_id"], "start_key": line.start[1]},
            **{"end_id": row["end_id"], "end_key": line.end[1]},
        }
        stored = [(one["element_id"], relationship_line(one, user_id, self.ontology)) for one in row["records"]]
        wanted = self._content(line)
        if any(self._content(one) == wanted for _, one in stored):
            return Place("equal")
        key = line.properties.get("relationship_key")
        keyed = {one.properties.get("relationship_key"): (element_id, one) for element_id, one in stored}
        if key is None and line.neo4j_type in self.ontology.relationships and keyed.keys() - {None}:
            return Place("impossible", "the two nodes have a relationship of the type already")
        if key is None or key not in keyed:
            return Place("new", location=location)
        stored_id, other = keyed[key]
        if other.start != line.start:
            return Place("impossible", "the graph has it in the opposite direction")
        return Place("different", location={**location, "element_id": stored_id})

    def create(self) -> Statement:
        """The statement that creates relationships."""
        return statement("import_relationships")

    def overwrite(self) -> Statement:
        """The statement that changes relationships."""
        return statement("overwrite_relationships")

    def title(self, line: RelationshipLine) -> str:
        """Type and keys of both ends."""
        return f"{line.neo4j_type} {line.start[1]} -> {line.end[1]}"


class ImportedDeleted(ImportKind[DeletedLine]):
    """What is kept of deleted records, found by its content, as several may have one key."""

    name = "deleted"

    async def find(self, user_id: str, lines: Sequence[DeletedLine]) -> list[Place]:
        """Find deleted records with the same content."""
        times = {str(_text(line.properties.get("kgagent_deleted_at"))) for line in lines}
        rows = await self.store.read(
            statement("find_imported_deleted", all_deleted=DELETED_NAMES["all_deleted"]),
            {"user_id": user_id, "texts": sorted(times), "omitted": self._omitted},
        )
        records = [row["record"] for row in rows if row["record"] is not None]
        stored = {self._content(deleted_line(record, user_id)) for record in records}
        return [
            Place("equal") if self._content(line) in stored else Place("new", location={"labels": [line.label]})
            for line in lines
        ]

    def create(self) -> Statement:
        """The statement that creates deleted records."""
        return statement("import_deleted")

    def overwrite(self) -> Statement:
        """No deleted record differs from one of the file: several may have one key."""
        return self.create()

    def title(self, line: DeletedLine) -> str:
        """Its key."""
        key = line.properties.get("relationship_key", line.properties.get("entity_key"))
        return f"deleted {key}"


def _text(value: object) -> object:
    return next(iter(value.values()), None) if isinstance(value, dict) else value
