"""What tools work on: one user's graph and the services that read and write it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from kgagent.admission import Admission
from kgagent.embedding.base import LONGEST_LOADING
from kgagent.graph.deleted_records import format_minute
from kgagent.graph.live_schema import LiveSchemaReader
from kgagent.graph.nodes import NodeRepository
from kgagent.graph.references import Resolver
from kgagent.graph.relationships import RelationshipRepository
from kgagent.graph.user_graph import UserGraph
from kgagent.graph.writes import WriteContext
from kgagent.observing import NULL_OBSERVER, Observer
from kgagent.ontology import Ontology
from kgagent.patterns.search import PatternSearch
from kgagent.search import RetrievalService
from kgagent.trust import Trust


@dataclass(frozen=True)
class ToolContext:
    """Services that the tools use, bound to one user.

    Attributes:
        source_entity_key: the Source node that is being read. If set, every note refers to it,
            whatever the model says.
        offered: names of the tools that the agent can call.
        min_trust: class that what searches find has at least; None finds all.
        readable: other owners whose records its services read too.
    """

    user_id: str
    ontology: Ontology
    nodes: NodeRepository
    relationships: RelationshipRepository
    resolver: Resolver
    retrieval: RetrievalService
    live_schema: LiveSchemaReader
    write_context: WriteContext
    patterns: PatternSearch
    admission: Admission
    undo_window: timedelta = timedelta(days=30)
    source_entity_key: str | None = None
    observer: Observer = NULL_OBSERVER
    offered: frozenset[str] = frozenset()
    min_trust: Trust | None = None
    readable: Sequence[str] = ()

    async def embedder_ready(self) -> None:
        """Wait for an embedder that is still being loaded; that is no part of the time limit of a
        search.

        Raises:
            EmbeddingUnavailableError: it takes too long; the text says to try again.
        """
        await self.write_context.embedder.ready(LONGEST_LOADING)

    @property
    def graph(self) -> UserGraph:
        """The records of the user, and what every write of them needs."""
        return UserGraph(self.nodes, self.relationships, self.write_context, self.user_id)

    def offers(self, tool: str) -> bool:
        """Whether the agent can call a tool, so that a text may name it."""
        return tool in self.offered

    def undo_hint(self, until: datetime | None) -> str:
        """Say whether a deletion or a merge can be undone: by the agent if it has the tool, else by
        the user.
        """
        if until is None:
            return "it cannot be undone"
        if self.offers("restore"):
            return f"restore can undo it until {format_minute(until)}"
        return (
            f"the user can undo it until {format_minute(until)} (`kgagent restore`), or erase it "
            f"at once (`kgagent purge --user … --restorable`)"
        )
