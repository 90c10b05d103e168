"""Reading all nodes and relationships, of every user or of one, to check whether they are in the current form."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from kgagent.graph.identifiers import Identifier
from kgagent.graph.nodes import NodeRepository
from kgagent.graph.records import NodeRecord, RelationshipRecord, as_text, ontology_label
from kgagent.graph.relationships import RelationshipRepository
from kgagent.graph.statements import Filling, Fragment, statement
from kgagent.graph.store import Row, Store
from kgagent.ontology import Ontology

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

    def __str__(self) -> str:
        """Name it for a person who searches for it."""
        record = self.record
        return f"{record.neo4j_type} {record.from_entity_key!r} -> {record.to_entity_key!r} ({record.element_id})"


async def count_nodes(nodes: NodeRepository, user_id: str | None) -> int:
    """Count the nodes that `inspect_nodes` yields.

    Raises:
        StoreError: the database failed.
    """
    return await _total(nodes.store, "total_nodes", nodes.names, user_id)


async def count_relationships(relationships: RelationshipRepository, user_id: str | None) -> int:
    """Count the relationships that `inspect_relationships` yields.

    Raises:
        StoreError: the database failed.
    """
    return await _total(relationships.store, "total_relationships", relationships.names, user_id)


async def count_nodes_by_label(nodes: NodeRepository, user_id: str) -> dict[str, int]:
    """Count one user's nodes by label, in the order of the ontology; a node with several labels counts for the first.

    Raises:
        StoreError: the database failed.
    """
    labels = list(nodes.ontology.labels)
    rows = await nodes.store.read(
        statement("count_nodes_by_label", **nodes.names),
        {"user_id": user_id, "label_order": dict(nodes.ontology.label_order)},
    )
    found = {labels[row["place"]]: int(row["found"]) for row in rows}
    return {label: found.get(label, 0) for label in labels}


async def count_relationships_by_type(relationships: RelationshipRepository, user_id: str) -> dict[str, int]:
    """Count the relationships between one user's nodes by type, in the order of the ontology.

    Raises:
        StoreError: the database failed.
    """
    rows = await relationships.store.read(
        statement("count_relationships_by_type", **relationships.names), {"user_id": user_id}
    )
    found = {str(row["neo4j_type"]): int(row["found"]) for row in rows}
    return {neo4j_type: found.get(neo4j_type, 0) for neo4j_type in relationships.ontology.relationships}


@asynccontextmanager
async def inspect_nodes(
    nodes: NodeRepository, user_id: str | None, *, element_ids: Sequence[str] | None = None
) -> AsyncIterator[AsyncIterator[InspectedNode]]:
    """Iterate over the nodes; they are never all in memory.

    Args:
        nodes: the database and the labels.
        user_id: owner of the nodes; None is every node, including those without an owner.
        element_ids: ids of the nodes; None is all of them.

    Raises:
        StoreError: the database failed.
    """

    def read(row: Row) -> InspectedNode:
        return _node(row, nodes.ontology)

    async with _stream(nodes.store, "node", nodes.names, user_id, read, element_ids=element_ids) as found:
        yield found


@asynccontextmanager
async def inspect_relationships(
    relationships: RelationshipRepository, user_id: str | None, *, element_ids: Sequence[str] | None = None
) -> AsyncIterator[AsyncIterator[InspectedRelationship]]:
    """Iterate over the relationships; they are never all in memory.

    Args:
        relationships: the database and the types.
        user_id: owner of the nodes at which they start; None is every relationship.
        element_ids: ids of the relationships; None is all of them.

    Raises:
        StoreError: the database failed.
    """

    def read(row: Row) -> InspectedRelationship:
        return _relationship(row, relationships.ontology)

    store, names = relationships.store, relationships.names
    async with _stream(store, "relationship", names, user_id, read, element_ids=element_ids) as found:
        yield found


def node_ids(nodes: NodeRepository, user_id: str | None) -> AbstractAsyncContextManager[AsyncIterator[str]]:
    """Iterate over the ids of the nodes that `inspect_nodes` yields.

    Raises:
        StoreError: the database failed.
    """
    return _stream(nodes.store, "node", nodes.names, user_id, _id, row="_node_id")


def relationship_ids(
    relationships: RelationshipRepository, user_id: str | None
) -> AbstractAsyncContextManager[AsyncIterator[str]]:
    """Iterate over the ids of the relationships that `inspect_relationships` yields.

    Raises:
        StoreError: the database failed.
    """
    store, names = relationships.store, relationships.names
    return _stream(store, "relationship", names, user_id, _id, row="_relationship_id")


def _id(row: Row) -> str:
    return str(row["element_id"])


def _node(row: Row, ontology: Ontology) -> InspectedNode:
    return InspectedNode(
        record=NodeRecord(
            element_id=row["element_id"],
            label=ontology_label(row["labels"], ontology),
            vector_length=row["vector_length"],
            properties=_present(row["properties"]),
        ),
        user_id=as_text(row["user_id"]),
        has_vector=row["has_vector"],
    )


def _relationship(row: Row, ontology: Ontology) -> InspectedRelationship:
    start, end = _end(row["first"], ontology), _end(row["last"], ontology)
    return InspectedRelationship(
        record=RelationshipRecord(
            element_id=row["element_id"],
            neo4j_type=row["neo4j_type"],
            from_entity_key=start.entity_key,
            to_entity_key=end.entity_key,
            from_name="",
            to_name="",
            vector_length=row["vector_length"],
            has_old_embeddings=row["has_old_embeddings"],
            properties={},
        ).with_stored(row["properties"]),
        start=start,
        end=end,
        has_vector=row["has_vector"],
        is_duplicate=row["is_duplicate"],
    )


def _end(found: Sequence[Any], ontology: Ontology) -> InspectedEnd:
    labels, entity_key, user_id = found
    known = any(label in ontology.labels for label in labels)
    return InspectedEnd(
        entity_key=as_text(entity_key),
        user_id=as_text(user_id),
        label=ontology_label(labels, ontology) if known else "",
    )


def _present(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in properties.items() if value is not None}


async def _total(store: Store, name: str, names: Mapping[str, Identifier], user_id: str | None) -> int:
    [row] = await store.read(_scoped(name, names, user_id), {"user_id": user_id})
    return int(row["found"])


@asynccontextmanager
async def _stream(
    store: Store,
    noun: str,
    names: Mapping[str, Identifier],
    user_id: str | None,
    read: Callable[[Row], ReadT],
    *,
    row: str | None = None,
    element_ids: Sequence[str] | None = None,
) -> AsyncIterator[AsyncIterator[ReadT]]:
    places: dict[str, Filling] = {
        **names,
        "row": Fragment(row or f"_inspected_{noun}"),
        "which": Fragment("_all" if element_ids is None else f"_{noun}_of_ids"),
    }
    parameters = {"user_id": user_id} | ({} if element_ids is None else {"element_ids": list(element_ids)})
    async with store.stream(_scoped(f"inspect_{noun}s", places, user_id), parameters) as rows:
        # A record that was deleted while the statement ran has no labels or type.
        yield (read(row) async for row in rows if row.get("labels", True) and row.get("neo4j_type", True))


def _scoped(name: str, places: Mapping[str, Filling], user_id: str | None) -> str:
    return statement(name if user_id is None else f"{name}_of_user", **places)
