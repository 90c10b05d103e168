"""The searchers: one interface for three ways to find nodes: by similarity, by graph distance, and
by both, with the scores added.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from kgagent.errors import InputError
from kgagent.models import GraphNode, HitSource, SearchHit, SearchOptions
from kgagent.operations import Search
from kgagent.search.scope import SearchScope
from kgagent.search.service import RetrievalService
from kgagent.search.walk import READ_PER_HOP
from kgagent.validation import check_user_id

DEFAULT_SEARCH = SearchOptions()
SEARCHERS = ("vector", "graph", "hybrid")

NEAREST = 20
"""Minimum number of vector matches that the hybrid searcher expands."""

KEPT_NODES, KEPT_NEIGHBORS = 1_000, 100
"""Minimum number of nodes that its expansion keeps, in all and at a node; two matches may be joined
over any of them.
"""


@dataclass(frozen=True)
class ReachedNode:
    """A node that an expansion reached.

    Attributes:
        entity_key: its key.
        label_order: position of its label in the ontology.
        reached_from: keys of the one or two nearest starts with the hops from each, nearest first;
            a start reaches itself with 0 hops.
    """

    entity_key: str
    label_order: int
    reached_from: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class ScoredKey:
    """A node by its key, with its score and what found it; see `SearchHit`."""

    entity_key: str
    score: float
    source: HitSource
    depth: int


class Searcher:
    """Finds nodes of the user that it was made for.

    "vector" finds the nodes whose text is most similar to the query; the score is plain cosine.
    "graph" finds the nodes around the seeds, breadth first in both directions; the score is 1 / (1
    + hops). "hybrid" expands from the vector matches and from the seeds, and adds both scores: a
    vector match counts as reached if another start leads to it, a seed by itself.
    """

    def __init__(self, retrieval: RetrievalService, *, user_id: str, name: str) -> None:
        self._retrieval = retrieval
        self._user_id = user_id
        self._name = name

    async def search(
        self, query: str | None = None, options: SearchOptions = DEFAULT_SEARCH
    ) -> list[SearchHit]:
        """Find nodes.

        Args:
            query: what to look for; not needed by a graph search, nor with a vector in the options.
            options: how to search; seeds that are not the user's are ignored.

        Returns:
            Hits, best first; equal scores are ordered by the ontology's order of labels, then by
            key.

        Raises:
            InputError: what the search needs was not given.
            EmbeddingError: the query could not be embedded.
            StoreError: the database failed.
        """
        with self._retrieval.observer.watch(Search(f"{self._name}_searcher")):
            if self._name == "graph" and not options.seed_node_ids:
                raise InputError(
                    "graph search requires seed node IDs in SearchOptions.seed_node_ids"
                )
            return await self._search(query, options)

    async def _search(self, query: str | None, options: SearchOptions) -> list[SearchHit]:
        top_k, scope = options.top_k, self._retrieval.scope.of(self._user_id)
        similarities: dict[str, float] = {}
        known: dict[str, GraphNode] = {}
        if self._name != "graph":
            fetch = max(2 * top_k, NEAREST) if self._name == "hybrid" else top_k
            matches = await self._retrieval.node_vector_search(
                query, options.threshold, user_id=self._user_id, limit=fetch, vector=options.vector
            )
            for match in matches[:fetch]:
                known[match.node.entity_key] = match.node
                similarities[match.node.entity_key] = match.similarity
        label_order = {key: scope.ontology.label_order[node.label] for key, node in known.items()}
        depths: dict[str, int] = {}
        if self._name != "vector":
            starts = list(dict.fromkeys([*known, *options.seed_node_ids]))
            # A start may rank below what it leads to, so it takes no place of the top_k.
            wanted = top_k + len(starts)
            is_hybrid = self._name == "hybrid"
            reached = await breadth_first(
                scope,
                starts,
                depth=options.graph_depth,
                nodes=max(KEPT_NODES, wanted) if is_hybrid else top_k,
                node_neighbors=max(KEPT_NEIGHBORS, wanted) if is_hybrid else top_k,
            )
            label_order |= {node.entity_key: node.label_order for node in reached}
            depths = depths_from_others(reached, set(options.seed_node_ids))
        fused = add_scores(similarities, depths, label_order=label_order)
        return await self._hits(fused, known, top_k)

    async def _hits(
        self, fused: Sequence[ScoredKey], known: dict[str, GraphNode], top_k: int
    ) -> list[SearchHit]:
        """Read the nodes of the best keys; a node that was deleted meanwhile is skipped, and the
        next best takes its place.
        """
        hits: list[SearchHit] = []
        position = 0
        while len(hits) < top_k and position < len(fused):
            part = fused[position : position + top_k - len(hits)]
            position += len(part)
            if unread := [one.entity_key for one in part if one.entity_key not in known]:
                nodes = await self._retrieval.nodes(unread, user_id=self._user_id)
                known |= {node.entity_key: node for node in nodes}
            hits += [
                SearchHit(
                    node=known[one.entity_key], score=one.score, source=one.source, depth=one.depth
                )
                for one in part
                if one.entity_key in known
            ]
        return hits


def make_searcher(name: str, retrieval: RetrievalService, *, user_id: str) -> Searcher:
    """Make a searcher for one user.

    Args:
        name: "vector", "graph" or "hybrid".
        retrieval: the searches that it combines.
        user_id: owner of the nodes.

    Raises:
        InputError: the name is unknown or the user id empty.
    """
    check_user_id(user_id)
    if name not in SEARCHERS:
        raise InputError(f"No searcher is called {name!r}; choose among {', '.join(SEARCHERS)}")
    return Searcher(retrieval, user_id=user_id, name=name)


async def breadth_first(
    scope: SearchScope, starts: Sequence[str], *, depth: int, nodes: int, node_neighbors: int
) -> list[ReachedNode]:
    """Find the nodes around starts, including the starts, in one statement whatever the depth.

    Args:
        scope: whose graph.
        starts: entity keys, each once; unknown ones are skipped.
        depth: hops, 0 to 5.
        nodes: maximum number of nodes: the nearest, then the first by label order and key.
        node_neighbors: maximum number of neighbors of one node: starts first, then in that order.

    Raises:
        StoreError: the database failed.
    """
    if not starts:
        return []
    rows = await scope.read(
        scope.statement("expand_breadth_first"),
        {
            "keys": list(starts),
            "starts": len(starts),
            "label_order": dict(scope.ontology.label_order),
            "depth": depth,
            "nodes": nodes,
            "node_neighbors": node_neighbors,
            "start_relationships": READ_PER_HOP // len(starts),
            "node_relationships": READ_PER_HOP // nodes,
        },
    )
    return [
        ReachedNode(
            row["entity_key"],
            row["label_order"],
            tuple((starts[source["start"]], source["depth"]) for source in row["reached_from"]),
        )
        for row in rows
    ]


def depths_from_others(reached: Iterable[ReachedNode], seeds: Collection[str]) -> dict[str, int]:
    """Hops to each node from the nearest start other than itself, by key; 0 for a seed.

    A start that no other start leads to, and that is no seed, is omitted.
    """
    depths: dict[str, int] = {}
    nodes = list(reached)
    kept = {node.entity_key for node in nodes}
    for node in nodes:
        key = node.entity_key
        if key in seeds:
            depths[key] = 0
        for start, depth in node.reached_from:
            if start == key:
                continue
            depths[key] = min(depth, depths.get(key, depth))
            if start in kept and (key, 0) in node.reached_from:
                # The way back has the same length, and at a hub only the other end may have been
                # read completely.
                depths[start] = min(depth, depths.get(start, depth))
    return depths


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

    def scored(key: str) -> ScoredKey:
        similarity, depth = similarities.get(key), depths.get(key)
        if similarity is None:
            return ScoredKey(key, graph_score(depth or 0), "graph", depth or 0)
        if depth is None:
            return ScoredKey(key, similarity, "vector", 0)
        return ScoredKey(key, similarity + graph_score(depth), "hybrid", 0)

    return sorted(
        map(scored, similarities.keys() | depths.keys()),
        key=lambda hit: (-hit.score, label_order[hit.entity_key], hit.entity_key),
    )
