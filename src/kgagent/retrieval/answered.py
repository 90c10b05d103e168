"""What a search is about to tell, read in full and in one statement."""

from collections.abc import Sequence
from dataclasses import dataclass

from kgagent.graph.records import NodeRecord, RelationshipRecord
from kgagent.graph.relationships import RelationshipRepository
from kgagent.graph.statements import statement
from kgagent.retrieval.vector_targets import found_node, found_relationship


@dataclass(frozen=True)
class LoadedRecords:
    """Records as they are now; what is no longer there, or not the user's, is missing.

    Attributes:
        nodes: those asked for, in no order.
        relationships: those asked for, in no order.
    """

    nodes: Sequence[NodeRecord] = ()
    relationships: Sequence[RelationshipRecord] = ()


class RecordLoader:
    """Reads nodes and relationships of a user together."""

    def __init__(self, relationships: RelationshipRepository, *, timeout: float) -> None:
        self._relationships = relationships
        self._timeout = timeout

    async def read(
        self, user_id: str, *, keys: Sequence[str], labels: Sequence[str], element_ids: Sequence[str]
    ) -> LoadedRecords:
        """Read records.

        Args:
            user_id: whose.
            keys: entity keys of nodes.
            labels: those that are told of a node that carries several.
            element_ids: the database's ids of relationships, as a search has just read them.

        Raises:
            StoreError: the database failed.
        """
        if not keys and not element_ids:
            return LoadedRecords()
        repository = self._relationships
        [row] = await repository.store.read(
            statement("read_found", **repository.names),
            {"user_id": user_id, "keys": list(keys), "element_ids": list(element_ids), "dimensions": None},
            timeout=self._timeout,
        )
        return LoadedRecords(
            [found_node(node, repository.ontology, labels) for node in row["nodes"]],
            [found_relationship(relationship) for relationship in row["relationships"]],
        )
