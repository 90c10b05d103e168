"""Reading all nodes or all relationships, of every user or of one, for maintenance."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from kgagent.graph.statements import Fragment, Statement, statement
from kgagent.graph.store import Row
from kgagent.services import GraphServices
from kgagent.upkeep.examination import Examination, Inspected, Kind

ReadT = TypeVar("ReadT")

KINDS: tuple[Kind, ...] = ("nodes", "relationships")
"""In the order of maintenance."""


@dataclass(frozen=True)
class Scan:
    """All records of a kind that are selected, with a label or a type of the ontology; they are
    never all in memory.

    Attributes:
        services: the parts of the graph.
        kind: nodes or relationships.
        user_id: owner of the nodes, or of the nodes at which the relationships start; None is every
            record, including those without an owner.
        element_ids: only the records with these ids.
        mentioned: only records of the user whose notes contain this text.
    """

    services: GraphServices
    kind: Kind
    user_id: str | None
    element_ids: Sequence[str] | None = None
    mentioned: str | None = None

    async def count(self) -> int:
        """Count the records.

        Raises:
            StoreError: the database failed.
        """
        [row] = await self.services.store.read(self._statement("count"), self._parameters)
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
        return self._stream("inspected", lambda row: Inspected.of(row, self.services.ontology))

    def examine(self, inspected: Inspected) -> Examination:
        """Examine a record."""
        nodes, relationships = self.services.nodes, self.services.relationships
        context = self.services.write_context
        repository = nodes if self.kind == "nodes" else relationships
        return inspected.examine(repository, context.embedder, context.clock())

    @asynccontextmanager
    async def _stream(
        self, row: str, read: Callable[[Row], ReadT]
    ) -> AsyncIterator[AsyncIterator[ReadT]]:
        async with self.services.store.stream(self._statement(row), self._parameters) as rows:
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
        parts = {"row": Fragment(shown), "which": Fragment(which)}
        return statement(f"inspect_{self.kind}", **parts, **self.services.relationships.names)

    @property
    def _parameters(self) -> dict[str, Any]:
        ids = None if self.element_ids is None else list(self.element_ids)
        return {"user_id": self.user_id, "element_ids": ids, "mentioned": self.mentioned}
