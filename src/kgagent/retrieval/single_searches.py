"""Searches with one retriever each, as the relationship-embedding documents define them."""

from collections.abc import Sequence

from kgagent.embedding.base import Embedder
from kgagent.errors import InputError
from kgagent.graph.nodes import NodeRepository
from kgagent.graph.record_saver import MAX_EMBEDDED_TEXT
from kgagent.graph.records import NodeRecord
from kgagent.graph.store import Store
from kgagent.models import DiscoveredNodes, GraphNode, Matches, NodeSearchResult, RelationshipSearchResult
from kgagent.models.search import MAX_HOPS
from kgagent.observing import NULL_OBSERVER, Observer
from kgagent.ontology import Ontology
from kgagent.retrieval.arguments import check_limit, validate_vector
from kgagent.retrieval.explore import to_result
from kgagent.retrieval.index_search import vector_index
from kgagent.retrieval.name_match import nodes_by_name
from kgagent.retrieval.pipeline import SearchSpec, search
from kgagent.retrieval.relevance import Calibration
from kgagent.retrieval.results import hydrate
from kgagent.retrieval.scope import RelationshipFilter, SearchScope, check_text, observed
from kgagent.retrieval.scoring import WEIGHTS, Features
from kgagent.retrieval.vector_search import VectorRetrievers, VectorSearch
from kgagent.retrieval.vector_targets import EmbeddedQuery
from kgagent.turns import in_turns

DEFAULT_THRESHOLD = 0.3


class SingleSearches:
    """Vector searches of nodes or relationships, and name match."""

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
    ) -> None:
        self.weights = weights
        self.observer = observer
        self.scope = SearchScope.over(store, ontology, embedder, timeout=timeout)
        self._embedder = embedder
        self._hybrid_limit = hybrid_limit
        self._nodes = NodeRepository(store, ontology)
        index = vector_index(store.features, oversampling=oversampling)
        vectors = VectorSearch(index, exact_scan_limit=exact_scan_limit)
        self._vectors = VectorRetrievers(vectors, ontology, store.features)
        self._calibration = Calibration()

    def evict(self) -> None:
        """Drop what is cached of stored embeddings."""
        self._calibration = Calibration()

    @observed("relationship_vector_search")
    async def relationship_vector_search(
        self,
        query: str | None = None,
        threshold: float = DEFAULT_THRESHOLD,
        *,
        user_id: str,
        relationship_types: Sequence[str] | None = None,
        neo4j_types: Sequence[str] | None = None,
        limit: int = 20,
        vector: Sequence[float] | None = None,
        expand_hops: int | None = 0,
    ) -> Matches[RelationshipSearchResult]:
        """Find relationships by vector search.

        Args:
            query: what to look for; or give `vector`, or both.
            threshold: minimum plain cosine, -1 to 1, of direct matches.
            user_id: owner of the relationships.
            relationship_types: free types ("mentor") to keep; None keeps all.
            neo4j_types: types in the database to keep; None keeps all.
            limit: maximum number of relationships.
            vector: an embedding to search for instead of the text, shape (dimensions,); no embedding call is made.
            expand_hops: hops to expand from the best matches and from the nodes that `query` names, 0 to 5, for queries
                that name only a starting point; None expands 2. If any are expanded, `score` ranks, and the threshold
                applies to direct matches only.

        Returns:
            Relationships, best first.

        Raises:
            InputError: invalid argument.
            EmbeddingError: the query could not be embedded.
            StoreError: the database failed.
        """
        scope = self.scope.of(user_id)
        check_limit(limit)
        if expand_hops is not None and not 0 <= expand_hops <= MAX_HOPS:
            raise InputError(f"expand_hops must be 0 to {MAX_HOPS}, got {expand_hops}")
        types = RelationshipFilter.of(scope.ontology, relationship_types, neo4j_types)
        wanted = await self._vector_query(query, vector, threshold)
        if expand_hops == 0:
            [ranking] = await self._vectors.relationships(scope, [wanted], types=types, limit=limit)
            candidates = list(ranking.candidates)
        else:
            spec = SearchSpec(
                scope,
                list(scope.ontology.labels),
                types,
                frozenset(("relationship_vector",)),
                hops=expand_hops,
                relationship_limit=limit,
                timeout=scope.timeout,
                weights=self.weights,
            )
            found = await search(spec, [wanted], self._vectors, self._embedder)
            ranking = found.results[0].rankings["relationship_vector"]
            candidates, _ = await hydrate(
                scope, found.results[0].relationships, labels=spec.labels, timeout=found.time_left
            )
        results = await in_turns(lambda one: to_result(one, scope), candidates)
        return Matches(results, plan=ranking.plan or "none")

    @observed("find_nodes_via_relationship_search")
    async def find_nodes_via_relationship_search(
        self,
        query: str | None = None,
        threshold: float = DEFAULT_THRESHOLD,
        *,
        user_id: str,
        relationship_types: Sequence[str] | None = None,
        neo4j_types: Sequence[str] | None = None,
        limit: int = 20,
        vector: Sequence[float] | None = None,
        expand_hops: int | None = 0,
    ) -> DiscoveredNodes:
        """Find relationships by vector search, and the nodes that they join.

        Arguments and errors are those of `relationship_vector_search`.
        """
        matches = await self.relationship_vector_search(
            query,
            threshold,
            user_id=user_id,
            relationship_types=relationship_types,
            neo4j_types=neo4j_types,
            limit=limit,
            vector=vector,
            expand_hops=expand_hops,
        )
        ends = dict.fromkeys(key for match in matches for key in (match.from_entity_key, match.to_entity_key))
        nodes = await self._nodes.get(user_id, list(ends))
        return DiscoveredNodes(nodes=tuple(nodes), relationships=tuple(matches))

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
            vector: an embedding to search for instead of the text, shape (dimensions,); no embedding call is made.

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
        [ranking] = await self._vectors.nodes(scope, queries, labels=scope.labels(labels), limit=limit)
        nodes = [(one.record, one.score) for one in ranking.candidates if isinstance(one.record, NodeRecord)]
        found = await in_turns(
            lambda one: NodeSearchResult(node=one[0].to_model(scope.ontology), similarity=one[1]), nodes
        )
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
        [ranking] = await nodes_by_name(scope, [text], labels=scope.labels(labels), limit=limit, nodes=self._nodes)
        found = [
            NodeSearchResult(node=one.result, similarity=one.score)
            for one in ranking.candidates
            if isinstance(one.result, GraphNode)
        ]
        return Matches(found, plan=ranking.plan or "none")

    async def embed_queries(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """Embed queries in one request."""
        return list(await self._embedder.embed_queries(texts))

    async def _vector_query(self, query: str | None, vector: Sequence[float] | None, threshold: float) -> EmbeddedQuery:
        if not -1.0 <= threshold <= 1.0:
            raise InputError(f"threshold must be a cosine from -1 to 1, got {threshold}")
        if vector is not None:
            return EmbeddedQuery(validate_vector(vector, self.scope.dimensions), threshold, query or "")
        if query is None or not query.strip():
            raise InputError("Say what to look for: query must not be empty")
        [embedded] = await self._embedder.embed_queries([query[:MAX_EMBEDDED_TEXT]])
        return EmbeddedQuery(embedded, threshold, query)
