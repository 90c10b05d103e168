"""The searches of a knowledge graph."""

from collections.abc import Sequence

from kgagent.errors import InputError
from kgagent.models import HybridSearchOptions, HybridSearchRequest, HybridSearchResult
from kgagent.retrieval.arguments import validate_vector
from kgagent.retrieval.graph_walks import GraphWalks
from kgagent.retrieval.hybrid import HybridSearch
from kgagent.retrieval.rerank import CrossEncoder
from kgagent.retrieval.scope import RelationshipFilter, check_text, observed


class RetrievalService(GraphWalks):
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
        options = request
        if not isinstance(options, HybridSearchOptions):  # what a request holds was validated when it was made
            options = HybridSearchOptions.model_construct(**dict(request))
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
            weights=self.weights,
        )
        return await search.run(self._vectors, self._embedder, self._calibration)
