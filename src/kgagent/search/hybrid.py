"""Hybrid search: one query over nodes and relationships, ranked together."""

import asyncio
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from kgagent.concurrency import task_group
from kgagent.embedding.base import Embedder
from kgagent.errors import SearchError
from kgagent.graph.records import NodeRecord, RelationshipRecord, ontology_label
from kgagent.models.graph import GraphNode, GraphRelationship
from kgagent.models.hybrid import (
    FusedRetriever,
    HybridObject,
    HybridRelationship,
    HybridSearchOptions,
    HybridSearchResult,
    Retriever,
)
from kgagent.search.attempt import INTERNAL_ERROR, attempt
from kgagent.search.candidates import OF_NODES, OF_RELATIONSHIPS, Candidate, node_key
from kgagent.search.omitted import OmittedRecords
from kgagent.search.relevance import RELEVANT, names_without_match, relevance
from kgagent.search.rerank import CrossEncoder, rerank
from kgagent.search.results import ReadRecord, model_of, read_records
from kgagent.search.retrieve import OF_STATEMENTS
from kgagent.search.scope import RelationshipFilter, SearchScope
from kgagent.search.score import WEIGHTS, Features, contributions
from kgagent.search.search import Found, SearchSpec, score_records, search
from kgagent.search.strategies import FUSED, fuse
from kgagent.search.vector_search import VectorRetrievers
from kgagent.search.vector_targets import EmbeddedQuery

RERANKED_POOL = 3
"""Number of items that are reranked, as a multiple of those that are returned."""

READ = 40
"""Minimum number of records that are read in full and scored by all their statements."""

CALIBRATED = "calibrated"
"""The default strategy: the score of `kgagent.search.score`."""


@dataclass(frozen=True)
class HybridSearch:
    """One hybrid search.

    Attributes:
        scope: whose graph.
        options: the query and how to search.
        labels: labels of nodes, at least one.
        types: which relationships to keep.
        limit: maximum number of results.
        timeout: seconds for retrieval, and for all later steps together; a step that fails or takes
            longer is skipped.
        vector: vector of the query, shape (dimensions,); None embeds its text.
        cross_encoder: reranks the best items; None leaves their order.
        weights: weight of each feature of the score.
        with_ends: whether the nodes of relationships are returned beside them.
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
    with_ends: bool = True

    async def run(
        self, vectors: VectorRetrievers, embedder: Embedder, omitted: OmittedRecords
    ) -> HybridSearchResult:
        """Search, read the best records in full, score them, and rerank them if that is asked for.

        Raises:
            SearchError: every retriever failed, or the results could not be read.
        """
        options = self.options
        query = EmbeddedQuery(self.vector or (), options.threshold, options.query or "")
        async with task_group() as group:
            group.create_task(omitted.reading(self.scope, self.timeout))
            found = await search(self._spec(), [query], vectors, embedder)
        room = max(self.limit * (RERANKED_POOL if self._is_reranked else 1), READ)
        ranked = self._ranked(found)
        best = ranked if options.half_life_days is not None else ranked[:room]
        hydrated, unread = await self._hydrated(best, found)
        reranked, skipped = await self._rerank(hydrated, found)
        result = HybridSearchResult(
            **_items(
                reranked[: self.limit],
                self.weights,
                with_relationships=options.search_relationships,
            ),
            warnings=(
                *found.warnings,
                *self._one_sided(found),
                *unread,
                *skipped,
                *omitted.warnings(self.scope),
            ),
            labels=self._labels(found),
            plan={
                name: ranking.plan
                for name, ranking in found.results[0].retrieved.rankings.items()
                if ranking.plan is not None
            },
        )
        # What is dated within a period is an answer to a question about it, whatever its words.
        if (
            not found.results[0].retrieved.query.embedded.vector
            or options.query is None
            or self.types.between
        ):
            return result
        value = relevance(found.results[0], hydrated)
        is_relevant = None if value is None else value >= RELEVANT
        named = names_without_match(found.results[0], hydrated)
        return result.model_copy(
            update={"relevance": value, "is_relevant": is_relevant, "named": named}
        )

    @property
    def _is_calibrated(self) -> bool:
        return self.options.strategy == CALIBRATED

    def _spec(self) -> SearchSpec:
        options = self.options
        retrievers: tuple[Retriever, ...] = OF_STATEMENTS
        if not self._is_calibrated:
            retrievers = (*OF_NODES, *(OF_RELATIONSHIPS if options.search_relationships else ()))
        if options.query is None:
            retrievers = tuple(name for name in retrievers if name.endswith("_vector"))
        return SearchSpec(
            self.scope,
            self.labels,
            self.types,
            frozenset(retrievers),
            node_limit=options.object_limit,
            text_limit=options.text_limit,
            relationship_limit=options.relationship_limit,
            text_threshold=options.text_threshold,
            timeout=self.timeout,
            hops=options.expand_hops if self._is_calibrated else 0,
            searches_relationships=options.search_relationships,
            weights=self.weights,
        )

    def _ranked(self, found: Found) -> list[Candidate]:
        """All candidates, best first, by the strategy of the search."""
        options = self.options
        if self._is_calibrated:
            return _without_more(found.results[0].candidates, options.relationship_limit)
        rankings = found.results[0].retrieved.rankings
        lists: dict[FusedRetriever, Sequence[Candidate]] = {
            name: rankings[name].candidates for name in FUSED if name in rankings
        }
        fused = fuse(lists, strategy=options.strategy, weights=options.weights)
        return _without_more(fused, options.relationship_limit)

    async def _hydrated(
        self, best: Sequence[Candidate], found: Found
    ) -> tuple[list[Candidate], list[str]]:
        """Read candidates and the nodes of relationships in full, and score the statements; with
        warnings.

        Raises:
            SearchError: nothing could be read.
        """
        vector = found.results[0].retrieved.query.embedded.vector
        with_ends = self.with_ends and self.options.search_relationships
        every = with_end_nodes(best, self.labels) if with_ends else list(best)
        reading = read_records(
            self.scope,
            every,
            vectors=[vector] if self._is_calibrated else [],
            labels=self.labels,
            types=self.types,
            timeout=found.time_left,
        )
        read, failure = await attempt(reading, found.time_left, default=None)
        warnings = []
        if read is not None:
            records = read[0]
        else:
            records = {
                one.key: ReadRecord(one.record, statements=[(text, ()) for text in one.statements])
                for one in best
                if isinstance(one.record, NodeRecord)
            }
        if failure is not None:
            if not records:
                if failure.reason == INTERNAL_ERROR:
                    raise failure.error
                raise SearchError(f"The results could not be read: {failure.reason}")
            warnings.append(f"Skipped relationships and their end nodes: {failure.reason}")
        if self._is_calibrated:
            # Records with many notes take a while, during which other users' calls go on.
            scored = await asyncio.to_thread(
                score_records, found, records, self.scope, self.types, self.weights
            )
            every = with_end_nodes(scored, self.labels) if with_ends else scored
        return [self._with_result(one, records) for one in every if one.key in records], warnings

    def _with_result(self, candidate: Candidate, records: Mapping[str, ReadRecord]) -> Candidate:
        if candidate.result is not None:
            return candidate
        record = records[candidate.key].record
        return replace(candidate, record=record, result=model_of(record, self.scope, self.types))

    def _labels(self, found: Found) -> dict[str, str]:
        """Labels of the nodes of what was found, by entity_key."""
        labels: dict[str, str] = {}
        for one in found.results[0].candidates:
            if isinstance(one.record, NodeRecord):
                labels[one.record.entity_key] = one.record.label
            elif one.record is not None:
                ends = one.record.ends_in_direction.items()
                labels |= {
                    key: ontology_label(own, self.scope.ontology) for key, own in ends if own
                }
        return labels

    def _one_sided(self, found: Found) -> list[str]:
        """Warn if only nodes or only relationships matched although both were searched."""
        if not self.options.search_relationships or found.failures:
            return []
        records = [one.record for one in found.results[0].retrieved.candidates]
        nodes = any(isinstance(record, NodeRecord) for record in records)
        relationships = any(isinstance(record, RelationshipRecord) for record in records)
        if nodes and not relationships:
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
        vector = found.results[0].retrieved.query.embedded.vector or None
        pool = self.limit * RERANKED_POOL
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
            scope=self.scope,
            options=self.options,
            cross_encoder=self.cross_encoder,
            vector=vector,
            limit=self.limit,
            pool=pool,
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


def _without_more(ranked: Sequence[Candidate], limit: int) -> list[Candidate]:
    """The items without the relationships beyond the best ones."""
    relationships = [item.key for item in ranked if isinstance(item.record, RelationshipRecord)]
    dropped = frozenset(relationships[limit:])
    return [item for item in ranked if item.key not in dropped]


def _items(
    candidates: Sequence[Candidate], weights: Features, *, with_relationships: bool
) -> dict[str, object]:
    """The nodes and the relationships of a result, from candidates that were read in full, best
    first.
    """
    objects, relationships = [], []
    for rank, item in enumerate(candidates, start=1):
        known = {
            name: getattr(item, name) for name in ("score", "found_by", "similarity", "text_score")
        }
        made_of = {} if item.features is None else contributions(item.features, weights)
        ranked = {**known, "rank": rank, "contributions": made_of}
        if isinstance(item.result, GraphNode):
            objects.append(HybridObject.model_construct(**{**dict(item.result), **ranked}))
        elif isinstance(item.result, GraphRelationship):
            path = tuple(record.triplet for record in item.path)
            fields = {
                **dict(item.result),
                **ranked,
                "triplet_text": item.result.triplet,
                "path": path,
            }
            relationships.append(HybridRelationship.model_construct(**fields))
    return {
        "objects": tuple(objects),
        "relationships": tuple(relationships) if with_relationships else None,
    }
