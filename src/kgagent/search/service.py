"""The searches of a knowledge graph, and the walks through it."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from kgagent.embedding.base import Embedder
from kgagent.errors import InputError
from kgagent.formatting import in_one_line
from kgagent.graph.embedded_text import MAX_EMBEDDED_TEXT
from kgagent.graph.nodes import NodeRepository
from kgagent.graph.records import NodeRecord, RelationshipRecord
from kgagent.graph.store import Row, Store
from kgagent.models import (
    DiscoveredNodes,
    ExploreRequest,
    ExploreResult,
    FindPathsRequest,
    FindPathsResult,
    GraphExpansion,
    GraphNode,
    HybridSearchRequest,
    HybridSearchResult,
    LikelyDuplicate,
    Matches,
    NodeSearchResult,
    RelationshipSearchResult,
    TraverseRequest,
    TraverseResult,
)
from kgagent.models.history import HistoryEntry, parse_history
from kgagent.models.note import utc_now
from kgagent.models.search import SearchFilters
from kgagent.models.timeline import Timeline
from kgagent.models.traversal import JoinedRelationships
from kgagent.models.when import period_of
from kgagent.observing import NULL_OBSERVER, Observer
from kgagent.ontology import Ontology
from kgagent.search import explore, hybrid
from kgagent.search.arguments import check_limit, validate_vector
from kgagent.search.explore import NOTHING_ASKED, Exploration
from kgagent.search.hybrid import HybridSearch
from kgagent.search.name_match import nodes_by_name
from kgagent.search.omitted import OmittedRecords
from kgagent.search.paths import find_paths
from kgagent.search.query import EmbeddedQuery
from kgagent.search.rerank import CrossEncoder
from kgagent.search.results import model_of
from kgagent.search.scope import RelationshipFilter, SearchScope, check_text, observed
from kgagent.search.score import WEIGHTS, Features
from kgagent.search.stored_types import with_stored_types, with_warnings
from kgagent.search.vectors import VectorSearch
from kgagent.search.walk import by_strength, expand_around, timeline, traverse
from kgagent.validation import validate

DEFAULT_THRESHOLD = 0.3
"""Minimum cosine of the searches with one retriever."""


class RetrievalService:
    """Searches nodes and relationships of a user, and walks from one to another."""

    def __init__(
        self,
        store: Store,
        ontology: Ontology,
        embedder: Embedder,
        *,
        exact_scan_limit: int | None,
        oversampling: int,
        timeout: float,
        hybrid_limit: int = 32,
        observer: Observer = NULL_OBSERVER,
        weights: Features = WEIGHTS,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self.weights = weights
        self.observer = observer
        self.scope = SearchScope.over(store, ontology, embedder, timeout=timeout, clock=clock)
        self._embedder = embedder
        self._hybrid_limit = hybrid_limit
        self._nodes = NodeRepository(store, ontology)
        self._vectors = VectorSearch(
            ontology,
            store.features,
            exact_scan_limit=exact_scan_limit,
            oversampling=oversampling,
        )
        self._omitted = OmittedRecords()

    def evict(self) -> None:
        """Drop what is cached of stored embeddings."""
        self._omitted = OmittedRecords()

    @observed("relationship_vector_search")
    async def relationship_vector_search(
        self,
        query: str | None = None,
        threshold: float = DEFAULT_THRESHOLD,
        *,
        user_id: str,
        limit: int = 20,
        vector: Sequence[float] | None = None,
        **filters: object,
    ) -> Matches[RelationshipSearchResult]:
        """Find relationships by vector search.

        Args:
            query: what to look for; or give `vector`, or both.
            threshold: minimum plain cosine, -1 to 1.
            user_id: owner of the relationships.
            limit: maximum number of relationships.
            vector: an embedding to search for instead of the text, shape (dimensions,); no
                embedding call is made.
            **filters: fields of `SearchFilters`, such as `relationship_types` and `as_of`.

        Returns:
            Relationships, best first.

        Raises:
            InputError: invalid argument.
            EmbeddingError: the query could not be embedded.
            StoreError: the database failed.
        """
        scope = self.scope.of(user_id)
        check_limit(limit)
        given, warnings = await with_stored_types(scope, validate(SearchFilters, filters))
        kept = RelationshipFilter.of(scope, given)
        wanted = await self._vector_query(query, vector, threshold)
        [ranking] = await self._vectors.relationships(scope, [wanted], kept=kept, limit=limit)

        def results() -> list[RelationshipSearchResult]:
            every: list[RelationshipSearchResult] = []
            for one in ranking.candidates:
                if one.record is not None:
                    own = {"similarity": one.score, "score": one.score}
                    fields = {**dict(model_of(one.record, scope, kept)), **own}
                    every.append(RelationshipSearchResult.model_construct(**fields))
            return every

        # As many as there may be take a while, during which other users' calls go on.
        found = await asyncio.to_thread(results)
        return Matches(found, plan=ranking.plan or "none", warnings=warnings)

    @observed("nearest_statements")
    async def nearest_statements(self, query: str, *, user_id: str, limit: int = 100) -> list[str]:
        """Plain dense search, with which an evaluation compares: the statements of the `limit`
        nearest records, each with the names of its record, the most similar first.
        """
        scope = self.scope.of(user_id)
        [ranking] = await self._vectors.statements(
            scope,
            [await self._vector_query(query, None, -1.0)],
            kept=RelationshipFilter.of(scope, SearchFilters()),
            limit=limit,
        )
        found = [
            (similarity, in_one_line(f"{about}: {text}"))
            for one in ranking.candidates
            if (record := one.record) is not None
            for about in [record.text("name") if isinstance(record, NodeRecord) else record.triplet]
            for text, similarity in one.statements.items()
            if similarity is not None
        ]
        return [line for _, line in sorted(found, key=lambda pair: -pair[0])]

    @observed("find_nodes_via_relationship_search")
    async def find_nodes_via_relationship_search(
        self,
        query: str | None = None,
        threshold: float = DEFAULT_THRESHOLD,
        *,
        user_id: str,
        **options: Any,  # noqa: ANN401 - as they are there
    ) -> DiscoveredNodes:
        """Find relationships by vector search, and the nodes that they join.

        Arguments and errors are those of `relationship_vector_search`.
        """
        matches = await self.relationship_vector_search(
            query, threshold, user_id=user_id, **options
        )
        ends = dict.fromkeys(
            key for match in matches for key in (match.from_entity_key, match.to_entity_key)
        )
        nodes = await self._nodes.get(user_id, list(ends))
        return DiscoveredNodes(
            nodes=tuple(nodes), relationships=tuple(matches), warnings=matches.warnings
        )

    @observed("node_vector_search")
    async def node_vector_search(
        self,
        query: str | None = None,
        threshold: float = DEFAULT_THRESHOLD,
        *,
        user_id: str,
        labels: Sequence[str] | None = None,
        limit: int = 20,
        vector: Sequence[float] | None = None,
    ) -> Matches[NodeSearchResult]:
        """Find nodes by vector search over their own text.

        Args:
            query: what to look for; or give `vector`.
            threshold: minimum plain cosine, -1 to 1.
            user_id: owner of the nodes.
            labels: labels to keep; None keeps all.
            limit: maximum number of nodes of each label.
            vector: an embedding to search for instead of the text, shape (dimensions,); no
                embedding call is made.

        Returns:
            Nodes of all labels, most similar first.

        Raises:
            InputError: invalid argument.
            EmbeddingError: the query could not be embedded.
            StoreError: the database failed.
        """
        scope = self.scope.of(user_id)
        check_limit(limit)
        queries = [await self._vector_query(query, vector, threshold)]
        [ranking] = await self._vectors.nodes(
            scope, queries, labels=scope.labels(labels), limit=limit
        )

        def results() -> list[NodeSearchResult]:
            return [
                NodeSearchResult(node=one.record.to_model(scope.ontology), similarity=one.score)
                for one in ranking.candidates
                if isinstance(one.record, NodeRecord)
            ]

        found = await asyncio.to_thread(results)
        return Matches(found, plan=ranking.plan or "none")

    @observed("text_match")
    async def text_match(
        self, text: str, *, user_id: str, labels: Sequence[str] | None = None, limit: int = 20
    ) -> Matches[NodeSearchResult]:
        """Find nodes by name.

        Args:
            text: compared with the names: equal, contained, or sharing words.
            user_id: owner of the nodes.
            labels: labels to keep; None keeps all.
            limit: maximum number of nodes.

        Raises:
            InputError: the text is empty or a label is unknown.
            StoreError: the database failed.
        """
        check_text(text)
        scope = self.scope.of(user_id)
        check_limit(limit)
        [ranking] = await nodes_by_name(
            scope, [text], labels=scope.labels(labels), limit=limit, nodes=self._nodes
        )
        found = [
            NodeSearchResult(node=one.result, similarity=one.score)
            for one in ranking.candidates
            if isinstance(one.result, GraphNode)
        ]
        return Matches(found, plan=ranking.plan or "none")

    @observed("hybrid_search")
    async def hybrid_search(
        self,
        request: HybridSearchRequest,
        *,
        user_id: str,
        vector: Sequence[float] | None = None,
        cross_encoder: CrossEncoder | None = None,
    ) -> HybridSearchResult:
        """Find nodes and relationships by vector and full-text search; see `KnowledgeGraph.search`.

        Args:
            request: the query, embedded in one call unless `vector` is given, and how to search.
            user_id: owner of the graph.
            vector: an embedding to use instead of the query's own, shape (dimensions,).
            cross_encoder: reranks the best items.
        """
        scope = self.scope.of(user_id)
        if vector is None and (request.query is None or not request.query.strip()):
            raise InputError(
                "Say what to look for: give a query that is not empty, a vector, or both"
            )
        if request.query is not None:
            check_text(request.query)
        if cross_encoder is not None and not callable(getattr(cross_encoder, "score", None)):
            raise InputError(
                f"cross_encoder must have a method score(query, texts), got "
                f"{type(cross_encoder).__name__}"
            )
        request, warnings = await with_stored_types(scope, request)
        kept = RelationshipFilter.of(scope, request)
        search = HybridSearch(
            hybrid.spec_of(scope, request, kept, self.weights),
            request,
            limit=request.limit or self._hybrid_limit,
            vector=None if vector is None else validate_vector(vector, scope.dimensions),
            cross_encoder=cross_encoder,
        )
        return with_warnings(
            await search.run(self._vectors, self._embedder, self._omitted), warnings
        )

    @observed("explore")
    async def explore(self, request: ExploreRequest, *, user_id: str) -> ExploreResult:
        """Find nodes by several queries and names; see `KnowledgeGraph.explore`."""
        scope = self.scope.of(user_id)
        if not request.queries and not request.text_matches:
            raise InputError(NOTHING_ASKED)
        for text in (*(query.query for query in request.queries), *request.text_matches):
            check_text(text)
        request, warnings = await with_stored_types(scope, request)
        kept = RelationshipFilter.of(scope, request)
        spec = explore.spec_of(scope, request, kept, self.weights)
        exploration = Exploration(spec, request, self._nodes)
        return with_warnings(
            await exploration.run(self._vectors, self._embedder, self._omitted), warnings
        )

    @observed("expand_graph")
    async def expand_graph(
        self,
        entity_keys: Sequence[str],
        *,
        user_id: str,
        max_relationships: int = 10,
        max_neighbors: int = 30,
        as_of: str | None = None,
        known_as_of: str | None = None,
    ) -> GraphExpansion:
        """Find the surroundings of nodes: the relationships among them, and their neighbors one hop
        away.

        Args:
            entity_keys: keys of the nodes.
            user_id: owner of the nodes.
            max_relationships: maximum number of relationships among the nodes.
            max_neighbors: maximum number of neighbors; each comes with the relationships that join
                it to the nodes.
            as_of: only what was valid then, in EDTF.
            known_as_of: only what was known then, likewise.

        Raises:
            InputError: `as_of` or `known_as_of` is invalid.
            StoreError: the database failed.
        """
        return await expand_around(
            self.scope.of(user_id),
            entity_keys,
            max_relationships=max_relationships,
            max_neighbors=max_neighbors,
            as_of=as_of,
            known_as_of=known_as_of,
        )

    @observed("best_connected_nodes")
    async def best_connected_nodes(
        self, *, user_id: str, limit: int = 20
    ) -> list[tuple[GraphNode, int]]:
        """Find the nodes that have the most relationships, with their number; the owner of the
        graph comes first.

        Args:
            user_id: owner of the graph.
            limit: maximum number of nodes.

        Raises:
            StoreError: the database failed.
        """
        return await self._nodes.best_connected(user_id, limit)

    @observed("traverse")
    async def traverse(self, request: TraverseRequest, *, user_id: str) -> TraverseResult:
        """Find the nodes around a node, hop by hop; see `KnowledgeGraph.traverse`."""
        scope = self.scope.of(user_id)
        request, warnings = await with_stored_types(scope, request)
        return with_warnings(await traverse(scope, request, self._nodes), warnings)

    @observed("duplicates")
    async def duplicates(
        self, *, user_id: str, threshold: float = 0.5, limit: int = 50
    ) -> tuple[LikelyDuplicate, ...]:
        """Find nodes that may be one; see `KnowledgeGraph.duplicates`."""
        from kgagent.search.duplicates import find_duplicates

        check_limit(limit)
        return await find_duplicates(self.scope.of(user_id), threshold=threshold, limit=limit)

    @observed("relationships_of")
    async def relationships_of(
        self, entity_key: str, *, user_id: str, skip: int = 0, limit: int = 50
    ) -> JoinedRelationships:
        """Read the relationships of a node, the strongest first, and their number; the strength is
        the sum of attitude and proximity.

        Args:
            entity_key: the node.
            user_id: owner of the graph.
            skip: number of relationships to skip.
            limit: maximum number of relationships.

        Raises:
            StoreError: the database failed.
        """
        return await by_strength(self.scope.of(user_id), entity_key, skip=skip, limit=limit)

    @observed("timeline")
    async def timeline(self, entity_key: str, *, user_id: str, between: str) -> Timeline:
        """Read the statements about a node and its relationships that have a time, the earliest
        first.

        Args:
            entity_key: the node.
            user_id: owner of the graph.
            between: only statements of these days, in EDTF; what began earlier comes last.

        Raises:
            InputError: `between` is invalid.
            NotFoundError: the node does not exist for this user.
            StoreError: the database failed.
        """
        scope = self.scope.of(user_id)
        days = period_of(SearchFilters(between=between).between or "../..")
        return await timeline(scope, entity_key, self._nodes, between=days, now=scope.clock())

    @observed("find_paths")
    async def find_paths(self, request: FindPathsRequest, *, user_id: str) -> FindPathsResult:
        """Find how two nodes are connected; see `KnowledgeGraph.find_paths`."""
        return await find_paths(self.scope.of(user_id), request, self._nodes, self._embedder)

    async def histories(
        self, entity_keys: Sequence[str], *, user_id: str
    ) -> dict[tuple[str, ...], tuple[HistoryEntry, ...]]:
        """Read the histories of nodes and of the relationships among them.

        Args:
            entity_keys: keys of the nodes.
            user_id: owner of the nodes.

        Returns:
            The earlier values of each record that has any, the oldest first, by the key of the node
            or the `identity` of the relationship.

        Raises:
            StoreError: the database failed.
        """
        scope = self.scope.of(user_id)
        rows = await scope.read(scope.statement("read_histories"), {"keys": list(entity_keys)})

        def identity(row: Row) -> tuple[str, ...]:
            if row["relationship"] is None:
                return (row["entity_key"],)
            return RelationshipRecord.read(row["relationship"]).to_model(scope.ontology).identity

        return {identity(row): parse_history(row["history"]) for row in rows}

    async def nodes(
        self, entity_keys: Sequence[str], *, user_id: str, labels: Sequence[str] | None = None
    ) -> list[GraphNode]:
        """Read nodes by key, in the order of the keys; nodes that the user does not own are
        omitted.

        Args:
            entity_keys: keys of the nodes.
            user_id: owner of the nodes.
            labels: for a node with several labels, one of these is returned.
        """
        return await self._nodes.get(user_id, entity_keys, labels)

    async def embed_queries(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """Embed queries in one request."""
        return list(await self._embedder.embed_queries(texts))

    async def _vector_query(
        self, query: str | None, vector: Sequence[float] | None, threshold: float
    ) -> EmbeddedQuery:
        if not -1.0 <= threshold <= 1.0:
            raise InputError(f"threshold must be a cosine from -1 to 1, got {threshold}")
        if vector is not None:
            return EmbeddedQuery(
                validate_vector(vector, self.scope.dimensions), threshold, query or ""
            )
        if query is None or not query.strip():
            raise InputError("Say what to look for: query must not be empty")
        [embedded] = await self._embedder.embed_queries([query[:MAX_EMBEDDED_TEXT]])
        return EmbeddedQuery(embedded, threshold, query)
