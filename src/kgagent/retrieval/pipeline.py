"""Hybrid search as a pipeline: retrieve, fuse, expand, hydrate, rerank, render.

Two stages may be found in unexpected places. Expansion by hops is part of the retriever of relationships, because the
relationships that it reaches are fused too; the stage after fusion only adds the end nodes of relationships. Hydration
comes before reranking, because recency, cross-encoder and diversity read the full records.
"""

from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from kgagent.embedding.base import Embedder
from kgagent.graph.records import NodeRecord, RelationshipRecord
from kgagent.models.hybrid import HybridSearchOptions, HybridSearchResult, RetrieverName
from kgagent.models.plain import aliases_in
from kgagent.retrieval.candidates import RETRIEVERS, Candidate, Ranking, node_key
from kgagent.retrieval.full_text import named_by, search_nodes_full_text, search_relationships_full_text
from kgagent.retrieval.fusion import fuse
from kgagent.retrieval.noise import Sample
from kgagent.retrieval.relevance import RELEVANT, Calibration, relevance
from kgagent.retrieval.rerank import CrossEncoder, Reranking
from kgagent.retrieval.results import build_result, hydrate
from kgagent.retrieval.retrieve import Embedded, Retrieved, Retriever, attempt, embed_for_search, retrieve
from kgagent.retrieval.scope import RelationshipFilter, SearchScope
from kgagent.retrieval.vector_search import VectorRetrievers
from kgagent.retrieval.vector_targets import RANKING_FIELDS, EmbeddedQuery

RERANKED_POOL = 3
"""Number of items that are reranked, as a multiple of those that are returned."""

END_COST, END_PLACE_COST = 0.02, 0.15
"""How much lower than its relationship, which names it, an end node scores; and how much lower when items are cut."""

ASSESSED = 16
"""Minimum number of items that are read to assess how far the results stand out."""


@dataclass(frozen=True)
class HybridSearchPipeline:
    """One hybrid search.

    Attributes:
        scope: whose graph.
        options: the query and how to search.
        labels: labels of nodes, at least one.
        types: which relationships to keep.
        limit: maximum number of results.
        timeout: seconds for retrieval, and for all later steps together; a step that fails or takes longer is skipped.
        vector: vector of the query, shape (dimensions,); None embeds its text.
        cross_encoder: reranks the best items; None leaves their order.
    """

    scope: SearchScope
    options: HybridSearchOptions
    labels: Sequence[str]
    types: RelationshipFilter
    limit: int
    timeout: float
    vector: Sequence[float] | None = None
    cross_encoder: CrossEncoder | None = None

    async def run(self, vectors: VectorRetrievers, embedder: Embedder, calibration: Calibration) -> HybridSearchResult:
        """Run all stages.

        Raises:
            SearchError: every retriever failed, or the results could not be read.
        """
        retrieved = await retrieve(self._retrievers(vectors), lambda: self._embed(embedder), self.timeout)
        rankings = {name: retrieved.rankings[name][0].candidates for name in RETRIEVERS if name in retrieved.rankings}
        matched = [(one.key, one.record) for one in rankings.get("node_fulltext", ())]
        nodes = [(key, record) for key, record in matched if isinstance(record, NodeRecord)]
        names = ((key, name) for key, one in nodes for name in (one.text("name"), *aliases_in(one.properties)))
        named = named_by(self.options.query or "", names)
        fused = fuse(rankings, strategy=self.options.strategy, weights=self.options.weights, named=named)
        fused = with_relationships_limited(fused, self.options.relationship_limit)
        room = max(self.limit * (RERANKED_POOL if self._is_reranked else 1), ASSESSED)
        expanded = self._expanded(fused, room) if self.options.search_relationships else fused
        best = expanded if self.options.half_life_days is not None else expanded[:room]
        hydrated, unread = await hydrate(self.scope, best, labels=self.labels, timeout=retrieved.time_left)
        reranked, skipped = await self._rerank(hydrated, retrieved)
        found = build_result(
            reranked[: self.limit], retrieved, [*unread, *skipped], with_relationships=self.options.search_relationships
        )
        return await self._assessed(found, hydrated, retrieved, calibration)

    def _expanded(self, fused: Sequence[Candidate], room: int) -> list[Candidate]:
        """With end nodes: END_PLACE_COST decides which items are returned, and END_COST their order."""
        if self.options.strategy != "calibrated":
            return with_end_nodes(fused, self.labels, room)
        kept = {one.key for one in with_end_nodes(fused, self.labels, self.limit, END_PLACE_COST)[: self.limit]}
        return sorted(with_end_nodes(fused, self.labels, room, END_COST), key=lambda one: one.key not in kept)

    async def _assessed(
        self, result: HybridSearchResult, found: Sequence[Candidate], retrieved: Retrieved, calibration: Calibration
    ) -> HybridSearchResult:
        """Add `relevance` and `is_relevant` if the query has a text, and warnings about vectors of other models."""
        if not retrieved.queries:
            return result
        sample, _ = await attempt(calibration.sample(self.scope), retrieved.time_left, default=Sample())
        result = result.model_copy(update={"warnings": (*result.warnings, *sample.warnings)})
        if self.options.query is None:
            return result
        rankings = [retrieved.rankings.get(name, (None,))[0] for name in ("node_vector", "relationship_vector")]
        value = relevance(
            self.options.query, retrieved.queries[0].vector, zip(rankings, sample.noise, strict=True), found
        )
        is_relevant = None if value is None else value >= RELEVANT
        return result.model_copy(update={"relevance": value, "is_relevant": is_relevant})

    @property
    def _is_reranked(self) -> bool:
        return (self.cross_encoder, self.options.half_life_days, self.options.mmr_lambda) != (None, None, None)

    def _retrievers(self, vectors: VectorRetrievers) -> dict[RetrieverName, Retriever]:
        scope, options, text = self.scope, self.options, self.options.query

        async def node_vector(queries: Embedded) -> Sequence[Ranking]:
            return await vectors.nodes(scope, await queries(), labels=self.labels, limit=options.object_limit)

        async def node_fulltext(_: Embedded) -> Sequence[Ranking]:
            found = search_nodes_full_text(
                scope, text or "", labels=self.labels, limit=options.text_limit, threshold=options.text_threshold
            )
            return [await found]

        async def relationship_vector(queries: Embedded) -> Sequence[Ranking]:
            return await vectors.relationships(
                scope,
                await queries(),
                types=self.types,
                limit=options.relationship_limit,
                expand_hops=options.expand_hops,
                timeout=self.timeout,
                fields=RANKING_FIELDS,
            )

        async def relationship_fulltext(_: Embedded) -> Sequence[Ranking]:
            limit, threshold = options.relationship_limit, options.text_threshold
            found = search_relationships_full_text(
                scope, text or "", types=self.types, limit=limit, threshold=threshold, fields=RANKING_FIELDS
            )
            return [await found]

        retrievers: dict[RetrieverName, Retriever] = {"node_vector": node_vector}
        if text is not None:
            retrievers["node_fulltext"] = node_fulltext
        if options.search_relationships:
            retrievers["relationship_vector"] = relationship_vector
            if text is not None:
                retrievers["relationship_fulltext"] = relationship_fulltext
        return retrievers

    async def _embed(self, embedder: Embedder) -> list[EmbeddedQuery]:
        text, threshold = self.options.query or "", self.options.threshold
        if self.vector is not None:
            return [EmbeddedQuery(self.vector, threshold, text)]
        is_expanded = self.options.search_relationships and self.options.expand_hops != 0
        return await embed_for_search(embedder, [(text, threshold)], is_expanded=is_expanded)

    async def _rerank(self, candidates: list[Candidate], retrieved: Retrieved) -> tuple[list[Candidate], list[str]]:
        if not self._is_reranked:
            return candidates, []
        vector = retrieved.queries[0].vector if retrieved.queries else None
        pool = self.limit * RERANKED_POOL
        reranking = Reranking(self.scope, self.options, retrieved.time_left, self.limit, pool, vector)
        return await reranking.run(candidates, self.cross_encoder)


def with_relationships_limited(fused: Sequence[Candidate], limit: int) -> list[Candidate]:
    """Keep the best relationships: each retriever may return `limit`, and together they may return no more."""
    relationships = [item.key for item in fused if isinstance(item.record, RelationshipRecord)]
    dropped = set(relationships[limit:])
    return [item for item in fused if item.key not in dropped]


def with_end_nodes(
    fused: Sequence[Candidate], labels: Collection[str], room: int, cost: float | None = None
) -> list[Candidate]:
    """Expand relationships to their two nodes, which follow them unless they rank higher by themselves.

    Args:
        fused: items, best first.
        labels: a node must have one of these.
        room: number of items after which no more nodes are added, since none of them could be returned.
        cost: how much lower than its relationship a node scores; None puts it right after the relationship.
    """
    known = {item.key: item for item in fused}
    ordered: dict[str, Candidate] = {}
    waiting: deque[Candidate] = deque()
    ends: set[str] = set()
    for item in fused:
        while waiting and (cost is None or waiting[0].score > item.score):
            ordered.setdefault(waiting[0].key, waiting.popleft())
        has_room = len(ordered) < room
        ordered.setdefault(item.key, item)
        if not has_room or not isinstance(item.record, RelationshipRecord):
            continue
        for entity_key, carried in item.record.ends_in_direction.items():
            if not set(labels).isdisjoint(carried):
                key = node_key(entity_key)
                ends.add(key)
                waiting.append(replace(known.get(key, Candidate(key, 0.0)), score=item.score - (cost or 0.0)))
    for item in waiting:
        ordered.setdefault(item.key, item)
    return [
        replace(item, found_by=(*item.found_by, "via_relationship")) if item.key in ends else item
        for item in ordered.values()
    ]
