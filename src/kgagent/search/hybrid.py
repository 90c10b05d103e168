"""Hybrid search: one query over nodes and relationships, ranked together."""

import asyncio
from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from kgagent.answers.query_words import query_words
from kgagent.concurrency import task_group
from kgagent.embedding.base import Embedder
from kgagent.graph.records import RelationshipRecord
from kgagent.models.hybrid import HybridSearchOptions, HybridSearchResult, Retriever
from kgagent.search.candidates import Candidate, node_key
from kgagent.search.fusion_strategies import FUSED, fuse
from kgagent.search.noise import Sample
from kgagent.search.pipeline import Found, QueryResult, SearchSpec, search
from kgagent.search.relevance import RELEVANT, Calibration, relevance
from kgagent.search.rerank import CrossEncoder, Reranking
from kgagent.search.results import build_result, hydrate
from kgagent.search.scope import RelationshipFilter, SearchScope
from kgagent.search.scoring import WEIGHTS, Features
from kgagent.search.statements import score_statements
from kgagent.search.vector_search import VectorRetrievers
from kgagent.search.vector_targets import EmbeddedQuery

RERANKED_POOL = 3
"""Number of items that are reranked, as a multiple of those that are returned."""

ASSESSED = 16
"""Minimum number of items that are read to assess how far the results stand out."""

CALIBRATED = "calibrated"
"""The default strategy: the score of `scoring`."""


@dataclass(frozen=True)
class HybridSearch:
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
        weights: weight of each feature of the score.
    """

    scope: SearchScope
    options: HybridSearchOptions
    labels: Sequence[str]
    types: RelationshipFilter
    limit: int
    timeout: float
    vector: Sequence[float] | None = None
    cross_encoder: CrossEncoder | None = None
    weights: Features = WEIGHTS

    async def run(self, vectors: VectorRetrievers, embedder: Embedder, calibration: Calibration) -> HybridSearchResult:
        """Search, read the best results in full, and rerank them if that is asked for.

        Raises:
            SearchError: every retriever failed, or the results could not be read.
        """
        options = self.options
        query = EmbeddedQuery(self.vector or (), options.threshold, options.query or "")
        async with task_group() as group:
            group.create_task(calibration.reading(self.scope, self.timeout))
            found = await search(self._spec(), [query], vectors, embedder)
        candidates = self._ranked(found.results[0])
        room = max(self.limit * (RERANKED_POOL if self._is_reranked else 1), ASSESSED)
        best = candidates if options.half_life_days is not None else candidates[:room]
        hydrated, unread = await hydrate(
            self.scope, best, labels=self.labels, types=self.types, timeout=found.time_left
        )
        words = query_words([options.query or ""], self.scope.ontology.stop_words)
        if options.strategy == CALIBRATED and options.query:
            # Records with many notes take a while, during which other users' calls go on.
            hydrated = await asyncio.to_thread(
                score_statements,
                hydrated,
                words,
                self.weights,
                least=found.results[0].least_similarity,
                now=self.types.now,
            )
        reranked, skipped = await self._rerank(hydrated, found)
        result = build_result(
            reranked[: self.limit],
            found,
            [*unread, *skipped],
            words=words,
            with_relationships=options.search_relationships,
        )
        return self._assessed(result, found.results[0], hydrated, calibration.known(self.scope))

    def _spec(self) -> SearchSpec:
        options = self.options
        retrievers: set[Retriever] = {"node_vector"}
        if options.strategy == CALIBRATED:
            retrievers.add("note_vector")
        if options.search_relationships:
            retrievers.add("relationship_vector")
        if options.query is not None:
            retrievers.add("node_fulltext")
        if options.query is not None and options.search_relationships:
            retrievers.add("relationship_fulltext")
        return SearchSpec(
            self.scope,
            self.labels,
            self.types,
            frozenset(retrievers),
            hops=options.expand_hops,
            node_limit=options.object_limit,
            text_limit=options.text_limit,
            relationship_limit=options.relationship_limit,
            text_threshold=options.text_threshold,
            timeout=self.timeout,
            weights=self.weights,
        )

    def _ranked(self, result: QueryResult) -> list[Candidate]:
        """All candidates, best first, by the strategy of the search."""
        options = self.options
        if options.strategy == CALIBRATED:
            return result.ranked
        lists = {name: result.rankings[name].candidates for name in FUSED if name in result.rankings}
        fused = fuse(lists, strategy=options.strategy, weights=options.weights)
        dropped = {item.key for item in _relationships(fused)[options.relationship_limit :]}
        kept = [item for item in fused if item.key not in dropped]
        return with_end_nodes(kept, self.labels) if options.search_relationships else kept

    def _assessed(
        self, result: HybridSearchResult, found: QueryResult, hydrated: Sequence[Candidate], sample: Sample
    ) -> HybridSearchResult:
        """Add `relevance` and `is_relevant` if the query has a text, and warnings about vectors of other models."""
        if not found.query.vector:
            return result
        result = result.model_copy(update={"warnings": (*result.warnings, *sample.warnings)})
        # What is dated within a period is an answer to a question about it, whatever its words.
        if self.options.query is None or self.types.between is not None:
            return result
        value = relevance(found, sample.noise, hydrated)
        is_relevant = None if value is None else value >= RELEVANT
        return result.model_copy(update={"relevance": value, "is_relevant": is_relevant})

    @property
    def _is_reranked(self) -> bool:
        return (self.cross_encoder, self.options.half_life_days, self.options.mmr_lambda) != (None, None, None)

    async def _rerank(self, candidates: list[Candidate], found: Found) -> tuple[list[Candidate], list[str]]:
        if not self._is_reranked:
            return candidates, []
        vector = found.results[0].query.vector or None
        pool = self.limit * RERANKED_POOL
        reranking = Reranking(self.scope, self.options, found.time_left, self.limit, pool, vector)
        return await reranking.run(candidates, self.cross_encoder)


def with_end_nodes(ranked: Sequence[Candidate], labels: Collection[str]) -> list[Candidate]:
    """Expand relationships to their two nodes, which follow them unless they rank higher by themselves.

    Args:
        ranked: items, best first.
        labels: a node must have one of these.
    """
    known = {item.key: item for item in ranked}
    ordered: dict[str, Candidate] = {}
    ends: set[str] = set()
    for item in ranked:
        waiting: deque[Candidate] = deque([item])
        if isinstance(item.record, RelationshipRecord):
            for entity_key, own_labels in item.record.ends_in_direction.items():
                if not set(labels).isdisjoint(own_labels):
                    key = node_key(entity_key)
                    ends.add(key)
                    waiting.append(replace(known.get(key, Candidate(key, 0.0)), score=item.score))
        for candidate in waiting:
            ordered.setdefault(candidate.key, candidate)
    return [
        replace(item, found_by=(*item.found_by, "via_relationship")) if item.key in ends else item
        for item in ordered.values()
    ]


def _relationships(ranked: Sequence[Candidate]) -> list[Candidate]:
    return [item for item in ranked if isinstance(item.record, RelationshipRecord)]
