"""Hybrid search: one query over nodes and relationships, ranked together."""

from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from kgagent.concurrency import task_group
from kgagent.embedding.base import Embedder
from kgagent.graph.records import NodeRecord, RelationshipRecord, ontology_label
from kgagent.models.graph import GraphNode, GraphRelationship
from kgagent.models.hybrid import (
    HybridObject,
    HybridRelationship,
    HybridSearchRequest,
    HybridSearchResult,
    Retriever,
)
from kgagent.search.attempt import failed
from kgagent.search.candidates import OF_NODES, OF_RELATIONSHIPS, Candidate, node_key
from kgagent.search.omitted import OmittedRecords
from kgagent.search.query import EmbeddedQuery
from kgagent.search.relevance import RELEVANT, names_without_match, relevance
from kgagent.search.rerank import CrossEncoder, rerank
from kgagent.search.results import model_of, path_of
from kgagent.search.retrieve import OF_STATEMENTS, SearchSpec
from kgagent.search.scope import RelationshipFilter, SearchScope
from kgagent.search.score import Features, contributions
from kgagent.search.search import READ, Found, Ranked, read_scored, search
from kgagent.search.strategies import FUSED, fuse
from kgagent.search.vectors import VectorSearch

RERANKED_POOL = 3
"""Number of items that are reranked, as a multiple of those that are returned."""

CALIBRATED = "calibrated"
"""The default strategy: the score of `kgagent.search.score`."""


def spec_of(
    scope: SearchScope, options: HybridSearchRequest, kept: RelationshipFilter, weights: Features
) -> SearchSpec:
    """What a hybrid search searches; `kept` is which relationships it keeps."""
    is_calibrated = options.strategy == CALIBRATED
    retrievers: tuple[Retriever, ...] = OF_STATEMENTS
    if not is_calibrated:
        retrievers = (*OF_NODES, *(OF_RELATIONSHIPS if options.search_relationships else ()))
    if options.query is None:
        retrievers = tuple(name for name in retrievers if name.endswith("_vector"))
    return SearchSpec(
        scope,
        scope.labels(options.labels),
        kept,
        frozenset(retrievers),
        node_limit=options.object_limit,
        text_limit=options.text_limit,
        relationship_limit=options.relationship_limit,
        text_threshold=options.text_threshold,
        timeout=options.timeout or scope.timeout,
        hops=options.expand_hops if is_calibrated else 0,
        searches_relationships=options.search_relationships,
        weights=weights,
    )


@dataclass(frozen=True)
class HybridSearch:
    """One hybrid search; a step that fails or takes longer than the time of its spec is skipped.

    Attributes:
        spec: what to search.
        options: the query and how to search.
        limit: maximum number of results.
        vector: vector of the query, shape (dimensions,); None embeds its text.
        cross_encoder: reranks the best items; None leaves their order.
    """

    spec: SearchSpec
    options: HybridSearchRequest
    limit: int
    vector: Sequence[float] | None = None
    cross_encoder: CrossEncoder | None = None

    async def run(
        self, vectors: VectorSearch, embedder: Embedder, omitted: OmittedRecords
    ) -> HybridSearchResult:
        """Search, read the best records in full, score them, and rerank them if that is asked for.

        Raises:
            SearchError: every retriever failed, or the results could not be read.
        """
        options, scope = self.options, self.spec.scope
        asked = EmbeddedQuery(self.vector or (), options.threshold, options.query or "")
        async with task_group() as group:
            group.create_task(omitted.reading(scope, self.spec.timeout))
            found = await search(self.spec, [asked], vectors, embedder)
        ranked = found.results[0]
        best = self._ranked(ranked)
        if options.half_life_days is None:
            best = best[: max(self.limit * (RERANKED_POOL if self._is_reranked else 1), READ)]
        in_full, unread = await self._in_full(best, found)
        reranked, skipped = await self._rerank(in_full, found)
        result = HybridSearchResult(
            **_items(
                reranked[: self.limit],
                self.spec,
                with_relationships=options.search_relationships,
            ),
            warnings=(
                *found.warnings,
                *self._one_sided(found),
                *unread,
                *skipped,
                *omitted.warnings(scope),
            ),
            labels=_labels(ranked.candidates, scope),
            asked=frozenset(ranked.retrieved.query.words),
            plan={
                name: ranking.plan
                for name, ranking in ranked.retrieved.rankings.items()
                if ranking.plan is not None
            },
        )
        # What is dated within a period is an answer to a question about it, whatever its words.
        if not found.vectors[0] or options.query is None or self.spec.kept.between:
            return result
        value = relevance(ranked, in_full)
        return result.model_copy(
            update={
                "relevance": value,
                "is_relevant": None if value is None else value >= RELEVANT,
                "named": names_without_match(ranked, in_full),
            }
        )

    @property
    def _is_calibrated(self) -> bool:
        return self.options.strategy == CALIBRATED

    def _ranked(self, ranked: Ranked) -> list[Candidate]:
        """All candidates, best first, by the strategy of the search."""
        options = self.options
        if self._is_calibrated:
            return _without_more(ranked.candidates, options.relationship_limit)
        cost = self.spec.weights.past

        def current_first(candidates: Sequence[Candidate]) -> list[Candidate]:
            costed = (
                replace(one, score=one.score + cost * ranked.reader.past([one.record]))
                if one.record is not None
                else one
                for one in candidates
            )
            return sorted(costed, key=lambda one: -one.score)

        lists: dict[Retriever, Sequence[Candidate]] = {
            name: current_first(ranking.candidates)
            for name in FUSED
            if (ranking := ranked.retrieved.rankings.get(name)) is not None
        }
        fused = fuse(lists, strategy=options.strategy, weights=options.weights)
        return _without_more(fused, options.relationship_limit)

    async def _in_full(
        self, best: Sequence[Candidate], found: Found
    ) -> tuple[list[Candidate], list[str]]:
        """Read candidates and the nodes of relationships in full, and score the statements; with
        warnings.

        Raises:
            SearchError: nothing could be read.
        """
        labels = self.spec.labels
        with_ends = self.options.with_ends and self.options.search_relationships
        every = with_end_nodes(best, labels) if with_ends else list(best)
        scored, records, _, failure = await read_scored(found, every)
        if failure is not None and not records:
            raise failed([failure], f"The results could not be read: {failure.reason}")
        if self._is_calibrated:
            every = with_end_nodes(scored, labels) if with_ends else scored
        scope, kept = self.spec.scope, self.spec.kept
        in_full = [
            one
            if one.result is not None
            else replace(one, record=record, result=model_of(record, scope, kept))
            for one in every
            if one.key in records
            for record in [records[one.key].record]
        ]
        skipped = "Skipped relationships and their end nodes"
        return in_full, [f"{skipped}: {failure.reason}"] if failure is not None else []

    def _one_sided(self, found: Found) -> list[str]:
        """Warn if only nodes or only relationships matched although both were searched."""
        if not self.options.search_relationships or found.failures:
            return []
        records = [one.record for one in found.results[0].retrieved.candidates]
        nodes = any(isinstance(record, NodeRecord) for record in records)
        relationships = any(isinstance(record, RelationshipRecord) for record in records)
        has_passages = any(one.passages for one in found.results[0].retrieved.candidates)
        if nodes and not relationships and not has_passages:
            return ["No relationship matched; the results are nodes"]
        if relationships and not nodes:
            return ["No node matched by itself; the results are relationships and their end nodes"]
        return []

    @property
    def _is_reranked(self) -> bool:
        return (self.cross_encoder, self.options.half_life_days, self.options.mmr_lambda) != (
            None,
            None,
            None,
        )

    async def _rerank(
        self, candidates: list[Candidate], found: Found
    ) -> tuple[list[Candidate], list[str]]:
        if not self._is_reranked:
            return candidates, []
        # Another order than that of the statements.
        candidates = [
            replace(
                one,
                features=None,
                result=one.result and one.result.model_copy(update={"statements": ()}),
            )
            for one in candidates
        ]
        return await rerank(
            candidates,
            scope=self.spec.scope,
            options=self.options,
            cross_encoder=self.cross_encoder,
            vector=found.vectors[0] or None,
            limit=self.limit,
            pool=self.limit * RERANKED_POOL,
            timeout=found.time_left,
        )


def with_end_nodes(ranked: Sequence[Candidate], labels: Collection[str]) -> list[Candidate]:
    """Expand relationships to their two nodes, which follow them unless they rank higher by
    themselves.

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
                if not own_labels or not set(labels).isdisjoint(own_labels):
                    key = node_key(entity_key)
                    ends.add(key)
                    end = known.get(key, Candidate(key, 0.0))
                    waiting.append(replace(end, score=item.score, features=item.features))
        for candidate in waiting:
            ordered.setdefault(candidate.key, candidate)
    return [
        replace(item, found_by=(*item.found_by, "via_relationship")) if item.key in ends else item
        for item in ordered.values()
    ]


def _labels(candidates: Sequence[Candidate], scope: SearchScope) -> dict[str, str]:
    """Labels of the nodes of candidates, by entity_key."""
    labels: dict[str, str] = {}
    for one in candidates:
        if isinstance(one.record, NodeRecord):
            labels[one.record.entity_key] = one.record.label
        elif one.record is not None:
            ends = one.record.ends_in_direction.items()
            labels |= {key: ontology_label(own, scope.ontology) for key, own in ends if own}
    return labels


def _without_more(ranked: Sequence[Candidate], limit: int) -> list[Candidate]:
    """The items without the relationships beyond the best ones."""
    relationships = [item.key for item in ranked if isinstance(item.record, RelationshipRecord)]
    dropped = frozenset(relationships[limit:])
    return [item for item in ranked if item.key not in dropped]


def _items(
    candidates: Sequence[Candidate], spec: SearchSpec, *, with_relationships: bool
) -> dict[str, object]:
    """The nodes and the relationships of a result, from candidates that were read in full, best
    first.
    """
    objects, relationships = [], []
    for rank, item in enumerate(candidates, start=1):
        known = {
            name: getattr(item, name) for name in ("score", "found_by", "similarity", "text_score")
        }
        made_of = {} if item.features is None else contributions(item.features, spec.weights)
        ranked = {**known, "rank": rank, "contributions": made_of}
        if isinstance(item.result, GraphNode):
            objects.append(HybridObject.model_construct(**{**dict(item.result), **ranked}))
        elif isinstance(item.result, GraphRelationship):
            fields = {
                **dict(item.result),
                **ranked,
                "triplet_text": item.result.triplet,
                "path": path_of(item, spec.kept),
            }
            relationships.append(HybridRelationship.model_construct(**fields))
    return {
        "objects": tuple(objects),
        "relationships": tuple(relationships) if with_relationships else None,
    }
