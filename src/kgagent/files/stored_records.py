"""Reads the records of one user page by page, in an order that depends on their content alone."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from kgagent.batches import split_by_size
from kgagent.errors import ConflictError
from kgagent.files.export_format import DeletedLine, NodeLine, RecordLine, RelationshipLine
from kgagent.files.json_lines import dump_line
from kgagent.files.property_values import encode_property
from kgagent.graph.deleted_records import DELETED_NAMES, LONG_TIMEOUT
from kgagent.graph.identifiers import Identifier
from kgagent.graph.property_names import OLD_EMBEDDINGS
from kgagent.graph.records import ontology_label
from kgagent.graph.schema_parts import DELETED_NODE, DELETED_RELATIONSHIP
from kgagent.graph.statements import Statement, statement
from kgagent.graph.store import Row, Store
from kgagent.ontology import Ontology

EMBEDDING_PROPERTIES = frozenset(
    {"embedding", "relationship_embedding", "embedding_hash", "embedding_model", *OLD_EMBEDDINGS}
)
"""What a file without embeddings does not have."""

MAX_READS = 20
"""Times that a record is read until two reads in a row agree."""

Lines = dict[str, bytes]
"""Lines of a file by the element id of their record."""


def node_line(record: Row, user_id: str) -> NodeLine:
    """The line of a node."""
    return NodeLine(user_id=user_id, labels=tuple(sorted(record["labels"])), properties=encoded_properties(record))


def relationship_line(record: Row, user_id: str, ontology: Ontology) -> RelationshipLine:
    """The line of a relationship."""
    return RelationshipLine(
        user_id=user_id,
        neo4j_type=record["neo4j_type"],
        start=(ontology_label(record["from_labels"], ontology), record["from_entity_key"]),
        end=(ontology_label(record["to_labels"], ontology), record["to_entity_key"]),
        properties=encoded_properties(record),
    )


def deleted_line(record: Row, user_id: str) -> DeletedLine:
    """The line of what is kept of a deleted record."""
    [label] = {DELETED_NODE, DELETED_RELATIONSHIP} & set(record["labels"])
    return DeletedLine(user_id=user_id, label=label, properties=encoded_properties(record))


def encoded_properties(record: Row) -> dict[str, Any]:
    """The properties of a record as a file has them."""
    return {name: encode_property(name, kind, value) for name, kind, value in record["properties"]}


async def all_users(store: Store, ontology: Ontology) -> list[str]:
    """Find the users who have records, in order.

    Raises:
        StoreError: the database failed.
    """
    labels = Identifier.any_of([*ontology.labels, DELETED_NODE, DELETED_RELATIONSHIP])
    rows = await store.read(statement("list_users", labels=labels), {}, timeout=LONG_TIMEOUT)
    return sorted(row["user_id"] for row in rows)


@dataclass(frozen=True)
class UserRecords:
    """The records of one user.

    The pages are read one after the other, each in transactions of its own. Each record is read until two reads in a
    row agree, since Neo4j applies a commit property by property.

    Attributes:
        store: the database.
        ontology: labels of the nodes.
        user_id: owner of the records.
        omitted: names of properties that are not read.
        page_size: maximum number of records of a page.
    """

    store: Store
    ontology: Ontology
    user_id: str
    omitted: frozenset[str]
    page_size: int

    async def nodes(self) -> AsyncIterator[list[bytes]]:
        """Pages of nodes, by label and key."""
        async for page in self._node_pages():
            ids = [row["element_id"] for row in page]
            yield await self._lines(_read_nodes(), ids, lambda record: node_line(record, self.user_id))

    async def relationships(self) -> AsyncIterator[tuple[list[bytes], int]]:
        """Pages of relationships, by start and end, each with the number of relationships to nodes of no key or user.

        Of the relationships that start at one node, only ids and keys are ever in memory together.
        """
        read = statement("read_exported_relationships")
        async for page in self._node_pages():
            connected = (row for row in page if row["outgoing"])
            for starts in split_by_size(connected, lambda row: int(row["outgoing"]), max_size=self.page_size):
                found, foreign = await self._relationships_from([row["element_id"] for row in starts])
                for start in range(0, max(len(found), 1), self.page_size):
                    ids = found[start : start + self.page_size]
                    lines = await self._lines(read, ids, self._relationship_line)
                    yield lines, foreign if start == 0 else 0

    async def deleted(self) -> AsyncIterator[list[bytes]]:
        """Pages of what is kept of deleted records; ids and keys of all of them are in memory."""
        rows = await self._read(statement("list_deleted", all_deleted=DELETED_NAMES["all_deleted"]))
        rows.sort(key=lambda row: (row["sort_key"], row["element_id"]))
        ids = [row["element_id"] for row in rows]
        for start in range(0, len(ids), self.page_size):
            page = ids[start : start + self.page_size]
            yield await self._lines(_read_nodes(), page, lambda record: deleted_line(record, self.user_id))

    async def without_key(self) -> int:
        """Number of nodes that cannot be exported, because they have no key."""
        labels = Identifier.any_of(self.ontology.labels)
        [row] = await self._read(statement("count_nodes_without_key", labels=labels))
        return int(row["found"])

    def _relationship_line(self, record: Row) -> RelationshipLine:
        return relationship_line(record, self.user_id, self.ontology)

    async def _node_pages(self) -> AsyncIterator[list[Row]]:
        """Pages of ids and keys of nodes; a node of several labels belongs to the first of the ontology's."""
        for label in self.ontology.labels:
            after = ""
            while True:
                rows = await self._read(
                    statement("list_nodes", label=Identifier(label)), after=after, limit=self.page_size
                )
                own = [row for row in rows if row["labels"] and ontology_label(row["labels"], self.ontology) == label]
                if own:
                    yield own
                if len(rows) < self.page_size:
                    break
                after = rows[-1]["entity_key"]

    async def _relationships_from(self, starts: Sequence[str]) -> tuple[list[str], int]:
        """Ids of the relationships that start at nodes, in order, and the number of those that cannot be exported."""
        rows = await self._read(statement("list_relationships_from"), element_ids=starts)
        whole = [row for row in rows if row["neo4j_type"]]
        own = [
            row
            for row in whole
            if row["is_own"]
            and isinstance(row["to_entity_key"], str)
            and row["to_entity_key"]
            and any(label in self.ontology.labels for label in row["to_labels"])
        ]
        place = {element_id: position for position, element_id in enumerate(starts)}
        own.sort(
            key=lambda row: (
                place[row["start_id"]],
                row["neo4j_type"],
                self.ontology.label_order[ontology_label(row["to_labels"], self.ontology)],
                row["to_entity_key"],
                row["relationship_key"] is not None,
                str(row["relationship_key"]),
                sorted(row["texts"] or ()),
                row["element_id"],
            )
        )
        return [row["element_id"] for row in own], len(whole) - len(own)

    async def _lines(self, read: Statement, ids: Sequence[str], line_of: Callable[[Row], RecordLine]) -> list[bytes]:
        """Read records until two reads in a row agree; a record that is deleted meanwhile is omitted.

        Raises:
            ConflictError: concurrent writes kept changing a record.
            StoreError: the database failed.
        """
        confirmed: Lines = {}
        before: Lines = {}
        open_ids = list(ids)
        for _ in range(MAX_READS):
            if not open_ids:
                return [confirmed[one] for one in ids if one in confirmed]
            [row] = await self._read(read, element_ids=open_ids, omitted=sorted(self.omitted))
            now = await asyncio.to_thread(_dump, row["records"], line_of)
            confirmed |= {one: line for one, line in now.items() if before.get(one) == line}
            open_ids = [one for one in open_ids if one in now and one not in confirmed]
            before = now
        raise ConflictError(f"{len(open_ids)} records of user {self.user_id!r} keep changing. Export again")

    async def _read(self, text: Statement, **parameters: object) -> list[Row]:
        return await self.store.read(text, {"user_id": self.user_id, **parameters})


def _read_nodes() -> Statement:
    return statement("read_exported_nodes")


def _dump(records: Sequence[Row], line_of: Callable[[Row], RecordLine]) -> Lines:
    return {record["element_id"]: dump_line(line_of(record)) for record in records}
