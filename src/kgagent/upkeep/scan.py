"""Reading all nodes or all relationships, of every user or of one, and how they are examined and written."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Generic, Literal, TypeVar

from kgagent.embedding.base import Embedder
from kgagent.graph.compare_and_set import WriteStrategy
from kgagent.graph.nodes import NodeIntent, NodeRepository, NodeStrategy
from kgagent.graph.records import NodeRecord, RelationshipRecord, as_text, ontology_label
from kgagent.graph.relationships import RelationshipIntent, RelationshipRepository, RelationshipStrategy
from kgagent.graph.statements import Fragment, Statement, statement
from kgagent.graph.store import Row
from kgagent.graph.writes import WriteContext, WriteOptions, WriteResult
from kgagent.ontology import Ontology
from kgagent.services import GraphServices
from kgagent.upkeep.examination import (
    Examination,
    InspectedEnd,
    InspectedNode,
    InspectedRelationship,
    examine_node,
    examine_relationship,
)

Kind = Literal["nodes", "relationships"]
Strategy = WriteStrategy[Any, Any, Any, WriteResult[Any]]
InspectedT = TypeVar("InspectedT", InspectedNode, InspectedRelationship)
ReadT = TypeVar("ReadT")


@dataclass(frozen=True, kw_only=True)
class ScannedNodeIntent(NodeIntent):
    """What to write of a node that was scanned, with its id."""

    element_id: str


@dataclass(frozen=True, kw_only=True)
class ScannedRelationshipIntent(RelationshipIntent):
    """What to write of a relationship that was scanned, with its id."""

    element_id: str


ScannedIntent = ScannedNodeIntent | ScannedRelationshipIntent


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Which records are scanned.

    Attributes:
        user_id: owner of the nodes, or of the nodes at which the relationships start; None is every record, including
            those without an owner.
        element_ids: only the records with these ids.
        mentioned: only records of the user whose notes contain this text.
    """

    user_id: str | None
    element_ids: Sequence[str] | None = None
    mentioned: str | None = None


class Scan(ABC, Generic[InspectedT]):
    """All records of a kind that are selected; they are never all in memory."""

    kind: ClassVar[Kind]
    noun: ClassVar[str]

    def __init__(self, repository: NodeRepository | RelationshipRepository, selection: Selection) -> None:
        self._store = repository.store
        self._names = repository.names
        self._selection = selection

    async def count(self) -> int:
        """Count the records.

        Raises:
            StoreError: the database failed.
        """
        [row] = await self._store.read(self._statement(f"_{self.noun}_count"), self._parameters)
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

    @abstractmethod
    def text(self, inspected: InspectedT, now: datetime) -> str:
        """The embedding text of a record, without notes that have expired by `now`."""

    @abstractmethod
    def examine(self, inspected: InspectedT, embedder: Embedder, now: datetime) -> Examination:
        """Examine a record; notes that have expired by `now` do not count."""

    @abstractmethod
    def intent(self, inspected: InspectedT) -> ScannedIntent:
        """An intent to write a record."""

    @abstractmethod
    def strategy(self, user_id: str, context: WriteContext, options: WriteOptions[Any, Any]) -> Strategy:
        """The strategy that writes records of a user."""

    @abstractmethod
    def _read(self, row: Row) -> InspectedT: ...

    @asynccontextmanager
    async def _stream(self, row: str, read: Callable[[Row], ReadT]) -> AsyncIterator[AsyncIterator[ReadT]]:
        async with self._store.stream(self._statement(row), self._parameters) as rows:
            # A record that was deleted while the statement ran has no labels or type.
            yield (read(row) async for row in rows if row.get("labels", True) and row.get("neo4j_type", True))

    def _statement(self, row: str) -> Statement:
        if self._selection.element_ids is not None:
            which = f"_{self.noun}_of_ids"
        elif self._selection.mentioned is not None:
            which = f"_{self.noun}_that_mentions"
        else:
            which = "_all" if self._selection.user_id is None else f"_{self.noun}_of_user"
        return statement(f"inspect_{self.kind}", row=Fragment(row), which=Fragment(which), **self._names)

    @property
    def _parameters(self) -> dict[str, Any]:
        chosen = self._selection
        ids = None if chosen.element_ids is None else list(chosen.element_ids)
        return {"user_id": chosen.user_id, "element_ids": ids, "mentioned": chosen.mentioned}


class NodeScan(Scan[InspectedNode]):
    """Nodes with a label of the ontology."""

    kind = "nodes"
    noun = "node"

    def __init__(self, services: GraphServices, selection: Selection) -> None:
        super().__init__(services.nodes, selection)
        self._nodes = services.nodes

    def text(self, inspected: InspectedNode, now: datetime) -> str:
        """The embedding text of a node."""
        return self._nodes.text(inspected.record, now)

    def examine(self, inspected: InspectedNode, embedder: Embedder, now: datetime) -> Examination:
        """Examine a node."""
        return examine_node(inspected, self._nodes, embedder, now)

    def intent(self, inspected: InspectedNode) -> ScannedNodeIntent:
        """An intent to write a node."""
        return ScannedNodeIntent(entity_key=inspected.record.entity_key, element_id=inspected.record.element_id)

    def strategy(self, user_id: str, context: WriteContext, options: WriteOptions[Any, Any]) -> NodeStrategy:
        """The strategy that writes nodes of a user."""
        return NodeStrategy(self._nodes, context, user_id=user_id, options=options)

    def _read(self, row: Row) -> InspectedNode:
        return InspectedNode(
            record=NodeRecord.read(row, self._nodes.ontology),
            user_id=as_text(row["user_id"]),
            has_vector=row["has_vector"],
        )


class RelationshipScan(Scan[InspectedRelationship]):
    """Relationships with a type of the ontology."""

    kind = "relationships"
    noun = "relationship"

    def __init__(self, services: GraphServices, selection: Selection) -> None:
        super().__init__(services.relationships, selection)
        self._relationships = services.relationships

    def text(self, inspected: InspectedRelationship, now: datetime) -> str:
        """The embedding text of a relationship."""
        return self._relationships.text(inspected.record, now)

    def examine(self, inspected: InspectedRelationship, embedder: Embedder, now: datetime) -> Examination:
        """Examine a relationship."""
        return examine_relationship(inspected, self._relationships, embedder, now)

    def intent(self, inspected: InspectedRelationship) -> ScannedRelationshipIntent:
        """An intent to write a relationship."""
        record = inspected.record
        return ScannedRelationshipIntent(
            from_entity_key=record.from_entity_key,
            to_entity_key=record.to_entity_key,
            neo4j_type=record.neo4j_type,
            element_id=record.element_id,
        )

    def strategy(self, user_id: str, context: WriteContext, options: WriteOptions[Any, Any]) -> RelationshipStrategy:
        """The strategy that writes relationships of a user."""
        return RelationshipStrategy(self._relationships, context, user_id=user_id, options=options)

    def _read(self, row: Row) -> InspectedRelationship:
        ontology = self._relationships.ontology
        start, end = _end(row["first"], ontology), _end(row["last"], ontology)
        keys = {"from_entity_key": start.entity_key, "to_entity_key": end.entity_key}
        return InspectedRelationship(
            record=RelationshipRecord.read({**row, **keys, "from_name": "", "to_name": ""}),
            start=start,
            end=end,
            has_vector=row["has_vector"],
            is_duplicate=row["is_duplicate"],
        )


SCANS: dict[Kind, Callable[[GraphServices, Selection], Scan[Any]]] = {
    "nodes": NodeScan,
    "relationships": RelationshipScan,
}
"""The scan of each kind, in the order of maintenance."""


def _end(values: Sequence[Any], ontology: Ontology) -> InspectedEnd:
    labels, entity_key, user_id = values
    has_label = any(label in ontology.labels for label in labels)
    return InspectedEnd(
        entity_key=as_text(entity_key),
        user_id=as_text(user_id),
        label=ontology_label(labels, ontology) if has_label else "",
    )
