"""Nodes by meaning and by their place in the graph."""

from kgagent.models import SearchHit, SearchOptions
from kgagent.observing import observed
from kgagent.ontology import Ontology
from kgagent.retrieval.searchers.base import DEFAULT_SEARCH
from kgagent.retrieval.searchers.breadth_first import BreadthFirst, Reach, depths_from_others
from kgagent.retrieval.searchers.hits import read_hits
from kgagent.retrieval.searchers.scoring import merged
from kgagent.retrieval.searchers.vector import VectorSearcher
from kgagent.retrieval.service import RetrievalService

MIN_FETCH = 20
"""Vector hits asked for at the least."""

KEPT_NODES = 1_000
"""Nodes that an expansion keeps at the least; two hits may be joined over any of them."""

KEPT_NEIGHBOURS = 100


class HybridSearcher:
    """Finds nodes by meaning and goes on from them and from the seeds through the graph; both scores are added.

    A vector hit counts as reached where another start leads to it, a seed counts as reached by itself.
    """

    def __init__(
        self, retrieval: RetrievalService, breadth_first: BreadthFirst, ontology: Ontology, *, user_id: str
    ) -> None:
        self.observer = retrieval.observer
        self._retrieval = retrieval
        self._breadth_first = breadth_first
        self._ontology = ontology
        self._vector = VectorSearcher(retrieval, user_id=user_id)
        self._user_id = user_id

    @observed("hybrid_searcher")
    async def search(self, query: str | None = None, options: SearchOptions = DEFAULT_SEARCH) -> list[SearchHit]:
        """Find nodes; see `Searcher.search`. A seed that is not the user's is skipped.

        Raises:
            InputError: neither a query nor a vector was given.
            EmbeddingError: the query could not be embedded.
            StoreError: the database failed.
        """
        found = await self._vector.nearest(query, options, max(2 * options.top_k, MIN_FETCH))
        known = {hit.node.entity_key: hit.node for hit in found}
        starts = [*known, *(key for key in options.seed_node_ids if key not in known)]
        reached = await self._breadth_first.expand(self._user_id, starts, self._reach(options, len(starts)))
        label_order = {node.entity_key: node.label_order for node in reached}
        label_order |= {key: self._ontology.label_order[node.label] for key, node in known.items()}
        ranked = merged(
            {hit.node.entity_key: hit.similarity for hit in found},
            depths_from_others(reached, set(options.seed_node_ids)),
            label_order=label_order,
        )
        return await read_hits(self._retrieval, self._user_id, ranked, options.top_k, known=known)

    def _reach(self, options: SearchOptions, starts: int) -> Reach:
        # A start may rank below what it leads to, so it takes no place of the top_k.
        wanted = options.top_k + starts
        return Reach(
            depth=options.graph_depth,
            nodes=max(KEPT_NODES, wanted),
            node_neighbours=max(KEPT_NEIGHBOURS, wanted),
            others=True,
        )
