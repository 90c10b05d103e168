"""The knowledge graph for synchronous code: the same operations, and each call waits for its
result.

The classes get the methods of the asynchronous ones when this module is imported; `sync.pyi` has
their signatures for editors and type checkers.
"""

from collections.abc import Mapping

from kgagent.blocking import BlockingResource, BlockingWrapper, waits_for
from kgagent.knowledge_graph import KnowledgeGraph
from kgagent.search.searchers import Searcher
from kgagent.search.service import RetrievalService
from kgagent.tools.base import BoundTool
from kgagent.tools.registry import Toolset


@waits_for(BoundTool)
class SyncTool(BlockingWrapper[BoundTool]):
    """A tool bound to one user; each call waits for its result."""


@waits_for(Toolset)
class SyncToolset(BlockingWrapper[Toolset], Mapping[str, SyncTool]):
    """The agent's tools, bound to one user: `tools.explore(queries=[{"query": "mentors"}])`."""


@waits_for(Searcher)
class SyncSearcher(BlockingWrapper[Searcher]):
    """A search for nodes, bound to one user; each call waits for its result."""


@waits_for(RetrievalService, omitted={"observer", "scope", "embed_queries", "nodes"})
class SyncRetrieval(BlockingWrapper[RetrievalService]):
    """Single searches; each call waits for its result."""


@waits_for(KnowledgeGraph, omitted={"close", "loop"})
class SyncKnowledgeGraph(BlockingResource[KnowledgeGraph]):
    """A graph in Neo4j for synchronous code: `with SyncKnowledgeGraph.connect() as graph`.

    An event loop in a thread of its own does the work, so the graph may be used from any thread.
    Its operations are those of `KnowledgeGraph`.
    """

    @property
    def graph(self) -> KnowledgeGraph:
        """The asynchronous graph."""
        return self._wrapped
