"""The searchers as configurations of the same stages: retrieve, expand, fuse, hydrate."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from kgagent.errors import InputError
from kgagent.models import GraphNode, HitSource, NodeSearchResult, SearchHit, SearchOptions
from kgagent.search.scope import observed
from kgagent.search.searchers.breadth_first import (
    BreadthFirst,
    Reach,
    depths_from_others,
    depths_from_seeds,
)
from kgagent.search.service import RetrievalService

DEFAULT_SEARCH = SearchOptions()

MIN_FETCH = 20
"""Minimum number of vector matches that the hybrid searcher retrieves."""

KEPT_NODES = 1_000
"""Minimum number of nodes that its expansion keeps; two matches may be joined over any of them."""

KEPT_NEIGHBORS = 100


class Searcher(Protocol):
    """Finds nodes of the user that it was made for."""

    async def search(
        self, query: str | None = None, options: SearchOptions = DEFAULT_SEARCH
    ) -> list[SearchHit]:
        """Find nodes.

        Args:
            query: what to look for; not needed by a graph search, nor with a vector in the options.
            options: how to search.

        Returns:
            Hits, best first; equal scores are ordered by the ontology's order of labels, then by
            key.

        Raises:
            InputError: what the search needs was not given.
            EmbeddingError: the query could not be embedded.
            StoreError: the database failed.
        """
        ...


class VectorSearcher:
    """Finds the nodes whose text is most similar to the query; the score is plain cosine."""

    def __init__(self, retrieval: RetrievalService, *, user_id: str) -> None:
        self.observer = retrieval.observer
        self._retrieval = retrieval
        self._user_id = user_id

    @observed("vector_searcher")
    async def search(
        self, query: str | None = None, options: SearchOptions = DEFAULT_SEARCH
    ) -> list[SearchHit]:
        """Find nodes; see `Searcher.search`.

        Raises:
            InputError: neither a query nor a vector was given.
            EmbeddingError: the query could not be embedded.
            StoreError: the database failed.
        """
        found = await _nearest(self._retrieval, self._user_id, query, options, options.top_k)
        return [SearchHit(node=one.node, score=one.similarity, source="vector") for one in found]


class GraphSearcher:
    """Finds the nodes around seeds, breadth first in both directions; the score is 1 / (1 +
    hops).
    """

    def __init__(self, retrieval: RetrievalService, *, user_id: str) -> None:
        self.observer = retrieval.observer
        self._retrieval = retrieval
        self._user_id = user_id

    @observed("graph_searcher")
    async def search(
        self,
        query: str | None = None,  # noqa: ARG002
        options: SearchOptions = DEFAULT_SEARCH,
    ) -> list[SearchHit]:
        """Find nodes; see `Searcher.search`. The query is ignored, and so are seeds that are not
        the user's.

        Raises:
            InputError: no seed was given.
            StoreError: the database failed.
        """
        if not options.seed_node_ids:
            raise InputError("graph search requires seed node IDs in SearchOptions.seed_node_ids")
        reach = Reach(depth=options.graph_depth, nodes=options.top_k, node_neighbors=options.top_k)
        reached = await BreadthFirst(self._retrieval.scope).expand(
            self._user_id, options.seed_node_ids, reach
        )
        label_order = {node.entity_key: node.label_order for node in reached}
        fused = add_scores({}, depths_from_seeds(reached), label_order=label_order)
        return await _hydrate(self._retrieval, self._user_id, fused, options.top_k)


class HybridSearcher:
    """Finds nodes by vector, expands from them and from the seeds, and adds both scores.

    A vector match counts as reached if another start leads to it; a seed counts as reached by
    itself.
    """

    def __init__(self, retrieval: RetrievalService, *, user_id: str) -> None:
        self.observer = retrieval.observer
        self._retrieval = retrieval
        self._user_id = user_id

    @observed("hybrid_searcher")
    async def search(
        self, query: str | None = None, options: SearchOptions = DEFAULT_SEARCH
    ) -> list[SearchHit]:
        """Find nodes; see `Searcher.search`. Seeds that are not the user's are ignored.

        Raises:
            InputError: neither a query nor a vector was given.
            EmbeddingError: the query could not be embedded.
            StoreError: the database failed.
        """
        fetch = max(2 * options.top_k, MIN_FETCH)
        found = await _nearest(self._retrieval, self._user_id, query, options, fetch)
        known = {one.node.entity_key: one.node for one in found}
        starts = [*known, *(key for key in options.seed_node_ids if key not in known)]
        scope = self._retrieval.scope
        reached = await BreadthFirst(scope).expand(
            self._user_id, starts, _reach(options, len(starts))
        )
        label_order = {node.entity_key: node.label_order for node in reached}
        label_order |= {key: scope.ontology.label_order[node.label] for key, node in known.items()}
        fused = add_scores(
            {one.node.entity_key: one.similarity for one in found},
            depths_from_others(reached, set(options.seed_node_ids)),
            label_order=label_order,
        )
        return await _hydrate(self._retrieval, self._user_id, fused, options.top_k, known=known)


@dataclass(frozen=True)
class ScoredKey:
    """A node by its key, with its score and what found it; see `SearchHit`."""

    entity_key: str
    score: float
    source: HitSource
    depth: int


def graph_score(depth: int) -> float:
    """Score of a node by its distance in hops: 1 / (1 + depth)."""
    return 1.0 / (1 + depth)


def add_scores(
    similarities: Mapping[str, float], depths: Mapping[str, int], *, label_order: Mapping[str, int]
) -> list[ScoredKey]:
    """Fuse both searches: add the scores of each node.

    Args:
        similarities: plain cosine of each vector match, by key.
        depths: hops to each node that expansion reached, by key.
        label_order: position of each node's label in the ontology, by key.

    Returns:
        Each node once, best first; equal scores are ordered by label order, then by key. A vector
        match has depth 0.
    """
    scored = [
        _scored(key, similarities.get(key), depths.get(key))
        for key in similarities.keys() | depths.keys()
    ]
    return sorted(scored, key=lambda hit: (-hit.score, label_order[hit.entity_key], hit.entity_key))


def _scored(key: str, similarity: float | None, depth: int | None) -> ScoredKey:
    if similarity is None:
        reached = depth or 0
        return ScoredKey(key, graph_score(reached), "graph", reached)
    if depth is None:
        return ScoredKey(key, similarity, "vector", 0)
    return ScoredKey(key, similarity + graph_score(depth), "hybrid", 0)


def _reach(options: SearchOptions, starts: int) -> Reach:
    # A start may rank below what it leads to, so it takes no place of the top_k.
    wanted = options.top_k + starts
    return Reach(
        depth=options.graph_depth,
        nodes=max(KEPT_NODES, wanted),
        node_neighbors=max(KEPT_NEIGHBORS, wanted),
        others=True,
    )


async def _nearest(
    retrieval: RetrievalService, user_id: str, query: str | None, options: SearchOptions, fetch: int
) -> Sequence[NodeSearchResult]:
    """Retrieve the nearest nodes of all labels together, at most `fetch`."""
    matches = await retrieval.node_vector_search(
        query, options.threshold, user_id=user_id, limit=fetch, vector=options.vector
    )
    return matches[:fetch]


async def _hydrate(
    retrieval: RetrievalService,
    user_id: str,
    fused: Sequence[ScoredKey],
    top_k: int,
    *,
    known: Mapping[str, GraphNode] | None = None,
) -> list[SearchHit]:
    """Read the nodes of the best keys; a node that was deleted meanwhile is skipped, and the next
    best takes its place.

    Args:
        retrieval: reads nodes.
        user_id: owner of the nodes.
        fused: keys, best first.
        top_k: maximum number of hits.
        known: nodes that need not be read, by key.

    Raises:
        StoreError: the database failed.
    """
    nodes = dict(known or {})
    hits: list[SearchHit] = []
    position = 0
    while len(hits) < top_k and position < len(fused):
        part = fused[position : position + top_k - len(hits)]
        position += len(part)
        unread = [scored.entity_key for scored in part if scored.entity_key not in nodes]
        if unread:
            nodes.update(
                (node.entity_key, node) for node in await retrieval.nodes(unread, user_id=user_id)
            )
        hits += [
            SearchHit(
                node=nodes[scored.entity_key],
                score=scored.score,
                source=scored.source,
                depth=scored.depth,
            )
            for scored in part
            if scored.entity_key in nodes
        ]
    return hits
