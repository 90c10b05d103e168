"""Nodes by their place in the graph."""

from kgagent.errors import InputError
from kgagent.models import SearchHit, SearchOptions
from kgagent.observing import observed
from kgagent.retrieval.searchers.base import DEFAULT_SEARCH
from kgagent.retrieval.searchers.breadth_first import BreadthFirst, Reach, depths_from_seeds
from kgagent.retrieval.searchers.hits import read_hits
from kgagent.retrieval.searchers.scoring import merged
from kgagent.retrieval.service import RetrievalService


class GraphSearcher:
    """Finds the nodes around seeds, breadth first over both directions; the score is 1 / (1 + hops)."""

    def __init__(self, retrieval: RetrievalService, breadth_first: BreadthFirst, *, user_id: str) -> None:
        self.observer = retrieval.observer
        self._retrieval = retrieval
        self._breadth_first = breadth_first
        self._user_id = user_id

    @observed("graph_searcher")
    async def search(self, query: str | None = None, options: SearchOptions = DEFAULT_SEARCH) -> list[SearchHit]:  # noqa: ARG002
        """Find nodes; see `Searcher.search`. The query is not used, and a seed that is not the user's is skipped.

        Raises:
            InputError: no seed was given.
            StoreError: the database failed.
        """
        if not options.seed_node_ids:
            raise InputError("graph search requires seed node IDs in SearchOptions.seed_node_ids")
        reach = Reach(depth=options.graph_depth, nodes=options.top_k, node_neighbours=options.top_k)
        reached = await self._breadth_first.expand(self._user_id, options.seed_node_ids, reach)
        label_order = {node.entity_key: node.label_order for node in reached}
        ranked = merged({}, depths_from_seeds(reached), label_order=label_order)
        return await read_hits(self._retrieval, self._user_id, ranked, options.top_k)
