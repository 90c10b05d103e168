"""The records of one user, and what every write of them needs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kgagent.errors import ConstraintViolationError, EntityGoneError
from kgagent.graph.nodes import NodeRepository
from kgagent.graph.records import NodeRecord, Record
from kgagent.graph.relationships import RelationshipRepository
from kgagent.graph.statements import Filling, statement
from kgagent.graph.writes import RecordKind, WriteContext


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
