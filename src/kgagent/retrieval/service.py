"""The searches of a knowledge graph."""

from collections.abc import Sequence

from kgagent.embedding.base import Embedder, validate_texts
from kgagent.errors import InputError
from kgagent.graph.nodes import NodeRepository
from kgagent.graph.relationships import RelationshipRepository
from kgagent.graph.store import Store
from kgagent.models import (
    DiscoveredNodes,
    ExploreRequest,
    ExploreResult,
    GraphExpansion,
    GraphNode,
    Matches,
    NodeSearchResult,
    RelationshipSearchResult,
)
from kgagent.models.hybrid import HybridSearchOptions, HybridSearchRequest, HybridSearchResult
from kgagent.models.paths import FindPathsRequest, FindPathsResult
from kgagent.models.traversal import TraverseRequest, TraverseResult
from kgagent.observing import NULL_OBSERVER, Observer, observed
from kgagent.ontology import Ontology
from kgagent.retrieval.answered import RecordLoader
from kgagent.retrieval.arguments import check_scope, validate_vector
from kgagent.retrieval.beam import BeamSearch
from kgagent.retrieval.by_meaning import VectorRetrievers
from kgagent.retrieval.expansion import Expander
from kgagent.retrieval.explore import Explorer
from kgagent.retrieval.full_text import FullTextSearch
from kgagent.retrieval.hybrid import HybridSearch, Question
from kgagent.retrieval.nearest import NearestQuery
from kgagent.retrieval.paths import PathFinder
from kgagent.retrieval.rerank import CrossEncoder
from kgagent.retrieval.stored_embeddings import StoredEmbeddings
from kgagent.retrieval.text_match import match_text
from kgagent.retrieval.traversal import Traverser
from kgagent.retrieval.vector_search import VectorSearch

DEFAULT_THRESHOLD = 0.3


class RetrievalService:
    """Searches nodes and relationships by meaning, by name and by what surrounds them; each call says whose."""

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
    ) -> None:
        self.observer = observer
        self._hybrid_limit = hybrid_limit
        self._ontology = ontology
        self._embedder = embedder
        self._timeout = timeout
        self._nodes = NodeRepository(store, ontology)
        self._relationships = RelationshipRepository(store, ontology)
        self._full_text = FullTextSearch(store, ontology, timeout=timeout)
        self._answered = RecordLoader(self._relationships, timeout=timeout)
        self._stored = StoredEmbeddings(self._relationships, embedder, timeout=timeout)
        self._paths = PathFinder(self._nodes, self._relationships, embedder, timeout=timeout)
        self._expander = Expander(self._relationships, timeout=timeout)
        self._traverser = Traverser(self._nodes, self._relationships, timeout=timeout)
        self._by_meaning = VectorRetrievers(
            VectorSearch(
                store, embedder, exact_scan_limit=exact_scan_limit, oversampling=oversampling, timeout=timeout
            ),
            BeamSearch(self._relationships, embedder, timeout=timeout),
            ontology,
            store.features,
        )

    @observed("relationship_vector_search")
    async def relationship_vector_search(
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
        """Find relationships by meaning.

        Args:
            query: what to look for; or give `vector`, or both.
            threshold: least plain cosine similarity, -1 to 1, of a relationship that the query finds by itself.
            user_id: whose relationships.
            relationship_types: free types ("mentor") to keep to; None keeps all.
            limit: relationships at the most.
            vector: an embedding to look for instead of a text, shape (dimensions,); no embedding call is made.
            expand_hops: levels, 0 to 5, on which the search goes on from its best hits to the relationships that share
                a node with them; answers a question that names only where to begin. `score` then ranks. Names in
                `query` say where to begin.

        Returns:
            Relationships, best first.

        Raises:
            InputError: an argument is not one that it may be.
            EmbeddingError: the query could not be embedded.
            StoreError: the database failed.
        """
        nearest = await self._nearest_query(query, vector, threshold, user_id)
        [matches] = await self.relationships_near(
            [nearest], user_id=user_id, relationship_types=relationship_types, limit=limit, expand_hops=expand_hops
        )
        return matches

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
        """Find nodes by the meaning of their own text.

        Args:
            query: what to look for; or give `vector`.
            threshold: least plain cosine similarity, -1 to 1.
            user_id: whose nodes.
            labels: labels to keep to; None keeps all.
            limit: nodes of each label at the most.
            vector: an embedding to look for instead of a text, shape (dimensions,); no embedding call is made.

        Returns:
            Nodes of all labels, most similar first.

        Raises:
            InputError: an argument is not one that it may be.
            EmbeddingError: the query could not be embedded.
            StoreError: the database failed.
        """
        nearest = await self._nearest_query(query, vector, threshold, user_id)
        [matches] = await self.nodes_near([nearest], user_id=user_id, labels=labels, limit=limit)
        return matches

    @observed("find_nodes_via_relationship_search")
    async def find_nodes_via_relationship_search(
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
        """Find relationships by meaning, and the nodes that they join.

        Args and errors are those of `relationship_vector_search`.
        """
        matches = await self.relationship_vector_search(
            query,
            threshold,
            user_id=user_id,
            relationship_types=relationship_types,
            limit=limit,
            vector=vector,
            expand_hops=expand_hops,
        )
        ends = dict.fromkeys(key for match in matches for key in (match.from_entity_key, match.to_entity_key))
        nodes = await self._nodes.get(user_id, list(ends))
        return DiscoveredNodes(nodes=tuple(nodes), relationships=tuple(matches))

    @observed("text_match")
    async def text_match(
        self, text: str, *, user_id: str, labels: Sequence[str] | None = None, limit: int = 20
    ) -> Matches[NodeSearchResult]:
        """Find nodes by name.

        Args:
            text: what the name is compared with; equal, contained, or sharing words.
            user_id: whose nodes.
            labels: labels to keep to; None keeps all.
            limit: nodes at the most.

        Raises:
            InputError: the text is empty or a label is unknown.
            StoreError: the database failed.
        """
        if not text.strip():
            raise InputError("text must not be empty")
        check_scope(user_id, limit)
        return await match_text(
            self._nodes, text, user_id=user_id, labels=self.known_labels(labels), limit=limit, timeout=self._timeout
        )

    @observed("hybrid_search")
    async def hybrid_search(
        self,
        request: HybridSearchRequest,
        *,
        user_id: str,
        vector: Sequence[float] | None = None,
        cross_encoder: CrossEncoder | None = None,
    ) -> HybridSearchResult:
        """Find nodes and relationships, by meaning and by their words, all at once and fused into one ranking.

        A part that fails, finds nothing or runs out of time leaves the others' results, with a warning among them.

        Args:
            request: the query, embedded in one call unless `vector` is given, and how to search.
            user_id: owner of the graph.
            vector: an embedding to use instead of the query's own, shape (dimensions,); no embedding call is made.
                Without a query, only the vector searches run.
            cross_encoder: has a method `score(query, texts)`, plain or async, that gives one number for each text; it
                reads the query with each of the best items, and its order holds.

        Raises:
            InputError: an argument is not one that it may be.
            SearchError: every part of the search failed.
        """
        check_scope(user_id)
        options = HybridSearchOptions.of(request)
        query = options.query
        if vector is None and (query is None or not query.strip()):
            raise InputError("Say what to look for: give a query that is not empty, a vector, or both")
        if query is not None:
            validate_texts([query])
        if cross_encoder is not None and not callable(getattr(cross_encoder, "score", None)):
            raise InputError(
                f"cross_encoder must have a method score(query, texts), got {type(cross_encoder).__name__}"
            )
        question = Question(
            text=query,
            vector=None if vector is None else validate_vector(vector, self._embedder.dimensions),
            user_id=user_id,
            options=options,
            timeout=options.timeout or self._timeout,
            limit=options.limit or self._hybrid_limit,
            cross_encoder=cross_encoder,
        )
        search = HybridSearch(
            self,
            by_meaning=self._by_meaning,
            full_text=self._full_text,
            answered=self._answered,
            embeddings=self._stored,
            ontology=self._ontology,
        )
        return await search.search(question)

    @observed("expand_graph")
    async def expand_graph(
        self, entity_keys: Sequence[str], *, user_id: str, max_relationships: int = 10, max_neighbours: int = 30
    ) -> GraphExpansion:
        """Find what surrounds some nodes: relationships among them, and their neighbours one hop away.

        Args:
            entity_keys: keys of the nodes.
            user_id: whose nodes.
            max_relationships: relationships among the nodes at the most.
            max_neighbours: neighbours at the most; each comes with the relationships that join it to the nodes.

        Raises:
            StoreError: the database failed.
        """
        check_scope(user_id)
        return await self._expander.expand(
            entity_keys, user_id, max_relationships=max_relationships, max_neighbours=max_neighbours
        )

    @observed("explore")
    async def explore(self, request: ExploreRequest, *, user_id: str) -> ExploreResult:
        """Run all searches at once, fuse what they find, and show it with what surrounds it.

        Args:
            request: what to look for.
            user_id: whose graph.

        Raises:
            InputError: nothing was asked for, or a label is unknown.
            EmbeddingError: the queries could not be embedded.
            StoreError: the database failed.
        """
        check_scope(user_id)
        return await Explorer(self, self._ontology).explore(request, user_id)

    @observed("traverse")
    async def traverse(self, request: TraverseRequest, *, user_id: str) -> TraverseResult:
        """Walk from a node along its relationships.

        Args:
            request: from where, and how far.
            user_id: whose graph.

        Raises:
            NotFoundError: the node does not exist for this user.
            InputError: a type is unknown.
            StoreError: the database failed.
        """
        check_scope(user_id)
        return await self._traverser.traverse(request, user_id)

    @observed("find_paths")
    async def find_paths(self, request: FindPathsRequest, *, user_id: str) -> FindPathsResult:
        """Find how two nodes are related: the shortest paths between them, and the most relevant ones.

        Args:
            request: which nodes, and what the paths should be about.
            user_id: whose graph.

        Raises:
            NotFoundError: a node does not exist for this user.
            InputError: both ends are one node.
            EmbeddingError: the query could not be embedded.
            StoreError: the database failed.
        """
        check_scope(user_id)
        return await self._paths.find(request, user_id)

    async def embed_queries(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """Embed what is looked for, all of it in one request."""
        return list(await self._embedder.embed_queries(texts))

    async def relationships_near(
        self,
        queries: Sequence[NearestQuery],
        *,
        user_id: str,
        relationship_types: Sequence[str] | None = None,
        limit: int = 20,
        expand_hops: int | None = 0,
        timeout: float | None = None,
    ) -> list[Matches[RelationshipSearchResult]]:
        """Find the relationships near each of several vectors, in one statement, and go on from them where asked to.

        Args:
            queries: what to look for; where a text is given, the names in it say where to begin to go on.
            user_id: whose relationships.
            relationship_types: free types ("mentor") to keep to; None keeps all.
            limit: relationships of each query at the most.
            expand_hops: levels to go on, 0 to 5, whatever is reached is like; None goes on for one level, to what
                reaches the query's threshold too.
            timeout: seconds in which to answer: going on ends in time for what was found until then to be told.

        Raises:
            InputError: an argument is not one that it may be.
            StoreError: the database failed.
        """
        check_scope(user_id, limit)
        found = await self._by_meaning.relationships(
            queries, user_id, relationship_types, limit, expand_hops=expand_hops, timeout=timeout
        )
        return [Matches([step.to_model(self._ontology) for step in steps], plan=steps.plan) for steps in found]

    async def nodes_near(
        self, queries: Sequence[NearestQuery], *, user_id: str, labels: Sequence[str] | None = None, limit: int = 20
    ) -> list[Matches[NodeSearchResult]]:
        """Find the nodes near each of several vectors, the labels side by side.

        Raises:
            InputError: an argument is not one that it may be.
            StoreError: the database failed.
        """
        check_scope(user_id, limit)
        found = await self._by_meaning.nodes(queries, user_id, self.known_labels(labels), limit)
        return [
            Matches(
                [NodeSearchResult(node=hit.record.to_model(self._ontology), similarity=hit.similarity) for hit in hits],
                plan=hits.plan,
            )
            for hits in found
        ]

    async def nodes(
        self, entity_keys: Sequence[str], *, user_id: str, labels: Sequence[str] | None = None
    ) -> list[GraphNode]:
        """Read nodes by key, in the order of the keys; those that the user does not own are left out.

        Args:
            entity_keys: keys of the nodes.
            user_id: whose nodes.
            labels: those that are told of a node that carries several.
        """
        return await self._nodes.get(user_id, entity_keys, labels)

    def known_labels(self, labels: Sequence[str] | None) -> list[str]:
        """Check labels against the ontology; all of them where none are named.

        Raises:
            InputError: a label is unknown, or the list is empty.
        """
        if labels is None:
            return list(self._ontology.labels)
        if not labels:
            raise InputError(f"No label was named; leave it out, or choose among {', '.join(self._ontology.labels)}")
        for label in labels:
            self._ontology.label(label)
        return list(dict.fromkeys(labels))

    async def _nearest_query(
        self, query: str | None, vector: Sequence[float] | None, threshold: float, user_id: str
    ) -> NearestQuery:
        check_scope(user_id)
        if not -1.0 <= threshold <= 1.0:
            raise InputError(f"threshold must be a cosine from -1 to 1, got {threshold}")
        if vector is not None:
            return NearestQuery(validate_vector(vector, self._embedder.dimensions), threshold, query or "")
        if query is None or not query.strip():
            raise InputError("Say what to look for: query must not be empty")
        [embedding] = await self.embed_queries([query])
        return NearestQuery(embedding, threshold, query)
