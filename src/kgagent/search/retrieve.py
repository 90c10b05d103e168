"""Retrieval: what the queries of a search find in the graph, by retrievers that run concurrently.

    embed the queries ─┐
                       ├─> retrieve, concurrently: statements by vector and by full text, and at
    count the records ─┘   named nodes; for the strategies of the documents, records too

A retriever that fails or takes too long becomes a warning.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kgagent.concurrency import task_group
from kgagent.embedding.base import Embedder
from kgagent.errors import SearchError
from kgagent.graph.embedded_text import MAX_EMBEDDED_TEXT
from kgagent.graph.identifiers import Identifier
from kgagent.graph.records import NodeRecord
from kgagent.graph.schema_parts import NODE_TEXT_INDEX, STATEMENT
from kgagent.graph.statements import statement
from kgagent.models.hybrid import RETRIEVER_DESCRIPTIONS, Retriever
from kgagent.search.attempt import INTERNAL_ERROR, Failure, attempt
from kgagent.search.candidates import (
    OF_NODES,
    OF_RELATIONSHIPS,
    Candidate,
    Ranking,
    merged,
    read_record,
    statement_candidate,
)
from kgagent.search.full_text import (
    search_nodes_full_text,
    search_relationships_full_text,
    search_statements_full_text,
)
from kgagent.search.query import Query, name_parameters, named_nodes, read_query
from kgagent.search.scope import RelationshipFilter, SearchScope
from kgagent.search.vector_search import STATEMENTS_OF_MATCH, Count, VectorRetrievers
from kgagent.search.vector_targets import RANKING_FIELDS, EmbeddedQuery
from kgagent.turns import in_turns

STATEMENT_POOL = 50
"""Records that each retriever of statements returns for a query, and at each named node, with their
best statements.
"""

FETCHED_NAMES, NAMED_NODES = 100, 8
"""Full-text matches whose names are compared with a query, and nodes that a query can name."""

HUB_LIMIT = 2_000
"""Statements that are read at a named node."""

OF_STATEMENTS: tuple[Retriever, ...] = ("statement_vector", "statement_fulltext", "named_node")
"""The retrievers of the default ranking."""


@dataclass(frozen=True)
class RetrievalSpec:
    """What to retrieve.

    Attributes:
        scope: whose graph.
        labels: labels of nodes, at least one.
        types: which relationships to keep.
        retrievers: the retrievers to run.
        node_limit: nodes of each label that vector search of nodes returns.
        text_limit: nodes that full-text search of nodes returns.
        relationship_limit: relationships that each retriever of relationships returns.
        text_threshold: minimum full-text score of a record relative to the best match.
        timeout: seconds for each retriever.
    """

    scope: SearchScope
    labels: Sequence[str]
    types: RelationshipFilter
    retrievers: frozenset[Retriever] = frozenset(OF_STATEMENTS)
    node_limit: int = 20
    text_limit: int = 20
    relationship_limit: int = 50
    text_threshold: float = 0.0
    timeout: float = 10.0


@dataclass(frozen=True)
class Retrieved:
    """What was retrieved for a query.

    Attributes:
        query: what the query says.
        rankings: what each retriever returned.
    """

    query: Query
    rankings: Mapping[Retriever, Ranking] = field(default_factory=dict)

    @property
    def candidates(self) -> list[Candidate]:
        """The records that were retrieved, each once, with their statements."""
        return list(
            merged(one for ranking in self.rankings.values() for one in ranking.candidates).values()
        )


@dataclass(frozen=True)
class Retrieval:
    """What was retrieved for the queries of a search.

    Attributes:
        results: of each query.
        failures: the retrievers that failed.
        warnings: what is missing, and why.
    """

    results: Sequence[Retrieved]
    failures: Mapping[Retriever, Failure]
    warnings: Sequence[str]


@dataclass(frozen=True)
class _Statements:
    """Statements that a retriever returned, with what it says of the queries.

    Attributes:
        rankings: of each query.
        weights: of each query, the weight of each of its words.
        named: of each query, the value of each node that it names.
        names: of each query, the names of these nodes, without those of the owner.
    """

    rankings: Sequence[Ranking]
    weights: Sequence[Mapping[str, float]] = ()
    named: Sequence[Mapping[str, float]] = ()
    names: Sequence[Mapping[str, str]] = ()


Run = Callable[[Sequence[Query]], Awaitable[_Statements]]


async def retrieve(
    spec: RetrievalSpec,
    queries: Sequence[EmbeddedQuery],
    vectors: VectorRetrievers,
    embedder: Embedder,
) -> Retrieval:
    """Embed the queries and run the retrievers.

    Records that are not in the index of statements, as in a graph that was not migrated, are
    retrieved as records too.

    Args:
        spec: what to retrieve.
        queries: texts; those without a vector are embedded, in one request.
        vectors: vector search.
        embedder: embeds the texts.

    Raises:
        SearchError: every retriever failed; or the error itself if each failed with an unexpected
            error.
    """
    async with task_group() as group:
        counting = group.create_task(
            attempt(
                vectors.prepare(spec.scope, spec.types, spec.labels), spec.timeout, default=Count()
            )
        )
        embedded, not_embedded = await attempt(
            _embed(queries, embedder), spec.timeout, default=list(queries)
        )
        count, _ = await counting
    # Long texts take a while, during which other users' calls go on.
    read = await in_turns(lambda query: read_query(query, spec.scope.ontology), embedded)
    chosen = spec.retrievers
    if count.unindexed and not chosen.isdisjoint(OF_STATEMENTS):
        chosen |= {*OF_NODES, *OF_RELATIONSHIPS}
    async with task_group() as group:
        tasks = {
            name: group.create_task(
                attempt(_run(name, run, read, not_embedded), spec.timeout, default=_Statements(()))
            )
            for name, run in _retrievers(spec, vectors, count.found).items()
            if name in chosen
        }
    results = {name: task.result() for name, task in tasks.items()}
    failures = {name: failure for name, (_, failure) in results.items() if failure is not None}
    found = {name: statements for name, (statements, failure) in results.items() if failure is None}
    warnings = [
        f"Skipped {RETRIEVER_DESCRIPTIONS[name]}: {failure.reason}"
        for name, failure in failures.items()
    ]
    if not any(name != "named_node" for name in found):
        raise _all_failed(failures, warnings)
    return Retrieval(
        [_of_query(spec, query, position, found) for position, query in enumerate(read)],
        failures,
        warnings,
    )


def _of_query(
    spec: RetrievalSpec, query: Query, position: int, found: Mapping[Retriever, _Statements]
) -> Retrieved:
    weights = {
        word: weight
        for one in found.values()
        if one.weights
        for word, weight in one.weights[position].items()
    }
    named = {
        key: value
        for one in found.values()
        if one.named
        for key, value in one.named[position].items()
    }

    def is_kept(candidate: Candidate) -> bool:
        record = candidate.record
        return not isinstance(record, NodeRecord) or (
            record.label in spec.labels and spec.types.keeps_node(record)
        )

    def kept(ranking: Ranking) -> Ranking:
        return replace(ranking, candidates=[*filter(is_kept, ranking.candidates)])

    rankings = {name: kept(one.rankings[position]) for name, one in found.items()}
    names = {
        key: name
        for one in found.values()
        if one.names
        for key, name in one.names[position].items()
    }
    return Retrieved(replace(query, weights=weights, named=named, names=names), rankings)


async def _embed(queries: Sequence[EmbeddedQuery], embedder: Embedder) -> list[EmbeddedQuery]:
    texts = [query.text[:MAX_EMBEDDED_TEXT] for query in queries if not query.vector]
    vectors = iter(await embedder.embed_queries(texts) if texts else ())
    return [query if query.vector else replace(query, vector=next(vectors)) for query in queries]


async def _run(
    name: Retriever, run: Run, queries: Sequence[Query], not_embedded: Failure | None
) -> _Statements:
    if not_embedded is not None and name.endswith("_vector"):
        raise not_embedded.error
    return await run(queries)


def _retrievers(
    spec: RetrievalSpec, vectors: VectorRetrievers, relationships: int
) -> dict[Retriever, Run]:
    """All retrievers: each is a function from queries to what it returns for them."""
    scope, types = spec.scope, spec.types

    async def full_text(queries: Sequence[Query]) -> _Statements:
        rankings, weights = await search_statements_full_text(
            scope, queries, types=types, limit=STATEMENT_POOL
        )
        return _Statements(rankings, weights)

    def of_rankings(
        search: Callable[[Sequence[EmbeddedQuery]], Awaitable[Sequence[Ranking]]],
    ) -> Run:
        async def run(queries: Sequence[Query]) -> _Statements:
            return _Statements(await search([query.embedded for query in queries]))

        return run

    return {
        "statement_vector": of_rankings(
            lambda queries: vectors.statements(scope, queries, types=types, limit=STATEMENT_POOL)
        ),
        "statement_fulltext": full_text,
        "named_node": lambda queries: _at_named_nodes(spec, queries, vectors, relationships),
        "node_vector": of_rankings(
            lambda queries: vectors.nodes(scope, queries, labels=spec.labels, limit=spec.node_limit)
        ),
        "node_fulltext": of_rankings(
            lambda queries: search_nodes_full_text(
                scope,
                queries,
                labels=spec.labels,
                limit=spec.text_limit,
                threshold=spec.text_threshold,
            )
        ),
        "relationship_vector": of_rankings(
            lambda queries: vectors.relationships(
                scope, queries, types=types, limit=spec.relationship_limit, fields=RANKING_FIELDS
            )
        ),
        "relationship_fulltext": of_rankings(
            lambda queries: search_relationships_full_text(
                scope,
                queries,
                types=types,
                limit=spec.relationship_limit,
                threshold=spec.text_threshold,
            )
        ),
    }


async def _at_named_nodes(
    spec: RetrievalSpec, queries: Sequence[Query], vectors: VectorRetrievers, relationships: int
) -> _Statements:
    """Find the nodes that queries name, with the statements there that are nearest, in one
    statement.

    Args:
        spec: whose graph, and which relationships to keep.
        queries: what the queries say.
        vectors: knows which relationships are searched.
        relationships: number of the user's relationships.

    Raises:
        StoreError: the database failed.
    """
    scope, types = spec.scope, spec.types
    parameters = await in_turns(
        lambda query: name_parameters(query, scope.user_id, scope.ontology), queries
    )
    asked = [
        {"position": position, "vector": scope.store.vector(query.embedded.vector or None), **own}
        for position, (query, own) in enumerate(zip(queries, parameters, strict=True))
        if own is not None
    ]
    if not asked:
        return _Statements([Ranking() for _ in queries])
    owner = scope.ontology.owner_label or next(iter(scope.ontology.labels))
    places = {**scope.places, **vectors.target(types, RANKING_FIELDS).places}
    rows = await scope.read(
        statement(
            "find_named_nodes",
            **{**places, "label": Identifier(STATEMENT), "owner": Identifier(owner)},
        ),
        {
            **types.parameters,
            "index": NODE_TEXT_INDEX,
            "queries": asked,
            "fetch": FETCHED_NAMES,
            "node_limit": NAMED_NODES,
            "hub_limit": HUB_LIMIT,
            "limit": STATEMENT_POOL,
            "of_record": STATEMENTS_OF_MATCH,
        },
        timeout=spec.timeout,
    )
    of_queries = [
        [row for row in rows if row["query"] == position] for position in range(len(queries))
    ]
    named = [
        named_nodes(query, own, scope.ontology, relationships)
        for query, own in zip(queries, of_queries, strict=True)
    ]

    def ranking(position: int) -> Ranking:
        matches = (
            match
            for row in of_queries[position]
            if row["entity_key"] in named[position]
            for match in row["matches"]
        )
        records = [
            (record, match)
            for match in matches
            if (record := read_record(match, scope.ontology)) is not None
        ]
        return Ranking([statement_candidate(record, match) for record, match in records])

    names = [
        {
            row["entity_key"]: row["names"][0]
            for row in own
            if row["entity_key"] in values and not row["is_owner"]
        }
        for own, values in zip(of_queries, named, strict=True)
    ]
    return _Statements(await in_turns(ranking, range(len(queries))), named=named, names=names)


def _all_failed(failures: Mapping[Retriever, Failure], warnings: Sequence[str]) -> Exception:
    unexpected = [
        failure.error for failure in failures.values() if failure.reason == INTERNAL_ERROR
    ]
    if failures and len(unexpected) == len(failures):
        return unexpected[0]
    return SearchError(f"Every search failed. {'; '.join(warnings)}")
