"""Turning ranked keys into hits with their nodes."""

from collections.abc import Mapping, Sequence

from kgagent.models import GraphNode, SearchHit
from kgagent.retrieval.searchers.scoring import ScoredKey
from kgagent.retrieval.service import RetrievalService


async def read_hits(
    retrieval: RetrievalService,
    user_id: str,
    ranked: Sequence[ScoredKey],
    top_k: int,
    *,
    known: Mapping[str, GraphNode] | None = None,
) -> list[SearchHit]:
    """Read the nodes of the best keys; one that is gone by now is skipped, and the next best takes its place.

    Args:
        retrieval: reads nodes.
        user_id: whose nodes.
        ranked: keys, best first.
        top_k: hits at the most.
        known: nodes that need not be read, by key.

    Raises:
        StoreError: the database failed.
    """
    nodes = dict(known or {})
    hits: list[SearchHit] = []
    position = 0
    while len(hits) < top_k and position < len(ranked):
        part = ranked[position : position + top_k - len(hits)]
        position += len(part)
        unread = [scored.entity_key for scored in part if scored.entity_key not in nodes]
        if unread:
            nodes.update((node.entity_key, node) for node in await retrieval.nodes(unread, user_id=user_id))
        hits += [
            SearchHit(node=nodes[scored.entity_key], score=scored.score, source=scored.source, depth=scored.depth)
            for scored in part
            if scored.entity_key in nodes
        ]
    return hits
