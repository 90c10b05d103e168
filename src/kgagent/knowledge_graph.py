"""The way in: one object that holds the connection, the embedder and all that works on a graph."""

import asyncio
from collections.abc import Callable, Coroutine, Generator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any

from kgagent.embedding.base import Embedder
from kgagent.embedding.cache import QueryCache
from kgagent.embedding.factory import make_embedder
from kgagent.embedding.observed import ObservedEmbedder
from kgagent.graph.live_schema import LiveSchemaReader
from kgagent.graph.nodes import NodeRepository
from kgagent.graph.record_writer import OnChange, WriteContext
from kgagent.graph.relationships import RelationshipRepository
from kgagent.graph.schema import Schema
from kgagent.graph.store import Store
from kgagent.graph.vector_index import VectorIndexOptions
from kgagent.local import LocalNeo4j
from kgagent.models.matched_path import PatternResult
from kgagent.models.pattern_query import GraphQuery
from kgagent.observing import NULL_OBSERVER, Observer
from kgagent.ontology import Ontology, default_ontology, load_ontology
from kgagent.patterns.options import PatternOptions
from kgagent.patterns.search import PatternSearch
from kgagent.progress import Progress
from kgagent.retrieval import RetrievalService
from kgagent.retrieval.searchers import Searcher, make_searcher
from kgagent.settings import Settings, get_settings
from kgagent.tools import ToolContext, Toolset


def _now() -> datetime:
    return datetime.now(UTC)


class KnowledgeGraph:
    """A knowledge graph in Neo4j.

    Use it as `async with KnowledgeGraph.connect() as graph`, or from synchronous code through
    `kgagent.SyncKnowledgeGraph`.

    Attributes:
        store: the connection.
        ontology: labels, relationship kinds and words.
        embedder: makes the embeddings.
        retrieval: the searches.
        patterns: structured questions over many hops.
        schema: constraints and indexes.
        live_schema: reads which labels, types and properties a user's graph holds.
        observer: watches what it does.
        loop: the event loop that it was opened on, and that everything of it runs on.
    """

    def __init__(
        self,
        store: Store,
        ontology: Ontology,
        embedder: Embedder,
        settings: Settings,
        *,
        clock: Callable[[], datetime] = _now,
        owns_embedder: bool = False,
        observer: Observer = NULL_OBSERVER,
    ) -> None:
        if observer is not NULL_OBSERVER:
            store, embedder = store.observed_by(observer), ObservedEmbedder(embedder, observer)
        self.observer = observer
        self._owns_embedder = owns_embedder
        self.loop = asyncio.get_running_loop()
        self.store = store
        self.ontology = ontology
        self.embedder = embedder
        self.settings = settings
        self.writing = WriteContext(embedder, clock, settings.write_attempts)
        self.nodes = NodeRepository(store, ontology)
        self.relationships = RelationshipRepository(store, ontology)
        self.schema = Schema(store, ontology, embedder, VectorIndexOptions.of(settings))
        self.live_schema = LiveSchemaReader(store, ontology)
        self.retrieval = RetrievalService(
            store,
            ontology,
            QueryCache(embedder, settings.query_cache_size) if settings.query_cache_size else embedder,
            exact_scan_limit=settings.exact_scan_limit,
            oversampling=settings.oversampling,
            timeout=settings.query_timeout,
            hybrid_limit=settings.hybrid_limit,
            observer=observer,
        )
        self.patterns = PatternSearch(
            store,
            ontology,
            embedder,
            retrieval=self.retrieval,
            live_schema=self.live_schema,
            options=PatternOptions.of(settings),
            observer=observer,
        )

    @staticmethod
    def connect(
        uri: str | None = None,
        *,
        username: str | None = None,
        password: str | None = None,
        database: str | None = None,
        embedder: Embedder | None = None,
        ontology: Ontology | Path | None = None,
        settings: Settings | None = None,
        ensure_schema: bool = True,
        progress: Progress | None = None,
        clock: Callable[[], datetime] = _now,
        observer: Observer = NULL_OBSERVER,
    ) -> "Connecting":
        """Connect to a graph; `await` it, or enter it with `async with`.

        What is left out comes from the settings; without a URI there either, the local Neo4j is started.

        Args:
            uri: bolt:// or neo4j:// address, with +s for TLS.
            username: name to log in with.
            password: password to log in with.
            database: database of the server; None is the user's home database.
            embedder: makes the embeddings; None takes the one that the settings choose.
            ontology: an ontology, or a YAML file that holds one.
            settings: settings to use instead of those of the environment.
            ensure_schema: whether missing constraints and indexes are made.
            progress: shows downloads and the start of the local Neo4j.
            clock: gives the time, with zone.
            observer: watches tools, searches, embeddings and statements; see `kgagent.observability`.

        Raises:
            ConfigurationError: settings, ontology or embedder cannot be used.
            StoreError: the database cannot be used; SchemaError where its indexes do not fit the embedder.
            LocalServerError: the local Neo4j did not come up.
        """

        async def open_graph() -> KnowledgeGraph:
            chosen = settings or get_settings()
            store = await _open_store(chosen, uri, username, password, database, progress)
            try:
                graph = KnowledgeGraph(
                    store,
                    _open_ontology(ontology or chosen.ontology),
                    embedder or make_embedder(chosen, progress=progress),
                    chosen,
                    clock=clock,
                    owns_embedder=embedder is None,
                    observer=observer,
                )
                if ensure_schema:
                    await graph.schema.ensure()
            except BaseException:
                await store.close()
                raise
            return graph

        return Connecting(open_graph)

    def tools(
        self, *, user_id: str, source_entity_key: str | None = None, on_change: OnChange | None = None
    ) -> Toolset:
        """The agent's tools, bound to one user; the model that calls them never chooses whose data it sees.

        Args:
            user_id: whose graph.
            source_entity_key: node of the source that is being read; every note that the tools write then names it.
            on_change: told of each record that the tools write; not of one that they remove.

        Raises:
            InputError: the user id is empty.
        """
        return Toolset(
            ToolContext(
                user_id=user_id,
                ontology=self.ontology,
                nodes=self.nodes,
                relationships=self.relationships,
                retrieval=self.retrieval,
                live_schema=self.live_schema,
                writing=replace(self.writing, on_change=on_change),
                undo_window=timedelta(days=self.settings.undo_days),
                patterns=self.patterns,
                source_entity_key=source_entity_key,
                observer=self.observer,
            )
        )

    async def query_patterns(
        self, query: GraphQuery, *, user_id: str, vector: Sequence[float] | None = None
    ) -> PatternResult:
        """Answer a structured question with ranked, explained paths; see `PatternSearch.query`.

        Args:
            query: patterns, or targets to walk from, and how paths are ranked.
            user_id: whose graph.
            vector: embedding of the question, shape (dimensions,); None has it made where it is needed.

        Raises:
            InputError: a name is unknown, or a constraint compares what cannot be compared.
            SearchError: it took too long.
        """
        return await self.patterns.query(query, user_id, vector=vector)

    def searcher(self, name: str, *, user_id: str) -> Searcher:
        """A search for nodes, bound to one user.

        Args:
            name: "vector" (by meaning), "graph" (around seed nodes) or "hybrid" (both).
            user_id: whose nodes.

        Raises:
            InputError: the name is unknown or the user id empty.
        """
        return make_searcher(
            name, self.retrieval, self.relationships, user_id=user_id, timeout=self.settings.query_timeout
        )

    async def close(self) -> None:
        """Close the connection, and the embedder where it was not given by the caller."""
        await self.store.close()
        if self._owns_embedder:
            await self.embedder.aclose()


class Connecting:
    """A graph that is not open yet: `await` it, or enter it with `async with`."""

    def __init__(self, open_graph: Callable[[], Coroutine[Any, Any, KnowledgeGraph]]) -> None:
        self._open_graph = open_graph
        self._graph: KnowledgeGraph | None = None

    def __await__(self) -> Generator[Any, None, KnowledgeGraph]:
        """Open the graph; its user closes it."""
        return self._open_graph().__await__()

    async def __aenter__(self) -> KnowledgeGraph:
        """Open the graph for a block of code."""
        self._graph = await self._open_graph()
        return self._graph

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """Close it at the end of the block."""
        if self._graph is not None:
            await self._graph.close()


async def _open_store(  # noqa: PLR0917
    settings: Settings,
    uri: str | None,
    username: str | None,
    password: str | None,
    database: str | None,
    progress: Progress | None,
) -> Store:
    """Connect to the server that the caller names, else to that of the settings, else to the local one."""
    address = uri or settings.neo4j_uri
    if address is None:
        info = await asyncio.to_thread(LocalNeo4j.from_settings(settings).up, progress)
        return await Store.connect(
            info.uri, username=info.username, password=info.password, timeout=settings.query_timeout
        )
    known = settings.neo4j_password.get_secret_value() if settings.neo4j_password else None
    return await Store.connect(
        address,
        username=username or settings.neo4j_username,
        password=known if password is None else password,
        database=database or settings.neo4j_database,
        timeout=settings.query_timeout,
    )


def _open_ontology(given: Ontology | Path | None) -> Ontology:
    if given is None:
        return default_ontology()
    return load_ontology(given) if isinstance(given, Path) else given
