"""Explore: the search for several queries and names at once, with the surroundings of what it
finds.

Nodes are ranked for each label, by their best score; a name match counts as its share of the
highest score.
"""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kgagent.concurrency import task_group
from kgagent.embedding.base import Embedder
from kgagent.graph.nodes import NodeRepository
from kgagent.graph.records import NodeRecord, RelationshipRecord
from kgagent.models import (
    ExploredNode,
    ExploreRequest,
    ExploreResult,
    GraphNode,
    GraphRelationship,
    RelationshipSearchResult,
    Signal,
)
from kgagent.names import EXACT_NAME, SHARED_WORDS
from kgagent.search.attempt import attempt, failed
from kgagent.search.candidates import Candidate, Ranking, entity_key_of, first_of_each, node_key
from kgagent.search.name_match import nodes_by_name
from kgagent.search.omitted import OmittedRecords
from kgagent.search.query import EmbeddedQuery
from kgagent.search.relevance import RELEVANT, relevance
from kgagent.search.results import Surroundings, model_of, path_of
from kgagent.search.retrieve import SearchSpec
from kgagent.search.scope import RelationshipFilter, SearchScope
from kgagent.search.score import Features, highest_score
from kgagent.search.search import READ, Found, read_scored, search
from kgagent.search.vectors import VectorSearch

NOTHING_ASKED = "At least one search method required (queries or text_matches)"

NODES_PER_LABEL = 20
RELATIONSHIPS = 20
MAX_RELATIONSHIPS_AMONG = 10
MAX_NEIGHBORS = 30
SEARCH_STEPS = 3


@dataclass
class _RankedNode:
    """A node with its best score and the reasons why it was found."""

    label: str
    score: float
    signals: list[Signal] = field(default_factory=list)


def spec_of(
    scope: SearchScope, request: ExploreRequest, kept: RelationshipFilter, weights: Features
) -> SearchSpec:
    """What explore searches; `kept` is which relationships it keeps."""
    return SearchSpec(
        scope,
        scope.labels(request.labels),
        kept,
        node_limit=max(NODES_PER_LABEL, request.limit_per_label),
        relationship_limit=RELATIONSHIPS,
        timeout=scope.timeout,
        hops=request.expand_hops,
        searches_relationships=request.search_relationships,
        weights=weights,
    )


@dataclass(frozen=True)
class Exploration:
    """One call of explore.

    Attributes:
        spec: what to search.
        request: queries, names and how to search.
        nodes: reads nodes.
    """

    spec: SearchSpec
    request: ExploreRequest
    nodes: NodeRepository

    async def run(
        self, vectors: VectorSearch, embedder: Embedder, omitted: OmittedRecords
    ) -> ExploreResult:
        """Search, cut to the best nodes of each label, and read them with their surroundings.

        Raises:
            SearchError: every search failed.
        """
        timeout, scope, kept = self.spec.timeout, self.spec.scope, self.spec.kept
        nothing = Found(self.spec, time.monotonic())
        async with task_group() as group:
            # Each step of the search has its own time limit.
            searching = group.create_task(
                attempt(
                    self._search(vectors, embedder, omitted),
                    SEARCH_STEPS * timeout,
                    default=nothing,
                )
            )
            matching = group.create_task(attempt(self._named(), timeout, default=()))
        found, not_searched = searching.result()
        named, not_matched = matching.result()
        if (not_searched or not self.request.queries) and (
            not_matched or not self.request.text_matches
        ):
            failures = [one for one in (not_searched, not_matched) if one is not None]
            reasons = "; ".join(failure.reason for failure in failures)
            raise failed(failures, f"Every search failed. {reasons}")
        if not found.results:
            found = replace(found, ends_at=time.monotonic() + timeout)
        relationships = _best_relationships(found)
        ranked = self._ranked(found, named, relationships)
        best = self._best(ranked)
        candidates = [*relationships, *(Candidate(key, ranked[key].score) for key in best)]
        around = Surroundings(
            list(map(entity_key_of, best)), MAX_RELATIONSHIPS_AMONG, MAX_NEIGHBORS
        )
        assessed = [one for result in found.results for one in result.candidates[:READ]]
        every, records, surroundings, unread = await read_scored(
            found, list(first_of_each([*candidates, *assessed]).values()), around
        )
        wanted = {one.key for one in candidates}
        scored = [one for one in every if one.key in wanted]
        models = {one.key: one.result for one in scored}
        known = {one.key: one for ranking in named for one in ranking.candidates}
        for key in best:
            if key not in models and key in records:
                models[key] = model_of(records[key].record, scope, kept)
            elif key not in models and key in known:
                models[key] = known[key].result
        self._add_signals(ranked, scored)
        is_assessed = unread is None and kept.between is None
        value = self._relevance(found, named, every) if is_assessed else None
        skipped = {
            "the searches by the queries": not_searched,
            "the search of nodes by name": not_matched,
            "texts of relationships, and the surroundings of the nodes": unread,
        }
        scores = {one.key: one.score for one in scored}
        highest = highest_score(self.spec.weights)
        return ExploreResult(
            nodes=tuple(
                ExploredNode(
                    node=node,
                    score=max(scores.get(key, 0.0), _name_score(ranked[key]) * highest),
                    signals=tuple(ranked[key].signals),
                )
                for key in best
                if isinstance(node := models.get(key), GraphNode)
            ),
            relationships=_each_once(
                (
                    *(to_result(one, kept) for one in scored if _is_relationship(one)),
                    *surroundings.relationships,
                )
            ),
            neighbors=surroundings.neighbors,
            warnings=(
                *found.warnings,
                *(
                    f"Skipped {what}: {failure.reason}"
                    for what, failure in skipped.items()
                    if failure
                ),
                *(omitted.warnings(scope) if self.request.queries else ()),
            ),
            is_relevant=None if value is None else value >= RELEVANT,
            relevance=value,
        )

    async def _search(
        self, vectors: VectorSearch, embedder: Embedder, omitted: OmittedRecords
    ) -> Found:
        queries = [EmbeddedQuery((), one.threshold, one.query) for one in self.request.queries]
        if not queries:
            return Found(self.spec, time.monotonic())
        async with task_group() as group:
            group.create_task(omitted.reading(self.spec.scope, self.spec.timeout))
            return await search(self.spec, queries, vectors, embedder)

    async def _named(self) -> Sequence[Ranking]:
        texts, labels = self.request.text_matches, self.spec.labels
        if not texts:
            return ()
        limit = self.spec.node_limit * len(labels)
        rankings = await nodes_by_name(
            self.spec.scope,
            texts,
            labels=labels,
            limit=limit,
            nodes=self.nodes,
            kept=self.spec.kept,
        )
        return list(map(_without_namesakes, rankings))

    def _ranked(
        self, found: Found, named: Sequence[Ranking], relationships: Sequence[Candidate]
    ) -> dict[str, _RankedNode]:
        """Every node that was found, by key: by itself, as an end of a relationship, or by its
        name.
        """
        ranked: dict[str, _RankedNode] = {}
        order, searched = self.spec.scope.ontology.label_order, frozenset(self.spec.labels)

        def add(key: str, labels: Iterable[str], score: float) -> None:
            if own := searched & {*labels}:
                node = ranked.setdefault(key, _RankedNode(min(own, key=order.__getitem__), score))
                node.score = max(node.score, score)

        retrieved = (one for result in found.results for one in result.candidates)
        nodes = [one for one in retrieved if isinstance(one.record, NodeRecord)]
        for one in (*nodes, *relationships):
            for key, labels in _nodes_of(one).items():
                add(key, labels, one.score)
        highest = highest_score(self.spec.weights)
        for text, ranking in zip(self.request.text_matches, named, strict=False):
            for rank, one in enumerate(ranking.candidates, start=1):
                labels = (one.result.label,) if isinstance(one.result, GraphNode) else ()
                add(one.key, labels, one.score * highest)
                signal = Signal(source="name_match", matched=text, rank=rank, similarity=one.score)
                if one.key in ranked:
                    ranked[one.key].signals.append(signal)
        return ranked

    def _best(self, ranked: Mapping[str, _RankedNode]) -> list[str]:
        """Keys of the best nodes of each label, best first."""
        order = self.spec.scope.ontology.label_order
        room = dict.fromkeys(self.spec.labels, self.request.limit_per_label)
        best = []
        for key, node in sorted(
            ranked.items(), key=lambda item: (-item[1].score, order[item[1].label], item[0])
        ):
            if room.get(node.label, 0) > 0:
                room[node.label] -= 1
                best.append(key)
        return best

    def _add_signals(self, ranked: Mapping[str, _RankedNode], scored: Sequence[Candidate]) -> None:
        """Add why nodes were found: by a statement of their own, and as an end of the best
        relationship there.
        """
        texts = ", ".join(query.query for query in self.request.queries)
        nodes = [one for one in scored if one.key in ranked and "statement_vector" in one.found_by]
        for rank, one in enumerate(nodes, start=1):
            signal = Signal(
                source="node_vector", matched=texts, rank=rank, similarity=one.similarity or 0.0
            )
            ranked[one.key].signals.append(signal)
        reached: set[str] = set()
        for rank, one in enumerate(filter(_is_relationship, scored), start=1):
            if isinstance(one.record, RelationshipRecord):
                said = one.record.text("description") if self.spec.kept.trusts(one.record) else ""
                matched = said or one.record.text("relationship_type")
                signal = Signal(
                    source="via_relationship",
                    matched=matched,
                    rank=rank,
                    similarity=one.similarity or 0.0,
                )
                for key in map(node_key, one.record.ends_in_direction):
                    if key in ranked and key not in reached:
                        ranked[key].signals.append(signal)
                        reached.add(key)

    def _relevance(
        self, found: Found, named: Sequence[Ranking], scored: Sequence[Candidate]
    ) -> float | None:
        """The highest relevance of the queries and names; None if a query could not be assessed."""
        shares: list[float | None] = []
        if self.request.text_matches:
            shares.append(
                max((one.score for ranking in named for one in ranking.candidates), default=0.0)
            )
        shares += [relevance(result, scored) for result in found.results]
        best_share = max((share for share in shares if share is not None), default=None)
        is_unknown = None in shares and (best_share or 0.0) < RELEVANT
        return None if is_unknown else best_share


def to_result(candidate: Candidate, kept: RelationshipFilter) -> RelationshipSearchResult:
    """A relationship that a search found, as it is returned."""
    if not isinstance(candidate.result, GraphRelationship):
        raise TypeError(f"{candidate.key} is no relationship")
    fields = {
        **dict(candidate.result),
        "similarity": candidate.similarity or 0.0,
        "score": candidate.score,
        "path": path_of(candidate, kept),
    }
    return RelationshipSearchResult.model_construct(**fields)


def _is_relationship(candidate: Candidate) -> bool:
    return isinstance(candidate.result, GraphRelationship)


def _nodes_of(candidate: Candidate) -> dict[str, tuple[str, ...]]:
    """The labels of a node, or of both ends of a relationship, by the key of the candidate of each
    node.
    """
    if isinstance(candidate.record, NodeRecord):
        return {candidate.key: (candidate.record.label,)}
    ends = {} if candidate.record is None else candidate.record.ends_in_direction
    return {node_key(key): labels for key, labels in ends.items()}


def _best_relationships(found: Found) -> list[Candidate]:
    """Each relationship once with its best score among the queries, best first."""
    every = [one for result in found.results for one in result.candidates]
    every.sort(key=lambda one: -one.score)
    best = first_of_each(one for one in every if isinstance(one.record, RelationshipRecord))
    return list(best.values())[: RELATIONSHIPS * len(found.results)]


def _name_score(node: _RankedNode) -> float:
    return max((one.similarity for one in node.signals if one.source == "name_match"), default=0.0)


def _without_namesakes(ranking: Ranking) -> Ranking:
    """A ranking by name without nodes that only share words with the name, if a node has exactly
    that name.
    """
    if not ranking.candidates or ranking.candidates[0].score < EXACT_NAME:
        return ranking
    return replace(
        ranking, candidates=[one for one in ranking.candidates if one.score > SHARED_WORDS]
    )


def _each_once(relationships: Iterable[GraphRelationship]) -> tuple[GraphRelationship, ...]:
    first: dict[tuple[str, ...], GraphRelationship] = {}
    for relationship in relationships:
        first.setdefault(relationship.identity, relationship)
    return tuple(first.values())
