"""Explore: the stages of the pipeline for several queries and names at once, with the surroundings of what they find.

Nodes are ranked, and relationships lead to nodes: each relationship that matched gives its score to both its ends
before fusion (expand), and what surrounds the best nodes is read at the end. The score of a node is that of its best
signal, in units of cosine and with the costs of the default fusion of hybrid search; a name match counts as its score,
0 to 1.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from kgagent.concurrency import task_group
from kgagent.embedding.base import Embedder
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
from kgagent.models.hybrid import RetrieverName
from kgagent.models.search import ExploreSignal
from kgagent.retrieval.candidates import Candidate, Ranking, entity_key_of, node_key
from kgagent.retrieval.fusion import NODE_COST
from kgagent.retrieval.name_match import EXACT_NAME, SHARED_WORDS, nodes_by_name
from kgagent.retrieval.noise import Noise, Sample
from kgagent.retrieval.pipeline import ASSESSED, END_COST
from kgagent.retrieval.relevance import RELEVANT, Calibration, relevance
from kgagent.retrieval.results import read_found
from kgagent.retrieval.retrieve import Embedded, Retrieved, Retriever, attempt, embed_for_search, retrieve
from kgagent.retrieval.scope import RelationshipFilter, SearchScope
from kgagent.retrieval.surroundings import expand_around
from kgagent.retrieval.vector_search import VectorRetrievers
from kgagent.retrieval.vector_targets import RANKING_FIELDS, EmbeddedQuery
from kgagent.turns import in_turns

NOTHING_ASKED = "At least one search method required (queries or text_matches)"

NODES_PER_LABEL = 20
RELATIONSHIPS = 20
MAX_RELATIONSHIPS_AMONG = 10
MAX_NEIGHBORS = 30

NodeRanking = Sequence[tuple[str, Signal, float]]
"""Keys of nodes with the reason why each was found, and its score."""

FoundNode = GraphNode | NodeRecord


@dataclass(frozen=True)
class Exploration:
    """One call of explore.

    Attributes:
        scope: whose graph.
        request: queries, names and how to search.
        labels: labels of nodes, at least one.
        types: which relationships to keep.
        nodes: reads nodes.
    """

    scope: SearchScope
    request: ExploreRequest
    labels: Sequence[str]
    types: RelationshipFilter
    nodes: NodeRepository

    async def run(self, vectors: VectorRetrievers, embedder: Embedder, calibration: Calibration) -> ExploreResult:
        """Retrieve, expand, fuse, cut to the best of each label, hydrate and read the surroundings.

        Raises:
            SearchError: every retriever failed.
        """
        found = await retrieve(self._retrievers(vectors), lambda: self._embed(embedder), self.scope.timeout)
        known, relationships = _results(found), _relationships(found)
        best = self._best(self._signals(found), self._end_labels(relationships) | _labels(known))
        keys = [entity_key_of(key) for key, _ in best]
        in_full = read_found(
            self.scope,
            keys=[entity_key_of(key) for key, _ in best if key not in known],
            element_ids=sorted({record.element_id for record in relationships}),
            labels=self.labels,
        )
        async with task_group() as group:
            reading = group.create_task(attempt(in_full, found.time_left, default=None))
            around = group.create_task(attempt(self._surroundings(keys), found.time_left, default=GraphExpansion()))
            sampling = group.create_task(attempt(calibration.sample(self.scope), found.time_left, default=Sample()))
        records, unread = reading.result()
        surroundings, unexpanded = around.result()
        sample, _ = sampling.result()
        skipped = {
            "texts of relationships, and nodes that only they lead to": unread,
            "the surroundings of the nodes": unexpanded,
        }
        read, full = records or ({}, {})
        hydrated = found if records is None else _hydrated(found, full)
        value = None if records is None else await self._relevance(hydrated, sample.noise)
        matched = await self._matched(hydrated.rankings.get("relationship_vector", ()))
        return ExploreResult(
            nodes=await self._nodes(self._signals(hydrated), {**read, **known}),
            relationships=_each_once((*matched, *surroundings.relationships)),
            neighbors=surroundings.neighbors,
            warnings=(
                *found.warnings,
                *(f"Skipped {what}: {failure.reason}" for what, failure in skipped.items() if failure),
                *(sample.warnings if found.queries else ()),
            ),
            is_relevant=None if value is None else value >= RELEVANT,
            relevance=value,
        )

    async def _relevance(self, retrieved: Retrieved, noise: Sequence[Noise | None]) -> float | None:
        """The highest relevance of the queries and names; None if a query could not be assessed."""
        rankings = retrieved.rankings
        named = (one.score for ranking in rankings.get("name_match", ()) for one in ranking.candidates)
        shares: list[float | None] = [max(named, default=0.0)] if self.request.text_matches else []
        kinds = [rankings.get(name, ()) for name in ("node_vector", "relationship_vector")]
        for position, query in enumerate(retrieved.queries):
            of_query = [ranking[position] if ranking else None for ranking in kinds]
            best = [one for ranking in of_query if ranking for one in ranking.candidates[:ASSESSED]]
            await in_turns(lambda one: one.record and one.record.notes, best)  # which the record keeps
            shares.append(relevance(query.text, query.vector, zip(of_query, noise, strict=True), best))
        best_share = max((share for share in shares if share is not None), default=None)
        is_unknown = None in shares and (best_share or 0.0) < RELEVANT
        return None if is_unknown else best_share

    def _retrievers(self, vectors: VectorRetrievers) -> dict[RetrieverName, Retriever]:
        request, per_label = self.request, max(NODES_PER_LABEL, self.request.limit_per_label)

        async def node_vector(queries: Embedded) -> Sequence[Ranking]:
            return await vectors.nodes(self.scope, await queries(), labels=self.labels, limit=per_label)

        async def relationship_vector(queries: Embedded) -> Sequence[Ranking]:
            return await vectors.relationships(
                self.scope,
                await queries(),
                types=self.types,
                limit=RELATIONSHIPS,
                expand_hops=request.expand_hops,
                timeout=self.scope.timeout,
                fields=RANKING_FIELDS,
            )

        async def name_match(_: Embedded) -> Sequence[Ranking]:
            limit, texts = per_label * len(self.labels), request.text_matches
            found = await nodes_by_name(self.scope, texts, labels=self.labels, limit=limit, nodes=self.nodes)
            return list(map(_without_namesakes, found))

        retrievers: dict[RetrieverName, Retriever] = {}
        if request.queries:
            retrievers["node_vector"] = node_vector
        if request.queries and request.search_relationships:
            retrievers["relationship_vector"] = relationship_vector
        if request.text_matches:
            retrievers["name_match"] = name_match
        return retrievers

    async def _embed(self, embedder: Embedder) -> list[EmbeddedQuery]:
        queries = [(one.query, one.threshold) for one in self.request.queries]
        is_expanded = self.request.search_relationships and self.request.expand_hops != 0
        return await embed_for_search(embedder, queries, is_expanded=is_expanded) if queries else []

    def _signals(self, retrieved: Retrieved) -> list[NodeRanking]:
        """A ranking of nodes from each ranking of nodes or relationships."""
        rankings = retrieved.rankings
        texts = [query.query for query in self.request.queries]
        return [
            *(_node_signals("node_vector", *one) for one in zip(texts, rankings.get("node_vector", ()), strict=False)),
            *(
                _node_signals("name_match", *one)
                for one in zip(self.request.text_matches, rankings.get("name_match", ()), strict=False)
            ),
            *(_end_signals(ranking) for ranking in rankings.get("relationship_vector", ())),
        ]

    def _best(self, rankings: Sequence[NodeRanking], labels: Mapping[str, str]) -> list[tuple[str, float]]:
        """Keys and scores of the best nodes of each label, best first; `labels`: those of the nodes to choose from."""
        order, room = self.scope.ontology.label_order, dict.fromkeys(self.labels, self.request.limit_per_label)
        scores: dict[str, float] = {}
        for key, _, score in (signal for ranking in rankings for signal in ranking):
            if labels.get(key) in room:
                scores[key] = max(score, scores.get(key, score))
        best = []
        for key, score in sorted(scores.items(), key=lambda one: (-one[1], order[labels[one[0]]], one[0])):
            if room[labels[key]] > 0:
                room[labels[key]] -= 1
                best.append((key, score))
        return best

    def _end_labels(self, relationships: Iterable[RelationshipRecord]) -> dict[str, str]:
        """The label of each end of the relationships that has a label that is searched."""
        order, searched = self.scope.ontology.label_order, frozenset(self.labels)
        ends = (end for record in relationships for end in record.ends_in_direction.items())
        return {node_key(key): min(own, key=order.__getitem__) for key, all_ in ends if (own := searched & {*all_})}

    async def _nodes(self, rankings: Sequence[NodeRanking], nodes: Mapping[str, FoundNode]) -> tuple[ExploredNode, ...]:
        """The best of the nodes, with the reasons why each was found."""
        signals: dict[str, list[Signal]] = {}
        for key, signal, _ in (one for ranking in rankings for one in ranking):
            signals.setdefault(key, []).append(signal)

        def explored(best: tuple[str, float]) -> ExploredNode:
            key, score = best
            found = nodes[key]
            node = found.to_model(self.scope.ontology) if isinstance(found, NodeRecord) else found
            return ExploredNode(node=node, score=score, signals=tuple(signals[key]))

        return tuple(await in_turns(explored, self._best(rankings, _labels(nodes))))

    async def _surroundings(self, entity_keys: Sequence[str]) -> GraphExpansion:
        return await expand_around(
            self.scope, entity_keys, max_relationships=MAX_RELATIONSHIPS_AMONG, max_neighbors=MAX_NEIGHBORS
        )

    async def _matched(self, rankings: Iterable[Ranking]) -> list[RelationshipSearchResult]:
        """Each relationship once with its best score, best first."""
        candidates = [one for ranking in rankings for one in ranking.candidates]
        found = await in_turns(lambda one: to_result(one, self.scope), candidates)
        best: dict[tuple[str, str, str], RelationshipSearchResult] = {}
        for match in sorted(found, key=lambda match: (-match.score, match.pair)):
            best.setdefault(match.pair, match)
        return list(best.values())


def to_result(candidate: Candidate, scope: SearchScope) -> RelationshipSearchResult:
    """A relationship that a vector search found, as it is returned."""
    if not isinstance(candidate.record, RelationshipRecord):
        raise TypeError(f"{candidate.key} is no relationship")
    fields = {
        **dict(candidate.record.to_model(scope.ontology)),
        "similarity": candidate.similarity or 0.0,
        "score": candidate.score,
        "path": tuple(record.triplet for record in candidate.path),
    }
    return RelationshipSearchResult(**fields)


def _hydrated(found: Retrieved, full: Mapping[tuple[str, str], RelationshipRecord]) -> Retrieved:
    """What was found with its relationships in full, without those that were deleted meanwhile."""

    def hydrated(ranking: Ranking) -> Ranking:
        read = ((one, full.get((one.record.element_id, one.key))) for one in ranking.candidates if one.record)
        return replace(ranking, candidates=[replace(one, record=record) for one, record in read if record])

    rankings = found.rankings.get("relationship_vector", ())
    return replace(found, rankings={**found.rankings, "relationship_vector": [*map(hydrated, rankings)]})


def _relationships(found: Retrieved) -> list[RelationshipRecord]:
    candidates = (one for ranking in found.rankings.get("relationship_vector", ()) for one in ranking.candidates)
    return [one.record for one in candidates if isinstance(one.record, RelationshipRecord)]


def _labels(nodes: Mapping[str, FoundNode]) -> dict[str, str]:
    return {key: node.label for key, node in nodes.items()}


def _results(retrieved: Retrieved) -> dict[str, FoundNode]:
    """The nodes that retrievers of nodes returned, by key."""
    nodes: dict[str, FoundNode] = {}
    for name in ("node_vector", "name_match"):
        for ranking in retrieved.rankings.get(name, ()):
            for one in ranking.candidates:
                found = one.result or one.record
                if isinstance(found, GraphNode | NodeRecord):
                    nodes[one.key] = found
    return nodes


def _node_signals(source: ExploreSignal, matched: str, ranking: Ranking) -> NodeRanking:
    return [
        (
            one.key,
            Signal(source=source, matched=matched, rank=rank, similarity=one.similarity or 0.0),
            one.score - (NODE_COST if source == "node_vector" else 0.0),
        )
        for rank, one in enumerate(ranking.candidates, start=1)
    ]


def _without_namesakes(ranking: Ranking) -> Ranking:
    """A ranking by name without nodes that only share words with the name, if a node has exactly that name."""
    if not ranking.candidates or ranking.candidates[0].score < EXACT_NAME:
        return ranking
    return replace(ranking, candidates=[one for one in ranking.candidates if one.score > SHARED_WORDS])


def _end_signals(ranking: Ranking) -> NodeRanking:
    """Both ends of a relationship score as it does, less a cost; a node at several, as at the best of them."""
    best: dict[str, tuple[Signal, float]] = {}
    for rank, one in enumerate(ranking.candidates, start=1):
        if not isinstance(one.record, RelationshipRecord):
            continue
        signal = Signal(
            source="via_relationship",
            matched=one.record.text("description") or one.record.text("relationship_type"),
            rank=rank,
            similarity=one.similarity or 0.0,
        )
        for key in one.record.ends_in_direction:
            best.setdefault(node_key(key), (signal, one.score - END_COST))
    return [(key, signal, score) for key, (signal, score) in best.items()]


def _each_once(relationships: Iterable[GraphRelationship]) -> tuple[GraphRelationship, ...]:
    first: dict[tuple[str, str, str], GraphRelationship] = {}
    for relationship in relationships:
        first.setdefault(relationship.pair, relationship)
    return tuple(first.values())
