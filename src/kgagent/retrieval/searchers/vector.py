"""Nodes by meaning."""

from collections.abc import Sequence

from kgagent.models import NodeSearchResult, SearchHit, SearchOptions
from kgagent.observing import observed
from kgagent.retrieval.searchers.base import DEFAULT_SEARCH
from kgagent.retrieval.service import RetrievalService


class VectorSearcher:
    """Finds the nodes whose text is nearest to the query; the score is plain cosine."""

    def __init__(self, retrieval: RetrievalService, *, user_id: str) -> None:
        self.observer = retrieval.observer
        self._retrieval = retrieval
        self._user_id = user_id

    @observed("vector_searcher")
    async def search(self, query: str | None = None, options: SearchOptions = DEFAULT_SEARCH) -> list[SearchHit]:
        """Find nodes; see `Searcher.search`.

        Raises:
            InputError: neither a query nor a vector was given.
            EmbeddingError: the query could not be embedded.
            StoreError: the database failed.
        """
        return [
            SearchHit(node=found.node, score=found.similarity, source="vector")
            for found in await self.nearest(query, options, options.top_k)
        ]

    async def nearest(self, query: str | None, options: SearchOptions, fetch: int) -> Sequence[NodeSearchResult]:
        """The nearest nodes of all labels together, `fetch` at the most; errors are those of `search`."""
        matches = await self._retrieval.node_vector_search(
            query, options.threshold, user_id=self._user_id, limit=fetch, vector=options.vector
        )
        return matches[:fetch]
