"""What surrounds some nodes: relationships among them, and their neighbours one hop away."""

from collections.abc import Sequence

from kgagent.concurrency import task_group
from kgagent.graph.records import NodeRecord, RelationshipRecord
from kgagent.graph.relationships import RelationshipRepository
from kgagent.graph.statements import statement
from kgagent.graph.store import Row
from kgagent.models import GraphExpansion


class Expander:
    """Reads what surrounds nodes of a user."""

    def __init__(self, relationships: RelationshipRepository, *, timeout: float) -> None:
        self._relationships = relationships
        self._timeout = timeout

    async def expand(
        self, entity_keys: Sequence[str], user_id: str, *, max_relationships: int, max_neighbours: int
    ) -> GraphExpansion:
        """Read it in two statements, side by side; see `RetrievalService.expand_graph`.

        Raises:
            StoreError: the database failed.
        """
        keys = list(dict.fromkeys(entity_keys))
        if not keys:
            return GraphExpansion()
        async with task_group() as group:
            among = group.create_task(self._read("expand_among", keys, user_id, max_relationships))
            around = group.create_task(self._read("expand_around", keys, user_id, max_neighbours))
        rows = [*among.result(), *({"relationship": r} for row in around.result() for r in row["relationships"])]
        ontology = self._relationships.ontology
        return GraphExpansion(
            neighbours=tuple(NodeRecord.read(row["node"], ontology).to_model(ontology) for row in around.result()),
            relationships=tuple(RelationshipRecord.read(row["relationship"]).to_model(ontology) for row in rows),
        )

    async def _read(self, name: str, keys: Sequence[str], user_id: str, limit: int) -> list[Row]:
        return await self._relationships.store.read(
            statement(name, **self._relationships.names),
            {"user_id": user_id, "keys": keys, "limit": limit},
            timeout=self._timeout,
        )
