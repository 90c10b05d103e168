"""The knowledge graph for code that is not asynchronous: the same calls, each waited for."""

import atexit
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from anyio.from_thread import BlockingPortal, start_blocking_portal

from kgagent.embedding.base import Embedder
from kgagent.knowledge_graph import KnowledgeGraph
from kgagent.models import (
    DiscoveredNodes,
    ExploreRequest,
    ExploreResult,
    GraphExpansion,
    HybridSearchRequest,
    HybridSearchResult,
    Matches,
    NodeSearchResult,
    RelationshipSearchResult,
    SearchHit,
    SearchOptions,
)
from kgagent.models.live_schema import LiveSchema
from kgagent.models.matched_path import PatternResult
from kgagent.models.paths import FindPathsRequest, FindPathsResult
from kgagent.models.pattern_query import GraphQuery
from kgagent.models.traversal import TraverseRequest, TraverseResult
from kgagent.observing import NULL_OBSERVER, Observer
from kgagent.ontology import Ontology
from kgagent.progress import Progress
from kgagent.retrieval import RetrievalService
from kgagent.retrieval.rerank import CrossEncoder
from kgagent.retrieval.searchers.base import DEFAULT_SEARCH, Searcher
from kgagent.retrieval.service import DEFAULT_THRESHOLD
from kgagent.settings import Settings
from kgagent.tools import BoundTool, Payload


class SyncKnowledgeGraph:
    """A knowledge graph in Neo4j for synchronous code; use it as `with SyncKnowledgeGraph.connect() as graph`.

    An event loop in a thread of its own does the work, so it may be used from any thread.

    Attributes:
        graph: the asynchronous graph behind it.
        retrieval: the searches.
    """

    def __init__(self, graph: KnowledgeGraph, portal: BlockingPortal, stack: ExitStack) -> None:
        self.graph = graph
        self.retrieval = SyncRetrieval(graph.retrieval, portal)
        self._portal = portal
        self._stack = stack

    @classmethod
    def connect(
        cls,
        uri: str | None = None,
        *,
        username: str | None = None,
        password: str | None = None,
        database: str | None = None,
        embedder: Embedder | None = None,
        ontology: Ontology | Path | None = None,
        settings: Settings | None = None,
        progress: Progress | None = None,
        observer: Observer = NULL_OBSERVER,
    ) -> Self:
        """Connect to a graph; arguments and errors are those of `KnowledgeGraph.connect`."""
        with ExitStack() as stack:
            portal = stack.enter_context(start_blocking_portal())

            async def open_graph() -> KnowledgeGraph:
                return await KnowledgeGraph.connect(
                    uri,
                    username=username,
                    password=password,
                    database=database,
                    embedder=embedder,
                    ontology=ontology,
                    settings=settings,
                    progress=progress,
                    observer=observer,
                )

            graph = portal.call(open_graph)
            stack.callback(portal.call, graph.close)
            opened = cls(graph, portal, stack.pop_all())
        # A program that ends without closing would wait for the thread for ever.
        atexit.register(opened.close)
        return opened

    def tools(self, *, user_id: str) -> "SyncToolset":
        """The agent's tools, bound to one user.

        Raises:
            InputError: the user id is empty.
        """
        return SyncToolset(self.graph.tools(user_id=user_id), self._portal)

    def query_patterns(
        self, query: GraphQuery, *, user_id: str, vector: Sequence[float] | None = None
    ) -> PatternResult:
        """Answer a structured question; arguments and errors are those of `KnowledgeGraph.query_patterns`."""

        async def ask() -> PatternResult:
            return await self.graph.query_patterns(query, user_id=user_id, vector=vector)

        return self._portal.call(ask)

    def searcher(self, name: str, *, user_id: str) -> "SyncSearcher":
        """A search for nodes, bound to one user; arguments and errors are those of `KnowledgeGraph.searcher`."""
        return SyncSearcher(self.graph.searcher(name, user_id=user_id), self._portal)

    def live_schema(self, *, user_id: str, refresh: bool = False) -> LiveSchema:
        """What a user's graph has; arguments and errors are those of `KnowledgeGraph.live_schema`."""

        async def read() -> LiveSchema:
            return await self.graph.live_schema(user_id=user_id, refresh=refresh)

        return self._portal.call(read)

    def close(self) -> None:
        """Close the connection and end the thread; closing twice is no error."""
        atexit.unregister(self.close)
        self._stack.close()

    def __enter__(self) -> Self:
        """Use it for a block of code."""
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """Close it at the end of the block."""
        self.close()


class SyncTool:
    """A tool that is waited for."""

    def __init__(self, tool: BoundTool, portal: BlockingPortal) -> None:
        self.name = tool.name
        self.description = tool.description
        self.arguments = tool.arguments
        self._tool = tool
        self._portal = portal

    def __call__(self, /, *unnamed: Any, **arguments: Any) -> Payload:  # noqa: ANN401
        """Call the tool; what goes wrong is in the answer."""

        async def call() -> Payload:
            return await self._tool(*unnamed, **arguments)

        return self._portal.call(call)

    def call_json(self, arguments: str) -> str:
        """Call the tool with arguments as a JSON object; the answer is a JSON object too."""
        return self._portal.call(self._tool.call_json, arguments)


class SyncToolset(dict[str, SyncTool]):
    """The agent's tools by name, each an attribute too: `tools.explore(queries=[{"query": "mentors"}])`."""

    def __init__(self, tools: Mapping[str, BoundTool], portal: BlockingPortal) -> None:
        super().__init__({name: SyncTool(tool, portal) for name, tool in tools.items()})

    def __getattr__(self, name: str) -> SyncTool:
        """The tool of that name."""
        if name not in self:
            raise AttributeError(f"no tool is called {name!r}; there are {', '.join(self)}")
        return self[name]


class SyncRetrieval:
    """The searches, waited for; arguments, results and errors are those of `RetrievalService`."""

    def __init__(self, retrieval: RetrievalService, portal: BlockingPortal) -> None:
        self._retrieval = retrieval
        self._portal = portal

    def relationship_vector_search(
        self,
        query: str | None = None,
        threshold: float = DEFAULT_THRESHOLD,
        *,
        user_id: str,
        relationship_types: Sequence[str] | None = None,
        limit: int = 20,
        vector: Sequence[float] | None = None,
        expand_hops: int = 0,
    ) -> Matches[RelationshipSearchResult]:
        """Find relationships by meaning."""

        async def search() -> Matches[RelationshipSearchResult]:
            return await self._retrieval.relationship_vector_search(
                query,
                threshold,
                user_id=user_id,
                relationship_types=relationship_types,
                limit=limit,
                vector=vector,
                expand_hops=expand_hops,
            )

        return self._portal.call(search)

    def node_vector_search(
        self,
        query: str | None = None,
        threshold: float = DEFAULT_THRESHOLD,
        *,
        user_id: str,
        labels: Sequence[str] | None = None,
        limit: int = 20,
        vector: Sequence[float] | None = None,
    ) -> Matches[NodeSearchResult]:
        """Find nodes by the meaning of their own text."""

        async def search() -> Matches[NodeSearchResult]:
            return await self._retrieval.node_vector_search(
                query, threshold, user_id=user_id, labels=labels, limit=limit, vector=vector
            )

        return self._portal.call(search)

    def find_nodes_via_relationship_search(
        self,
        query: str | None = None,
        threshold: float = DEFAULT_THRESHOLD,
        *,
        user_id: str,
        relationship_types: Sequence[str] | None = None,
        limit: int = 20,
        vector: Sequence[float] | None = None,
        expand_hops: int = 0,
    ) -> DiscoveredNodes:
        """Find relationships by meaning, and the nodes that they join."""

        async def search() -> DiscoveredNodes:
            return await self._retrieval.find_nodes_via_relationship_search(
                query,
                threshold,
                user_id=user_id,
                relationship_types=relationship_types,
                limit=limit,
                vector=vector,
                expand_hops=expand_hops,
            )

        return self._portal.call(search)

    def text_match(
        self, text: str, *, user_id: str, labels: Sequence[str] | None = None, limit: int = 20
    ) -> Matches[NodeSearchResult]:
        """Find nodes by name."""
        return self._portal.call(partial(self._retrieval.text_match, text, user_id=user_id, labels=labels, limit=limit))

    def hybrid_search(
        self,
        request: HybridSearchRequest,
        *,
        user_id: str,
        vector: Sequence[float] | None = None,
        cross_encoder: CrossEncoder | None = None,
    ) -> HybridSearchResult:
        """Find nodes and relationships, by meaning and by their words, all at once and fused into one ranking."""

        async def search() -> HybridSearchResult:
            return await self._retrieval.hybrid_search(
                request, user_id=user_id, vector=vector, cross_encoder=cross_encoder
            )

        return self._portal.call(search)

    def expand_graph(
        self, entity_keys: Sequence[str], *, user_id: str, max_relationships: int = 10, max_neighbours: int = 30
    ) -> GraphExpansion:
        """Find what surrounds some nodes."""

        async def expand() -> GraphExpansion:
            return await self._retrieval.expand_graph(
                entity_keys, user_id=user_id, max_relationships=max_relationships, max_neighbours=max_neighbours
            )

        return self._portal.call(expand)

    def explore(self, request: ExploreRequest, *, user_id: str) -> ExploreResult:
        """Run all searches at once, fuse what they find, and show it with what surrounds it."""
        return self._portal.call(partial(self._retrieval.explore, request, user_id=user_id))

    def traverse(self, request: TraverseRequest, *, user_id: str) -> TraverseResult:
        """Walk from a node along its relationships."""
        return self._portal.call(partial(self._retrieval.traverse, request, user_id=user_id))

    def find_paths(self, request: FindPathsRequest, *, user_id: str) -> FindPathsResult:
        """Find how two nodes are related."""
        return self._portal.call(partial(self._retrieval.find_paths, request, user_id=user_id))


class SyncSearcher:
    """A searcher, waited for; arguments, results and errors are those of `Searcher`."""

    def __init__(self, searcher: Searcher, portal: BlockingPortal) -> None:
        self._searcher = searcher
        self._portal = portal

    def search(self, query: str | None = None, options: SearchOptions = DEFAULT_SEARCH) -> list[SearchHit]:
        """Find nodes."""
        return self._portal.call(self._searcher.search, query, options)
