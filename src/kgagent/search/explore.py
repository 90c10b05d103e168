"""Explore: the pipeline of every search for several queries and names at once, with the surroundings of what it finds.

Nodes are ranked for each label, by their best score among the queries; a name match counts as its score, 0 to 1.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from kgagent.answers.query_words import query_words
from kgagent.concurrency import task_group
from kgagent.embedding.base import Embedder
from kgagent.errors import SearchError
from kgagent.graph.nodes import NodeRepository
from kgagent.graph.records import NodeRecord, RelationshipRecord
from kgagent.models import (
    ExploredNode,
    ExploreRequest,
    ExploreResult,
    GraphExpansion,
    GraphNode,
    GraphRelationship,
    RelationshipSearchResult,
    Signal,
)
from kgagent.search.candidates import (
    OF_NODES,
    OF_RELATIONSHIPS,
    Candidate,
    Ranking,
    StoredRecord,
    entity_key_of,
    node_key,
)
from kgagent.search.hybrid import ASSESSED
from kgagent.search.name_match import EXACT_NAME, SHARED_WORDS, nodes_by_name
from kgagent.search.noise import Sample
from kgagent.search.pipeline import Found, QueryResult, SearchSpec, search
from kgagent.search.relevance import RELEVANT, Calibration, relevance
from kgagent.search.results import model_of, read_explored
from kgagent.search.retrieve import INTERNAL_ERROR, Failure, attempt
from kgagent.search.scope import RelationshipFilter, SearchScope
from kgagent.search.scoring import Features
from kgagent.search.statements import best_of_queries, score_statements
from kgagent.search.vector_search import VectorRetrievers
from kgagent.search.vector_targets import EmbeddedQuery
from kgagent.turns import in_turns

NOTHING_ASKED = "At least one search method required (queries or text_matches)"

NODES_PER_LABEL = 20
RELATIONSHIPS = 20
MAX_RELATIONSHIPS_AMONG = 10
MAX_NEIGHBORS = 30
SEARCH_STEPS = 3


FoundNode = GraphNode | NodeRecord


@dataclass
class _Ranked:
    """A node with its best score and the reasons why it was found."""

    label: str
    score: float
    signals: list[Signal]

    @property
    def name_score(self) -> float:
        """How well its name matches a name that was searched; 0 if none does."""
        return max((one.similarity for one in self.signals if one.source == "name_match"), default=0.0)


@dataclass(frozen=True)
class Exploration:
    """One call of explore.

    Attributes:
        scope: whose graph.
        request: queries, names and how to search.
        labels: labels of nodes, at least one.
        types: which relationships to keep.
        nodes: reads nodes.
        weights: weight of each feature of the score.
    """

    scope: SearchScope
    request: ExploreRequest
    labels: Sequence[str]
    types: RelationshipFilter
    nodes: NodeRepository
    weights: Features

    async def run(self, vectors: VectorRetrievers, embedder: Embedder, calibration: Calibration) -> ExploreResult:
        """Search, cut to the best nodes of each label, and read them with their surroundings.

        Raises:
            SearchError: every search failed.
        """
        timeout = self.scope.timeout
        async with task_group() as group:
            step = self._search(vectors, embedder, calibration)
            # Each step of the search has its own time limit.
            searching = group.create_task(attempt(step, SEARCH_STEPS * timeout, default=None))
            matching = group.create_task(attempt(self._named(), timeout, default=()))
        found, not_searched = searching.result()
        named, not_matched = matching.result()
        if (not_searched or not self.request.queries) and (not_matched or not self.request.text_matches):
            raise _all_failed([failure for failure in (not_searched, not_matched) if failure is not None])
        relationships = self._matched(found)
        known = _records(found, named)
        ranked = self._ranked(found, named, relationships, known)
        best = self._best(ranked)
        reading = read_explored(
            self.scope,
            keys=[entity_key_of(key) for key in best if key not in known],
            element_ids=[one.record.element_id for one in relationships if isinstance(one.record, RelationshipRecord)],
            labels=self.labels,
            around=[entity_key_of(key) for key in best],
            types=self.types,
            max_relationships=MAX_RELATIONSHIPS_AMONG,
            max_neighbors=MAX_NEIGHBORS,
        )
        explored, unread = await attempt(reading, found.time_left if found else timeout, default=None)
        full = explored.relationships if explored is not None else {}
        nodes: dict[str, FoundNode] = {**(explored.nodes if explored is not None else {}), **known}
        hydrated = [
            replace(one, record=record)
            for one in relationships
            if one.record is not None and (record := full.get((one.record.element_id, one.key)))
        ]
        for key, signal in _end_signals(relationships, full).items():
            if key in ranked:
                ranked[key].signals.append(signal)
        around = explored.surroundings if explored is not None else GraphExpansion()
        sample = calibration.known(self.scope)
        is_assessed = explored is not None and self.types.between is None
        value = None if not is_assessed else await self._relevance(found, named, hydrated, nodes, sample)
        read = {key: nodes[key] for key in best if key in nodes}
        records = {**{one.key: one.record for one in hydrated if one.record}, **read}
        items = dict(zip(records, await in_turns(self._model, records.values()), strict=True))
        scored = await self._scored(found, items)
        matches = [to_result(scored[one.key], self.scope, self.types) for one in hydrated]
        skipped = {
            "the searches by the queries": not_searched,
            "the search of nodes by name": not_matched,
            "texts of relationships, and the surroundings of the nodes": unread,
        }
        return ExploreResult(
            nodes=tuple(_explored(ranked[key], scored.get(key), items[key]) for key in read),
            relationships=_each_once((*matches, *around.relationships)),
            neighbors=around.neighbors,
            warnings=(
                *(found.warnings if found else ()),
                *(f"Skipped {what}: {failure.reason}" for what, failure in skipped.items() if failure),
                *(sample.warnings if self.request.queries else ()),
            ),
            is_relevant=None if value is None else value >= RELEVANT,
            relevance=value,
            words=query_words(
                (*(query.query for query in self.request.queries), *self.request.text_matches),
                self.scope.ontology.stop_words,
            ),
        )

    async def _search(self, vectors: VectorRetrievers, embedder: Embedder, calibration: Calibration) -> Found | None:
        request = self.request
        if not request.queries:
            return None
        searches_relationships = request.search_relationships
        spec = SearchSpec(
            self.scope,
            self.labels,
            self.types,
            frozenset((*OF_NODES, "note_vector", *(OF_RELATIONSHIPS if searches_relationships else ()))),
            hops=request.expand_hops,
            node_limit=max(NODES_PER_LABEL, request.limit_per_label),
            relationship_limit=RELATIONSHIPS,
            timeout=self.scope.timeout,
            weights=self.weights,
        )
        queries = [EmbeddedQuery((), query.threshold, query.query) for query in request.queries]
        async with task_group() as group:
            group.create_task(calibration.reading(self.scope, self.scope.timeout))
            return await search(spec, queries, vectors, embedder)

    async def _named(self) -> Sequence[Ranking]:
        if not self.request.text_matches:
            return ()
        limit = max(NODES_PER_LABEL, self.request.limit_per_label) * len(self.labels)
        texts = self.request.text_matches
        return list(
            map(
                _without_namesakes,
                await nodes_by_name(self.scope, texts, labels=self.labels, limit=limit, nodes=self.nodes),
            )
        )

    def _matched(self, found: Found | None) -> list[Candidate]:
        """Each relationship once with its best score among the queries, best first."""
        if found is None:
            return []
        best: dict[str, Candidate] = {}
        for candidate in sorted(
            (one for result in found.results for one in result.relationships), key=lambda one: -one.score
        ):
            best.setdefault(candidate.key, candidate)
        return list(best.values())[: RELATIONSHIPS * len(found.results)]

    def _ranked(
        self,
        found: Found | None,
        named: Sequence[Ranking],
        relationships: Sequence[Candidate],
        known: Mapping[str, FoundNode],
    ) -> dict[str, _Ranked]:
        """Every node that was found, by key."""
        labels = {key: node.label for key, node in known.items()} | self._end_labels(relationships)
        ranked: dict[str, _Ranked] = {}

        def add(key: str, score: float, signals: Iterable[Signal]) -> None:
            label = labels.get(key)
            if label is None:
                return
            node = ranked.setdefault(key, _Ranked(label, score, []))
            node.score = max(node.score, score)
            node.signals += signals

        for query, result in zip(self.request.queries, found.results if found else (), strict=False):
            ranks = _ranks(result.rankings.get("node_vector"))
            for one in result.nodes:
                signals = []
                if rank := ranks.get(one.key):
                    similarity = one.similarity or 0.0
                    signals.append(Signal(source="node_vector", matched=query.query, rank=rank, similarity=similarity))
                add(one.key, one.score, signals)
        for text, ranking in zip(self.request.text_matches, named, strict=False):
            for rank, one in enumerate(ranking.candidates, start=1):
                add(one.key, one.score, [Signal(source="name_match", matched=text, rank=rank, similarity=one.score)])
        return ranked

    def _best(self, ranked: Mapping[str, _Ranked]) -> list[str]:
        """Keys of the best nodes of each label, best first."""
        order, room = self.scope.ontology.label_order, dict.fromkeys(self.labels, self.request.limit_per_label)
        best = []
        for key, node in sorted(ranked.items(), key=lambda item: (-item[1].score, order[item[1].label], item[0])):
            if room.get(node.label, 0) > 0:
                room[node.label] -= 1
                best.append(key)
        return best

    def _end_labels(self, relationships: Iterable[Candidate]) -> dict[str, str]:
        """The label of each end of the relationships that has a label that is searched."""
        order, searched = self.scope.ontology.label_order, frozenset(self.labels)
        ends = (
            end
            for one in relationships
            if isinstance(one.record, RelationshipRecord)
            for end in one.record.ends_in_direction.items()
        )
        return {node_key(key): min(own, key=order.__getitem__) for key, all_ in ends if (own := searched & {*all_})}

    async def _scored(
        self, found: Found | None, items: Mapping[str, GraphNode | GraphRelationship]
    ) -> dict[str, Candidate]:
        """What the queries found, by key, each statement with its best score."""
        results = found.results if found else ()

        def of_query(result: QueryResult) -> list[Candidate]:
            candidates = [replace(one, result=items[one.key]) for one in result.ranked if one.key in items]
            words = query_words([result.query.text], self.scope.ontology.stop_words)
            return score_statements(candidates, words, self.weights, least=result.least_similarity, now=self.types.now)

        def of_all() -> dict[str, Candidate]:
            return best_of_queries(one for result in results for one in of_query(result))

        # Records with many notes take a while, during which other users' calls go on.
        return await asyncio.to_thread(of_all)

    def _model(self, record: StoredRecord | GraphNode) -> GraphNode | GraphRelationship:
        if isinstance(record, GraphNode):
            return self.types.without_other_notes(record)
        return model_of(record, self.scope, self.types)

    async def _relevance(
        self,
        found: Found | None,
        named: Sequence[Ranking],
        hydrated: Sequence[Candidate],
        nodes: Mapping[str, FoundNode],
        sample: Sample,
    ) -> float | None:
        """The highest relevance of the queries and names; None if a query could not be assessed."""
        shares: list[float | None] = []
        if self.request.text_matches:
            shares.append(max((one.score for ranking in named for one in ranking.candidates), default=0.0))
        full = {one.key: one for one in hydrated}
        for result in found.results if found else ():
            best = [full[one.key] for one in result.relationships if one.key in full]
            for one in result.nodes[:ASSESSED]:
                record = nodes.get(one.key)
                if isinstance(record, NodeRecord):
                    best.append(replace(one, record=record))
            await in_turns(lambda one: one.record and one.record.notes, best)  # which the record keeps
            shares.append(relevance(result, sample.noise, best))
        best_share = max((share for share in shares if share is not None), default=None)
        is_unknown = None in shares and (best_share or 0.0) < RELEVANT
        return None if is_unknown else best_share


def _explored(ranked: _Ranked, scored: Candidate | None, item: GraphNode | GraphRelationship) -> ExploredNode:
    node, score = (item, 0.0) if scored is None else (scored.result, scored.score)
    return ExploredNode(node=node, score=max(score, ranked.name_score), signals=tuple(ranked.signals))


def to_result(candidate: Candidate, scope: SearchScope, types: RelationshipFilter) -> RelationshipSearchResult:
    """A relationship that a search found, as it is returned."""
    if not isinstance(candidate.record, RelationshipRecord):
        raise TypeError(f"{candidate.key} is no relationship")
    fields = {
        **dict(candidate.result or model_of(candidate.record, scope, types)),
        "similarity": candidate.similarity or 0.0,
        "score": candidate.score,
        "path": tuple(record.triplet for record in candidate.path),
    }
    return RelationshipSearchResult(**fields)


def _records(found: Found | None, named: Sequence[Ranking]) -> dict[str, FoundNode]:
    """The nodes that retrievers of nodes returned, by key."""
    nodes: dict[str, FoundNode] = {}
    results = found.results if found else ()
    candidates = [one for result in results for one in result.nodes]
    for one in (*candidates, *(one for ranking in named for one in ranking.candidates)):
        record = one.result or one.record
        if isinstance(record, GraphNode | NodeRecord):
            nodes[one.key] = record
    return nodes


def _ranks(ranking: Ranking | None) -> dict[str, int]:
    return {one.key: rank for rank, one in enumerate(ranking.candidates, start=1)} if ranking is not None else {}


def _end_signals(
    relationships: Sequence[Candidate], full: Mapping[tuple[str, str], RelationshipRecord]
) -> dict[str, Signal]:
    """For the ends of relationships, by key of the node, the best relationship there, as far as it was read."""
    best: dict[str, Signal] = {}
    for rank, one in enumerate(relationships, start=1):
        if isinstance(one.record, RelationshipRecord):
            record = full.get((one.record.element_id, one.key), one.record)
            signal = Signal(
                source="via_relationship",
                matched=record.text("description") or record.text("relationship_type"),
                rank=rank,
                similarity=one.similarity or 0.0,
            )
            for key in record.ends_in_direction:
                best.setdefault(node_key(key), signal)
    return best


def _without_namesakes(ranking: Ranking) -> Ranking:
    """A ranking by name without nodes that only share words with the name, if a node has exactly that name."""
    if not ranking.candidates or ranking.candidates[0].score < EXACT_NAME:
        return ranking
    return replace(ranking, candidates=[one for one in ranking.candidates if one.score > SHARED_WORDS])


def _all_failed(failures: Sequence[Failure]) -> Exception:
    unexpected = [failure.error for failure in failures if failure.reason == INTERNAL_ERROR]
    if len(unexpected) == len(failures):
        return unexpected[0]
    if len(failures) == 1 and isinstance(failures[0].error, SearchError):
        return failures[0].error
    return SearchError(f"Every search failed. {'; '.join(failure.reason for failure in failures)}")


def _each_once(relationships: Iterable[GraphRelationship]) -> tuple[GraphRelationship, ...]:
    first: dict[tuple[str, ...], GraphRelationship] = {}
    for relationship in relationships:
        first.setdefault(relationship.identity, relationship)
    return tuple(first.values())
