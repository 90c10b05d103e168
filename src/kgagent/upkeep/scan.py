"""Reading all nodes or all relationships, of every user or of one, with what maintenance needs of each."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Literal, TypeVar

from kgagent.graph.nodes import NodeRepository
from kgagent.graph.records import NodeRecord, RelationshipRecord, as_text, ontology_label
from kgagent.graph.relationships import RelationshipRepository
from kgagent.graph.statements import Fragment, Statement, statement
from kgagent.graph.store import Row
from kgagent.ontology import Ontology

Kind = Literal["nodes", "relationships"]
ReadT = TypeVar("ReadT")


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

    def __str__(self) -> str:
        """Name it for a person who searches for it."""
        record = self.record
        return f"{record.neo4j_type} {record.from_entity_key!r} -> {record.to_entity_key!r} ({record.element_id})"


Inspected = InspectedNode | InspectedRelationship
InspectedT = TypeVar("InspectedT", InspectedNode, InspectedRelationship)


@dataclass(frozen=True, kw_only=True)
class Scan(ABC, Generic[InspectedT]):
    """All records of a kind; they are never all in memory.

    Attributes:
        user_id: owner of the nodes, or of the nodes at which the relationships start; None is every record, including
            those without an owner.
        element_ids: only the records with these ids.
        mentioned: only records whose notes contain this text; needs `user_id`.
    """

    kind: ClassVar[Kind]
    noun: ClassVar[str]
    user_id: str | None
    element_ids: Sequence[str] | None = None
    mentioned: str | None = None

    async def count(self) -> int:
        """Count the records.

        Raises:
            StoreError: the database failed.
        """
        [row] = await self._repository.store.read(self._statement(f"_{self.noun}_count"), self._parameters)
        return int(row["count"])

    def ids(self) -> AbstractAsyncContextManager[AsyncIterator[str]]:
        """Iterate over the ids of the records.

        Raises:
            StoreError: the database failed.
        """
        return self._stream(f"_{self.noun}_id", lambda row: str(row["element_id"]))

    def records(self) -> AbstractAsyncContextManager[AsyncIterator[InspectedT]]:
        """Iterate over the records.

        Raises:
            StoreError: the database failed.
        """
        return self._stream(f"_inspected_{self.noun}", self._read)

    @property
    @abstractmethod
    def _repository(self) -> NodeRepository | RelationshipRepository: ...

    @abstractmethod
    def _read(self, row: Row) -> InspectedT: ...

    @asynccontextmanager
    async def _stream(self, row: str, read: Callable[[Row], ReadT]) -> AsyncIterator[AsyncIterator[ReadT]]:
        async with self._repository.store.stream(self._statement(row), self._parameters) as rows:
            # A record that was deleted while the statement ran has no labels or type.
            yield (read(row) async for row in rows if row.get("labels", True) and row.get("neo4j_type", True))

    def _statement(self, row: str) -> Statement:
        if self.element_ids is not None:
            which = f"_{self.noun}_of_ids"
        elif self.mentioned is not None:
            which = f"_{self.noun}_that_mentions"
        else:
            which = "_all" if self.user_id is None else f"_{self.noun}_of_user"
        return statement(f"inspect_{self.kind}", row=Fragment(row), which=Fragment(which), **self._repository.names)

    @property
    def _parameters(self) -> dict[str, Any]:
        ids = None if self.element_ids is None else list(self.element_ids)
        return {"user_id": self.user_id, "element_ids": ids, "mentioned": self.mentioned}


@dataclass(frozen=True, kw_only=True)
class NodeScan(Scan[InspectedNode]):
    """All nodes with a label of the ontology."""

    kind = "nodes"
    noun = "node"
    nodes: NodeRepository

    @property
    def _repository(self) -> NodeRepository:
        return self.nodes

    def _read(self, row: Row) -> InspectedNode:
        return InspectedNode(
            record=NodeRecord.read(row, self.nodes.ontology),
            user_id=as_text(row["user_id"]),
            has_vector=row["has_vector"],
        )


@dataclass(frozen=True, kw_only=True)
class RelationshipScan(Scan[InspectedRelationship]):
    """All relationships with a type of the ontology."""

    kind = "relationships"
    noun = "relationship"
    relationships: RelationshipRepository

    @property
    def _repository(self) -> RelationshipRepository:
        return self.relationships

    def _read(self, row: Row) -> InspectedRelationship:
        ontology = self.relationships.ontology
        start, end = _end(row["first"], ontology), _end(row["last"], ontology)
        keys = {"from_entity_key": start.entity_key, "to_entity_key": end.entity_key}
        return InspectedRelationship(
            record=RelationshipRecord.read({**row, **keys, "from_name": "", "to_name": ""}),
            start=start,
            end=end,
            has_vector=row["has_vector"],
            is_duplicate=row["is_duplicate"],
        )


def _end(values: Sequence[Any], ontology: Ontology) -> InspectedEnd:
    labels, entity_key, user_id = values
    has_label = any(label in ontology.labels for label in labels)
    return InspectedEnd(
        entity_key=as_text(entity_key),
        user_id=as_text(user_id),
        label=ontology_label(labels, ontology) if has_label else "",
    )
