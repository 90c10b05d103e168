"""The searches of a knowledge graph."""

from collections.abc import Mapping, Sequence

from kgagent.errors import InputError
from kgagent.models import (
    ExploreRequest,
    ExploreResult,
    FindPathsRequest,
    FindPathsResult,
    GraphExpansion,
    GraphNode,
    HybridSearchOptions,
    HybridSearchRequest,
    HybridSearchResult,
    TraverseRequest,
    TraverseResult,
)
from kgagent.retrieval.arguments import validate_vector
from kgagent.retrieval.expansion import expand_around
from kgagent.retrieval.explore import NOTHING_ASKED, Exploration
from kgagent.retrieval.observed import observed
from kgagent.retrieval.paths import find_paths
from kgagent.retrieval.pipeline import HybridSearch
from kgagent.retrieval.rerank import CrossEncoder
from kgagent.retrieval.scope import RelationshipFilter, check_text
from kgagent.retrieval.similar_nodes import find_similar_nodes
from kgagent.retrieval.single_searches import SingleSearches
from kgagent.retrieval.traversal import traverse


class RetrievalService(SingleSearches):
    """Searches nodes and relationships of a user: semantically, by words, by name and by their surroundings."""

    @observed("hybrid_search")
    async def hybrid_search(
        self,
        request: HybridSearchRequest,
        *,
        user_id: str,
        vector: Sequence[float] | None = None,
        cross_encoder: CrossEncoder | None = None,
    ) -> HybridSearchResult:
        """Find nodes and relationships by vector and full-text search, fused into one ranking.

        A search that fails or times out is skipped, with a warning in the result.

        Args:
            request: the query, embedded in one call unless `vector` is given, and how to search.
            user_id: owner of the graph.
            vector: an embedding to use instead of the query's own, shape (dimensions,); no embedding call is made.
                Without a query, only the vector searches run.
            cross_encoder: has a method `score(query, texts)`, plain or async, that returns one number for each text;
                it reranks the best items.

        Raises:
            InputError: invalid argument.
            SearchError: every search failed.
        """
        options = _options(request)
        scope = self.scope.of(user_id)
        if vector is None and (options.query is None or not options.query.strip()):
            raise InputError("Say what to look for: give a query that is not empty, a vector, or both")
        if options.query is not None:
            check_text(options.query)
        if cross_encoder is not None and not callable(getattr(cross_encoder, "score", None)):
            raise InputError(
                f"cross_encoder must have a method score(query, texts), got {type(cross_encoder).__name__}"
            )
        search = HybridSearch(
            scope,
            options,
            scope.labels(options.labels),
            RelationshipFilter.of(scope.ontology, options.relationship_types, options.neo4j_types),
            limit=options.limit or self._hybrid_limit,
            timeout=options.timeout or scope.timeout,
            vector=None if vector is None else validate_vector(vector, scope.dimensions),
            cross_encoder=cross_encoder,
        )
        return await search.run(self._vectors, self._embedder)

    @observed("explore")
    async def explore(self, request: ExploreRequest, *, user_id: str) -> ExploreResult:
        """Search for several queries and names, fuse the nodes found, and return them with their surroundings.

        A search that fails or times out is skipped, with a warning in the result.

        Args:
            request: queries, names and how to search.
            user_id: owner of the graph.

        Raises:
            InputError: invalid argument.
            SearchError: every search failed.
        """
        scope = self.scope.of(user_id)
        if not request.queries and not request.text_matches:
            raise InputError(NOTHING_ASKED)
        for text in (*(query.query for query in request.queries), *request.text_matches):
            check_text(text)
        types = RelationshipFilter.of(scope.ontology, request.relationship_types, request.neo4j_types)
        exploration = Exploration(scope, request, scope.labels(request.labels), types, self._nodes)
        return await exploration.run(self._vectors, self._embedder)

    @observed("expand_graph")
    async def expand_graph(
        self, entity_keys: Sequence[str], *, user_id: str, max_relationships: int = 10, max_neighbours: int = 30
    ) -> GraphExpansion:
        """Find the surroundings of nodes: the relationships among them, and their neighbors one hop away.

        Args:
            entity_keys: keys of the nodes.
            user_id: owner of the nodes.
            max_relationships: maximum number of relationships among the nodes.
            max_neighbours: maximum number of neighbors; each comes with the relationships that join it to the nodes.

        Raises:
            StoreError: the database failed.
        """
        return await expand_around(
            self.scope.of(user_id), entity_keys, max_relationships=max_relationships, max_neighbours=max_neighbours
        )

    @observed("traverse")
    async def traverse(self, request: TraverseRequest, *, user_id: str) -> TraverseResult:
        """Find the nodes around a node, hop by hop.

        Args:
            request: where to start, and how far to go.
            user_id: owner of the graph.

        Raises:
            NotFoundError: the node does not exist for this user.
            InputError: a type is unknown.
            StoreError: the database failed.
        """
        return await traverse(self.scope.of(user_id), request, self._nodes)

    @observed("find_paths")
    async def find_paths(self, request: FindPathsRequest, *, user_id: str) -> FindPathsResult:
        """Find how two nodes are related: the shortest paths between them, and the most relevant ones.

        Args:
            request: the nodes, and optionally what the paths should be about.
            user_id: owner of the graph.

        Raises:
            NotFoundError: a node does not exist for this user.
            InputError: both ends are one node.
            EmbeddingError: the query could not be embedded.
            StoreError: the database failed.
        """
        return await find_paths(self.scope.of(user_id), request, self._nodes, self._embedder)

    @observed("find_similar_nodes")
    async def find_similar_nodes(
        self, new: Sequence[GraphNode], embeddings: Mapping[str, Sequence[float]], *, user_id: str
    ) -> dict[str, tuple[GraphNode, ...]]:
        """Find older nodes that may represent the same thing as new ones: similar names or embeddings, same label.

        Args:
            new: nodes that were just created.
            embeddings: their embeddings by key, float32, shape (dimensions,); nodes may be missing.
            user_id: owner of the nodes.

        Returns:
            Up to three similar nodes by the key of the new one; nodes without any are missing.

        Raises:
            StoreError: the database failed.
        """
        return await find_similar_nodes(
            self.scope.of(user_id), new, embeddings, nodes=self._nodes, vectors=self._vectors
        )

    async def nodes(
        self, entity_keys: Sequence[str], *, user_id: str, labels: Sequence[str] | None = None
    ) -> list[GraphNode]:
        """Read nodes by key, in the order of the keys; nodes that the user does not own are omitted.

        Args:
            entity_keys: keys of the nodes.
            user_id: owner of the nodes.
            labels: for a node with several labels, one of these is returned.
        """
        return await self._nodes.get(user_id, entity_keys, labels)


def _options(request: HybridSearchRequest) -> HybridSearchOptions:
    """Add the default options to a request without options; what it holds was validated when it was made."""
    if isinstance(request, HybridSearchOptions):
        return request
    return HybridSearchOptions.model_construct(
        **{name: getattr(request, name) for name in HybridSearchRequest.model_fields}
    )
