"""The records of one user, and what every write of them needs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kgagent.errors import ConstraintViolationError, EntityGoneError
from kgagent.graph.nodes import NodeIntent, NodeRepository
from kgagent.graph.records import NodeRecord, Record, RelationshipRecord
from kgagent.graph.relationships import RelationshipIntent, RelationshipRepository
from kgagent.graph.statements import Filling, statement
from kgagent.graph.store import Row
from kgagent.graph.writes import RecordKind, WriteContext
from kgagent.models.merged_notes import stored_form


@dataclass(frozen=True)
class UserGraph:
    """The records of one user, and what every write needs."""

    nodes: NodeRepository
    relationships: RelationshipRepository
    context: WriteContext
    user_id: str

    def kind(self, record: Record) -> RecordKind[Any, Any]:
        """How a record is embedded and stored."""
        return self.nodes if isinstance(record, NodeRecord) else self.relationships

    async def citing(
        self, source: str, limit: int
    ) -> tuple[list[NodeRecord], list[RelationshipRecord]]:
        """Records whose notes contain the key of a node, perhaps as their source.

        Raises:
            StoreError: the database failed.
        """

        async def rows(name: str) -> list[Row]:
            parameters = {"user_id": self.user_id, "limit": limit, "text": stored_form(source)}
            text = statement(name, **self.relationships.names)
            return await self.nodes.store.read_for_update(text, parameters)

        nodes = [
            NodeRecord.read(row["node"], self.nodes.ontology)
            for row in await rows("read_nodes_that_mention")
        ]
        of_relationships = await rows("read_relationships_that_mention")
        return nodes, [RelationshipRecord.read(row["relationship"]) for row in of_relationships]

    async def write(self, name: str, parameters: Mapping[str, Any], **fillings: Filling) -> bool:
        """Run a statement that writes nothing, and returns no row, if something has changed since
        it was read.

        Raises:
            StoreError: the database failed.
        """
        text = statement(name, **self.relationships.names, **fillings)
        try:
            return bool(await self.nodes.store.write(text, {"user_id": self.user_id, **parameters}))
        except (ConstraintViolationError, EntityGoneError):
            return False


def intent_of(record: NodeRecord | RelationshipRecord) -> NodeIntent | RelationshipIntent:
    """An intent to write a stored record."""
    if isinstance(record, NodeRecord):
        return NodeIntent(entity_key=record.entity_key)
    return RelationshipIntent(
        from_entity_key=record.from_entity_key,
        to_entity_key=record.to_entity_key,
        neo4j_type=record.neo4j_type,
        element_id=record.element_id,
    )
