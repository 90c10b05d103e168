"""Reading all nodes or all relationships, of every user or of one, for maintenance."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Self, TypeVar

from kgagent.graph.compare_and_set import WriteStrategy
from kgagent.graph.graph_writes import GraphStrategy
from kgagent.graph.nodes import NodeRepository
from kgagent.graph.relationships import RelationshipRepository
from kgagent.graph.statements import Fragment, Statement, statement
from kgagent.graph.store import Row
from kgagent.graph.user_graph import UserGraph
from kgagent.graph.writes import WriteContext, WriteOptions, WriteResult
from kgagent.services import GraphServices
from kgagent.upkeep.examination import Examination, Inspected, Kind, Repository

Strategy = WriteStrategy[Any, Any, Any, WriteResult[Any]]
ReadT = TypeVar("ReadT")

KINDS: tuple[Kind, ...] = ("nodes", "relationships")
"""In the order of maintenance."""


@dataclass(frozen=True)
class Scan:
    """All records of a kind that are selected, with a label or a type of the ontology; they are
    never all in memory.

    Attributes:
        repository: reads records of the kind.
        user_id: owner of the nodes, or of the nodes at which the relationships start; None is every
            record, including those without an owner.
        element_ids: only the records with these ids.
        mentioned: only records of the user whose notes contain this text.
    """

    repository: Repository
    user_id: str | None
    element_ids: Sequence[str] | None = None
    mentioned: str | None = None

    @classmethod
    def of(
        cls,
        services: GraphServices,
        kind: Kind,
        user_id: str | None,
        *,
        element_ids: Sequence[str] | None = None,
        mentioned: str | None = None,
    ) -> Self:
        """The scan of the selected records of a kind."""
        repository = services.nodes if kind == "nodes" else services.relationships
        return cls(repository, user_id, element_ids, mentioned)

    @property
    def kind(self) -> Kind:
        """Nodes or relationships."""
        return "nodes" if isinstance(self.repository, NodeRepository) else "relationships"

    async def count(self) -> int:
        """Count the records.

        Raises:
            StoreError: the database failed.
        """
        [row] = await self.repository.store.read(self._statement("count"), self._parameters)
        return int(row["count"])

    def ids(self) -> AbstractAsyncContextManager[AsyncIterator[str]]:
        """Iterate over the ids of the records.

        Raises:
            StoreError: the database failed.
        """
        return self._stream("id", lambda row: str(row["element_id"]))

    def records(self) -> AbstractAsyncContextManager[AsyncIterator[Inspected]]:
        """Iterate over the records.

        Raises:
            StoreError: the database failed.
        """
        return self._stream("inspected", lambda row: Inspected.of(row, self.repository.ontology))

    def examine(self, inspected: Inspected, context: WriteContext) -> Examination:
        """Examine a record."""
        return inspected.examine(self.repository, context.embedder, context.clock())

    def strategy(self, user_id: str, context: WriteContext, options: WriteOptions) -> Strategy:
        """The strategy that writes records of a user."""
        parts = (self.repository.store, self.repository.ontology)
        graph = UserGraph(NodeRepository(*parts), RelationshipRepository(*parts), context, user_id)
        return GraphStrategy(graph, options)

    @asynccontextmanager
    async def _stream(
        self, row: str, read: Callable[[Row], ReadT]
    ) -> AsyncIterator[AsyncIterator[ReadT]]:
        async with self.repository.store.stream(self._statement(row), self._parameters) as rows:
            # A record that was deleted while the statement ran has no labels or type.
            yield (
                read(row)
                async for row in rows
                if row.get("labels", True) and row.get("neo4j_type", True)
            )

    def _statement(self, row: str) -> Statement:
        noun = self.kind.removesuffix("s")
        if self.element_ids is not None:
            which = f"_{noun}_of_ids"
        elif self.mentioned is not None:
            which = f"_{noun}_that_mentions"
        else:
            which = "_all" if self.user_id is None else f"_{noun}_of_user"
        shown = f"_inspected_{noun}" if row == "inspected" else f"_{noun}_{row}"
        names = self.repository.names
        return statement(
            f"inspect_{self.kind}", row=Fragment(shown), which=Fragment(which), **names
        )

    @property
    def _parameters(self) -> dict[str, Any]:
        ids = None if self.element_ids is None else list(self.element_ids)
        return {"user_id": self.user_id, "element_ids": ids, "mentioned": self.mentioned}
