"""The pipeline of every search: read the query, retrieve, expand, score; then read and render what is returned.

    embed the queries ─┐
                       ├─> retrieve, concurrently: named nodes; nodes and relationships, by vector and by full text
    count the records ─┘      └─> expand, a statement a hop ──> score ──> read in full

Each search is a `SearchSpec`: which retrievers, how many hops. Several queries share each statement.
"""

import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kgagent.concurrency import task_group
from kgagent.embedding.base import Embedder
from kgagent.errors import SearchError
from kgagent.graph.record_saver import MAX_EMBEDDED_TEXT
from kgagent.graph.records import NodeRecord, RelationshipRecord
from kgagent.models.hybrid import RETRIEVER_DESCRIPTIONS, Retriever, RetrieverName
from kgagent.models.search import MAX_HOPS
from kgagent.search import scoring
from kgagent.search.candidates import (
    OF_NODES,
    OF_RELATIONSHIPS,
    RETRIEVERS,
    Candidate,
    Ranking,
    entity_key_of,
    merged,
    node_key,
)
from kgagent.search.expansion import DEFAULT_HOPS, Expansion, expand
from kgagent.search.full_text import search_nodes_full_text, search_relationships_full_text
from kgagent.search.query import NamedNode, QueryReading, find_named_nodes, read_words
from kgagent.search.retrieve import INTERNAL_ERROR, Failure, attempt
from kgagent.search.scope import SHORTEST_TIMEOUT, RelationshipFilter, SearchScope
from kgagent.search.scoring import WEIGHTS, Features
from kgagent.search.vector_search import VectorRetrievers
from kgagent.search.vector_targets import RANKING_FIELDS, EmbeddedQuery
from kgagent.turns import in_turns

EXPANSION_SHARE = 0.8
"""Share of the time of a search that retrieval and expansion may take."""

NOTE_POOL = 100
"""Notes that are retrieved."""

START_POOL = 50
"""Minimum number of relationships that each retriever returns if they are expanded: a missed start loses everything
behind it."""


@dataclass(frozen=True)
class SearchSpec:
    """What to search, and how.

    Attributes:
        scope: whose graph.
        labels: labels of nodes, at least one.
        types: which relationships to keep.
        retrievers: the retrievers to run.
        hops: hops to expand, 0 to 5; None expands `DEFAULT_HOPS`.
        node_limit: nodes of each label that vector search returns.
        text_limit: nodes that full-text search returns.
        relationship_limit: relationships that each retriever returns.
        text_threshold: minimum full-text score relative to the best match.
        timeout: seconds for each step of retrieval, and for all later steps together.
        weights: weight of each feature of the score.
    """

    scope: SearchScope
    labels: Sequence[str]
    types: RelationshipFilter
    retrievers: frozenset[Retriever] = frozenset(RETRIEVERS)
    hops: int | None = None
    node_limit: int = 20
    text_limit: int = 20
    relationship_limit: int = 50
    text_threshold: float = 0.0
    timeout: float = 10.0
    weights: Features = WEIGHTS

    @property
    def most_hops(self) -> int:
        """Hops to expand; none without relationships."""
        if not self.searches_relationships:
            return 0
        return DEFAULT_HOPS if self.hops is None else min(self.hops, MAX_HOPS)

    @property
    def searches_relationships(self) -> bool:
        """Whether a retriever of relationships runs."""
        return not self.retrievers.isdisjoint(OF_RELATIONSHIPS)


@dataclass(frozen=True)
class QueryResult:
    """The candidates of one query.

    Attributes:
        query: the query with its vector.
        rankings: what each retriever returned, those of relationships after expansion.
        relationships: relationships with their scores, best first.
        nodes: nodes with their scores, best first.
        names_a_node: whether the query names a node.
    """

    query: EmbeddedQuery
    rankings: Mapping[Retriever, Ranking]
    relationships: Sequence[Candidate]
    nodes: Sequence[Candidate]
    names_a_node: bool = False

    @property
    def least_similarity(self) -> float:
        """Similarity of the last note that the search of notes returned; 0 if it returned none."""
        notes = self.rankings.get("note_vector", Ranking()).candidates
        return min((similarity for one in notes for similarity in one.notes.values()), default=0.0)

    @property
    def ranked(self) -> list[Candidate]:
        """Relationships and nodes together, best first."""
        return best_first((*self.relationships, *self.nodes))


@dataclass(frozen=True)
class Found:
    """What a search found for each query.

    Attributes:
        results: one for each query.
        failures: the retrievers that failed.
        warnings: what is missing, and why.
        ends_at: when the rest of the search must end, on the clock of `time.monotonic`.
    """

    results: Sequence[QueryResult]
    failures: Mapping[Retriever, Failure]
    warnings: Sequence[str]
    ends_at: float = field(default=0.0)

    @property
    def time_left(self) -> float:
        """Seconds that the next step of the search may take."""
        return max(round(self.ends_at - time.monotonic(), 2), SHORTEST_TIMEOUT)


Retrieval = Callable[[Sequence[EmbeddedQuery]], Awaitable[Sequence[Ranking]]]


async def search(
    spec: SearchSpec, queries: Sequence[EmbeddedQuery], vectors: VectorRetrievers, embedder: Embedder
) -> Found:
    """Retrieve, expand and score.

    Args:
        spec: what to search, and how.
        queries: texts; those without a vector are embedded, in one request.
        vectors: vector search.
        embedder: embeds the texts.

    Raises:
        SearchError: every retriever failed; or the error itself if each failed with an unexpected error.
    """
    deadline = time.monotonic() + EXPANSION_SHARE * spec.timeout
    async with task_group() as group:
        counting = group.create_task(
            attempt(vectors.prepare(spec.scope, spec.types, spec.labels), spec.timeout, default=0)
        )
        embedded, not_embedded = await attempt(_embed(queries, embedder), spec.timeout, default=list(queries))
        relationships, _ = await counting
    is_named = spec.searches_relationships and any(query.text for query in embedded)
    target = vectors.target(spec.types, RANKING_FIELDS)
    named: list[list[NamedNode]] = [[] for _ in queries]
    unnamed: Failure | None = None
    async with task_group() as group:
        tasks = {
            name: group.create_task(attempt(_run(name, retrieval, embedded, not_embedded), spec.timeout, default=()))
            for name, retrieval in _retrievals(spec, vectors).items()
        }
        if is_named:
            naming = find_named_nodes(
                spec.scope, target, spec.types, embedded, relationships=relationships, timeout=spec.timeout
            )
            named, unnamed = await attempt(naming, spec.timeout, default=named)
    failures = {name: failure for name, task in tasks.items() if (failure := task.result()[1]) is not None}
    rankings = {name: _kept(spec, task.result()[0]) for name, task in tasks.items() if name not in failures}
    warnings = [f"Skipped {RETRIEVER_DESCRIPTIONS[name]}: {failure.reason}" for name, failure in failures.items()]
    if not rankings:
        raise _all_failed(failures, warnings)
    if unnamed is not None:
        warnings.append(f"Skipped the nodes that the query names: {unnamed.reason}")
    positions = range(len(embedded))
    of_queries = [{name: ranking[position] for name, ranking in rankings.items()} for position in positions]
    # Other users' calls go on between the queries of a search.
    readings = await in_turns(
        lambda at: replace(read_words(embedded[at].text, spec.scope.ontology), named=named[at]), positions
    )
    expansions = await in_turns(lambda at: _starts(spec, readings[at], of_queries[at]), positions)
    warnings += await _expand(spec, vectors, embedded, expansions, deadline)
    results = await in_turns(
        lambda at: _result(spec, embedded[at], readings[at], of_queries[at], expansions[at]), positions
    )
    return Found(results, failures, warnings, time.monotonic() + spec.timeout)


async def _embed(queries: Sequence[EmbeddedQuery], embedder: Embedder) -> list[EmbeddedQuery]:
    texts = [query.text[:MAX_EMBEDDED_TEXT] for query in queries if not query.vector]
    vectors = iter(await embedder.embed_queries(texts) if texts else ())
    return [query if query.vector else replace(query, vector=next(vectors)) for query in queries]


async def _run(
    name: Retriever, retrieval: Retrieval, queries: Sequence[EmbeddedQuery], not_embedded: Failure | None
) -> Sequence[Ranking]:
    if not_embedded is not None and name.endswith("_vector"):
        raise not_embedded.error
    return await retrieval(queries)


def _kept(spec: SearchSpec, rankings: Sequence[Ranking]) -> Sequence[Ranking]:
    """Rankings without the nodes that the filter removes."""

    def is_kept(candidate: Candidate) -> bool:
        return not isinstance(candidate.record, NodeRecord) or spec.types.keeps_node(candidate.record)

    return [replace(one, candidates=[*filter(is_kept, one.candidates)]) for one in rankings]


def _retrievals(spec: SearchSpec, vectors: VectorRetrievers) -> dict[Retriever, Retrieval]:
    """The retrievers of a search: each is a function from queries to a ranking for each."""
    pool = max(spec.relationship_limit, START_POOL) if spec.most_hops else spec.relationship_limit
    every: dict[Retriever, Retrieval] = {
        "node_vector": lambda queries: vectors.nodes(spec.scope, queries, labels=spec.labels, limit=spec.node_limit),
        "node_fulltext": lambda queries: search_nodes_full_text(
            spec.scope, queries, labels=spec.labels, limit=spec.text_limit, threshold=spec.text_threshold
        ),
        "relationship_vector": lambda queries: vectors.relationships(
            spec.scope, queries, types=spec.types, limit=pool, fields=RANKING_FIELDS
        ),
        "relationship_fulltext": lambda queries: search_relationships_full_text(
            spec.scope, queries, types=spec.types, limit=pool, threshold=spec.text_threshold
        ),
        "note_vector": lambda queries: vectors.notes(spec.scope, queries, types=spec.types, limit=NOTE_POOL),
    }
    return {name: retrieval for name, retrieval in every.items() if name in spec.retrievers}


def _starts(spec: SearchSpec, reading: QueryReading, rankings: Mapping[Retriever, Ranking]) -> Expansion:
    """The relationships that were retrieved, and those at the nodes that the query names."""
    of_notes = rankings.get("note_vector", Ranking()).candidates if spec.searches_relationships else ()
    matches = [
        *rankings.get("relationship_vector", Ranking()).candidates,
        *(one for one in of_notes if isinstance(one.record, RelationshipRecord)),
        *rankings.get("relationship_fulltext", Ranking()).candidates,
        *(match for node in reading.named for match in node.matches),
    ]
    texts = _texts(rankings.get("relationship_fulltext"))
    return Expansion(reading, texts, list(merged(matches).values()), spec.weights)


async def _expand(
    spec: SearchSpec,
    vectors: VectorRetrievers,
    queries: Sequence[EmbeddedQuery],
    expansions: Sequence[Expansion],
    deadline: float,
) -> list[str]:
    """Expand, if the queries have vectors; warnings of what is missing."""
    if not spec.most_hops or not all(query.vector for query in queries):
        return []
    target = vectors.target(spec.types, RANKING_FIELDS)
    step = expand(
        spec.scope,
        target,
        spec.types,
        [query.vector for query in queries],
        expansions,
        hops=spec.most_hops,
        deadline=deadline,
    )
    is_complete, failure = await attempt(step, spec.timeout, default=True)
    if failure is not None:
        return [f"Skipped expansion: {failure.reason}"]
    return [] if is_complete else [f"Expansion was cut short: it took longer than {EXPANSION_SHARE * spec.timeout:g} s"]


def _result(
    spec: SearchSpec,
    query: EmbeddedQuery,
    reading: QueryReading,
    rankings: Mapping[Retriever, Ranking],
    expansion: Expansion,
) -> QueryResult:
    finders = _finders(rankings)
    relationships = expansion.candidates(finders)
    nodes = _scored_nodes(reading, rankings, relationships, finders, spec)
    by_path = [one for one in relationships if one.found_by != ("relationship_fulltext",)]
    expanded = dict(rankings)
    if "relationship_vector" in rankings and spec.most_hops:
        expanded["relationship_vector"] = replace(rankings["relationship_vector"], candidates=by_path)
    return QueryResult(query, expanded, relationships[: spec.relationship_limit], nodes, bool(reading.named))


def _scored_nodes(
    reading: QueryReading,
    rankings: Mapping[Retriever, Ranking],
    relationships: Sequence[Candidate],
    finders: Mapping[str, tuple[RetrieverName, ...]],
    spec: SearchSpec,
) -> list[Candidate]:
    """Nodes that were retrieved, and the ends of relationships, each with its best score; best first.

    A node that a relationship leads to is one hop further than the relationship, whose type and text are not its own.
    """
    values, texts = reading.values, _texts(rankings.get("node_fulltext"))
    nodes: dict[str, Candidate] = {}
    retrieved = merged(
        one
        for name in (*OF_NODES, "note_vector")
        for one in rankings.get(name, Ranking()).candidates
        if isinstance(one.record, NodeRecord) and one.record.label in spec.labels
    )
    for one in retrieved.values():
        text = texts.get(one.key, 0.0)
        if text and isinstance(one.record, NodeRecord):
            text *= reading.share_of(one.record)
        features = Features(
            similarity=scoring.similarity_feature(one.best_similarity),
            named=scoring.named([values.get(entity_key_of(one.key), 0.0)]),
            type_words=text,
        )
        nodes[one.key] = replace(
            one,
            text_score=texts.get(one.key),
            found_by=finders[one.key],
            features=features,
            score=scoring.score(features, spec.weights),
        )
    searched = frozenset(spec.labels)
    for key, (score, features) in _best_through(relationships, searched, spec.weights).items():
        known = nodes.get(key, Candidate(key, -1.0))
        found_by = (*known.found_by, "via_relationship")
        if score > known.score:
            nodes[key] = replace(known, found_by=found_by, score=score, features=features)
        else:
            nodes[key] = replace(known, found_by=found_by)
    return best_first(nodes.values())


def _best_through(
    relationships: Sequence[Candidate], labels: frozenset[str], weights: Features
) -> dict[str, tuple[float, Features]]:
    """The best score, with its features, that relationships give to each of their ends with a label."""
    best: dict[str, tuple[float, Features]] = {}
    for one in relationships:
        if not isinstance(one.record, RelationshipRecord) or one.features is None:
            continue
        nearness = max(0.0, one.features.nearness - 1.0 / scoring.MAX_HOPS_SCORED)
        features = one.features._replace(nearness=nearness, level=0.0, type_words=0.0)
        score = scoring.score(features, weights)
        for entity_key, own_labels in one.record.ends_in_direction.items():
            key = node_key(entity_key)
            if not labels.isdisjoint(own_labels) and (key not in best or score > best[key][0]):
                best[key] = (score, features)
    return best


def best_first(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Sort by score; equal ones: relationships in the given order, nodes that were retrieved, other ends, by key."""

    def order(candidate: Candidate) -> tuple[float, bool, bool, str]:
        is_relationship = isinstance(candidate.record, RelationshipRecord)
        return -candidate.score, not is_relationship, candidate.record is None, "" if is_relationship else candidate.key

    return sorted(candidates, key=order)


def _finders(rankings: Mapping[Retriever, Ranking]) -> dict[str, tuple[RetrieverName, ...]]:
    """The retrievers that returned each candidate, by its key."""
    finders: dict[str, tuple[RetrieverName, ...]] = {}
    for name in RETRIEVERS:
        for one in rankings.get(name, Ranking()).candidates:
            finders[one.key] = (*finders.get(one.key, ()), name)
    return finders


def _texts(ranking: Ranking | None) -> dict[str, float]:
    """Relative full-text scores, by candidate key."""
    return {one.key: one.score for one in ranking.candidates} if ranking is not None else {}


def _all_failed(failures: Mapping[Retriever, Failure], warnings: Sequence[str]) -> Exception:
    unexpected = [failure.error for failure in failures.values() if failure.reason == INTERNAL_ERROR]
    if len(unexpected) == len(failures):
        return unexpected[0]
    return SearchError(f"Every search failed. {'; '.join(warnings)}")
