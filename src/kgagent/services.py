"""The parts of an open graph, put together once; for kgagent's own packages, not for its users."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from kgagent.admission import Admission
from kgagent.embedding.base import Embedder
from kgagent.embedding.cache import QueryCache
from kgagent.embedding.factory import advise_embedder
from kgagent.embedding.wrapper import InstrumentedEmbedder
from kgagent.graph.live_schema import LiveSchemaReader
from kgagent.graph.nodes import NodeRepository
from kgagent.graph.references import Resolver
from kgagent.graph.relationships import RelationshipRepository
from kgagent.graph.schema import Schema
from kgagent.graph.shared_reads import owners_of
from kgagent.graph.store import Store
from kgagent.graph.user_graph import UserGraph
from kgagent.graph.vector_index_options import VectorIndexOptions
from kgagent.graph.writes import WriteContext
from kgagent.observing import NULL_OBSERVER, Observer
from kgagent.ontology import Ontology
from kgagent.patterns.search import PatternSearch
from kgagent.search import RetrievalService
from kgagent.settings import Settings
from kgagent.trust import given_trust

MAX_SHARED = 1_000
"""Lists of owners whose readers, with what they cache, are kept."""


@dataclass(frozen=True)
class Readers:
    """The parts of an open graph that read over one connection."""

    live_schema: LiveSchemaReader
    nodes: NodeRepository
    relationships: RelationshipRepository
    resolver: Resolver
    retrieval: RetrievalService
    patterns: PatternSearch

    @classmethod
    def over(
        cls,
        store: Store,
        ontology: Ontology,
        embedder: Embedder,
        settings: Settings,
        *,
        observer: Observer,
        clock: Callable[[], datetime],
    ) -> "Readers":
        """Put the parts together; `embedder` embeds queries."""
        live_schema = LiveSchemaReader(store, ontology)
        retrieval = RetrievalService(
            store,
            ontology,
            embedder,
            exact_scan_limit=settings.exact_scan_limit,
            oversampling=settings.oversampling,
            timeout=settings.query_timeout,
            hybrid_limit=settings.hybrid_limit,
            observer=observer,
            clock=clock,
        )
        return cls(
            live_schema=live_schema,
            nodes=NodeRepository(store, ontology),
            relationships=RelationshipRepository(store, ontology),
            resolver=Resolver(store, ontology),
            retrieval=retrieval,
            patterns=PatternSearch(
                store, ontology, embedder, retrieval, live_schema, settings, observer
            ),
        )


@dataclass(frozen=True)
class GraphServices(Readers):
    """The parts of an open graph.

    Attributes:
        store: runs statements.
        ontology: labels, relationship definitions and words.
        embedder: makes the embeddings that are stored.
        query_cache: keeps query embeddings; None where the settings turn it off.
        settings: of the graph.
        observer: watches all of it.
        schema: constraints and indexes.
        live_schema: reads which labels, types and properties a user's graph has.
        nodes: reads nodes.
        relationships: reads relationships.
        resolver: finds the nodes that names and beginnings of keys mean.
        write_context: what writes share.
        retrieval: searches.
        patterns: structured queries.
        admission: limits the searches and the calls of tools that run at once.
        shared: what reads several owners, by the user and the others.
    """

    store: Store
    ontology: Ontology
    embedder: Embedder
    query_cache: QueryCache | None
    settings: Settings
    observer: Observer
    schema: Schema
    write_context: WriteContext
    admission: Admission
    shared: dict[tuple[str, ...], Readers] = field(default_factory=dict)

    def user_graph(self, user_id: str) -> UserGraph:
        """The records of a user, and what every write of them needs."""
        return UserGraph(self.nodes, self.relationships, self.write_context, user_id)

    def trusting(self, trust: str | None) -> "GraphServices":
        """The parts for calls of a class; None is that of the process.

        Raises:
            InputError: there is no such class.
        """
        context = self.write_context
        context = replace(context, trust=given_trust(trust) or context.trust)
        return replace(self, write_context=context)

    def sharing(self, user_id: str, readable: Sequence[str]) -> "GraphServices":
        """The parts for reads of a user who may read the records of others too.

        Raises:
            InputError: an owner is no user id.
        """
        if not readable or len(owners := owners_of(user_id, readable)) == 1:
            return self
        if owners not in self.shared:
            if len(self.shared) >= MAX_SHARED:
                self.shared.clear()
            self.shared[owners] = Readers.over(
                self.store.shared(owners),
                self.ontology,
                self.query_cache or self.embedder,
                self.settings,
                observer=self.observer,
                clock=self.write_context.clock,
            )
        return replace(self, **vars(self.shared[owners]))

    @classmethod
    def build(
        cls,
        store: Store,
        ontology: Ontology,
        embedder: Embedder,
        settings: Settings,
        *,
        clock: Callable[[], datetime],
        observer: Observer = NULL_OBSERVER,
    ) -> "GraphServices":
        """Put the parts together.

        Args:
            store: an open connection.
            ontology: labels, relationship definitions and words.
            embedder: makes the embeddings.
            settings: limits and options.
            clock: returns the time, with time zone.
            observer: watches statements, embeddings, searches and tools.
        """
        store = store.with_node_embedding(ontology.node_embedding)
        if observer is not NULL_OBSERVER:
            store, embedder = store.observed_by(observer), InstrumentedEmbedder(embedder, observer)
        cache = (
            QueryCache(embedder, settings.query_cache_size) if settings.query_cache_size else None
        )
        readers = Readers.over(
            store, ontology, cache or embedder, settings, observer=observer, clock=clock
        )
        return cls(
            store=store,
            ontology=ontology,
            embedder=embedder,
            query_cache=cache,
            settings=settings,
            observer=observer,
            schema=Schema(
                store,
                ontology,
                embedder,
                VectorIndexOptions.of(settings),
                embedder_advice=advise_embedder,
            ),
            **vars(readers),
            write_context=WriteContext(
                embedder,
                clock,
                settings.write_attempts,
                settings.max_notes,
                trust=settings.trust,
            ),
            admission=Admission(
                limit=settings.max_reads,
                user_limit=settings.max_reads_per_user,
                longest_wait=settings.longest_wait,
            ),
        )
