"""Retrieval: what the queries of a search find in the graph, by retrievers that run concurrently.

    embed the queries ─┐
                       ├─> retrieve, concurrently: statements by vector and by full text, and at
    count the records ─┘   named nodes; for the strategies of the documents, records too

A retriever that fails or takes too long becomes a warning.
"""

import asyncio
from collections import ChainMap
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from kgagent.concurrency import task_group
from kgagent.embedding.base import Embedder
from kgagent.graph.embedded_text import MAX_EMBEDDED_TEXT
from kgagent.graph.identifiers import Identifier
from kgagent.graph.records import NodeRecord, RelationshipRecord
from kgagent.graph.schema_parts import NODE_TEXT_INDEX, STATEMENT
from kgagent.graph.statements import statement
from kgagent.graph.store import Row
from kgagent.models.hybrid import RETRIEVER_DESCRIPTIONS, Retriever
from kgagent.search.attempt import Failure, attempt, failed
from kgagent.search.candidates import (
    OF_NODES,
    OF_RELATIONSHIPS,
    STATEMENTS_OF_MATCH,
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
from kgagent.search.query import (
    EmbeddedQuery,
    Query,
    name_parameters,
    named_nodes,
    read_query,
)
from kgagent.search.scope import RelationshipFilter, SearchScope
from kgagent.search.score import WEIGHTS, Features
from kgagent.search.vectors import RANKING_FIELDS, Count, VectorSearch

STATEMENT_POOL = 50
"""Records that each retriever of statements returns for a query, and at each named node, with their
best statements.
"""

FETCHED_NAMES, MOST_NAMED = 100, 8
"""Full-text matches whose names are compared with a query, and nodes that a query can name."""

STATEMENTS_AT_NODE = 2_000
"""Statements that are read at a named node."""

OF_STATEMENTS: tuple[Retriever, ...] = ("statement_vector", "statement_fulltext", "named_node")
"""The retrievers of the default ranking."""


@dataclass(frozen=True)
class SearchSpec:
    """What to search, and how.

    Attributes:
        scope: whose graph.
        labels: labels of nodes, at least one.
        kept: which relationships to keep.
        retrievers: the retrievers to run.
        node_limit: nodes of each label that vector search of nodes returns.
        text_limit: nodes that full-text search of nodes returns.
        relationship_limit: relationships that each retriever of relationships returns.
        text_threshold: minimum full-text score of a record relative to the best match.
        timeout: seconds for each retriever.
        hops: hops to expand, 0 to 5; None expands as many as usual.
        searches_relationships: whether relationships are returned, and paths followed.
        weights: weight of each feature of the score.
    """

    scope: SearchScope
    labels: Sequence[str]
    kept: RelationshipFilter
    retrievers: frozenset[Retriever] = frozenset(OF_STATEMENTS)
    node_limit: int = 20
    text_limit: int = 20
    relationship_limit: int = 50
    text_threshold: float = 0.0
    timeout: float = 10.0
    hops: int | None = None
    searches_relationships: bool = True
    weights: Features = WEIGHTS

    def searches(self, candidate: Candidate) -> bool:
        """Whether a candidate is of a kind that is searched."""
        is_relationship = isinstance(candidate.record, RelationshipRecord)
        return self.searches_relationships or not is_relationship


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


class Returned(NamedTuple):
    """What a retriever returned for one query.

    Attributes:
        ranking: the records.
        weights: what each word of the query weighs.
        named: the value of each node that the query names.
        names: the names of these nodes, without those of the owner.
    """

    ranking: Ranking = Ranking()
    weights: Mapping[str, float] = {}
    named: Mapping[str, float] = {}
    names: Mapping[str, str] = {}


Run = Callable[[Sequence[Query]], Awaitable[Sequence[Returned]]]


async def retrieve(
    spec: SearchSpec,
    queries: Sequence[EmbeddedQuery],
    vectors: VectorSearch,
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
                vectors.prepare(spec.scope, spec.kept, spec.labels), spec.timeout, default=Count()
            )
        )
        embedded, not_embedded = await attempt(
            _embed(queries, embedder), spec.timeout, default=list(queries)
        )
        count, _ = await counting
    # Long texts take a while, during which other users' calls go on.
    read = await asyncio.to_thread(
        lambda: [read_query(query, spec.scope.ontology) for query in embedded]
    )
    chosen = spec.retrievers
    if count.unindexed and not chosen.isdisjoint(OF_STATEMENTS):
        chosen |= {*OF_NODES, *OF_RELATIONSHIPS}
    nothing = [Returned() for _ in queries]
    async with task_group() as group:
        tasks = {
            name: group.create_task(
                attempt(_run(name, run, read, not_embedded), spec.timeout, default=nothing)
            )
            for name, run in _retrievers(spec, vectors, count.found).items()
            if name in chosen
        }
    results = {name: task.result() for name, task in tasks.items()}
    failures = {name: failure for name, (_, failure) in results.items() if failure is not None}
    found = {name: returned for name, (returned, failure) in results.items() if failure is None}
    warnings = [
        f"Skipped {RETRIEVER_DESCRIPTIONS[name]}: {failure.reason}"
        for name, failure in failures.items()
    ]
    if not any(name != "named_node" for name in found):
        raise failed([*failures.values()], f"Every search failed. {'; '.join(warnings)}")
    return Retrieval(
        [
            _retrieved(spec, query, {name: returned[at] for name, returned in found.items()})
            for at, query in enumerate(read)
        ],
        failures,
        warnings,
    )


def _retrieved(spec: SearchSpec, query: Query, found: Mapping[Retriever, Returned]) -> Retrieved:
    def is_kept(candidate: Candidate) -> bool:
        record = candidate.record
        return not isinstance(record, NodeRecord) or (
            record.label in spec.labels
            and (bool(candidate.passages) or spec.kept.keeps_node(record))
        )

    rankings = {
        name: replace(one.ranking, candidates=[*filter(is_kept, one.ranking.candidates)])
        for name, one in found.items()
    }
    read = replace(
        query,
        weights=ChainMap(*(dict(one.weights) for one in found.values())),
        named=ChainMap(*(dict(one.named) for one in found.values())),
        names=ChainMap(*(dict(one.names) for one in found.values())),
    )
    return Retrieved(read, rankings)


async def _embed(queries: Sequence[EmbeddedQuery], embedder: Embedder) -> list[EmbeddedQuery]:
    texts = [query.text[:MAX_EMBEDDED_TEXT] for query in queries if not query.vector]
    vectors = iter(await embedder.embed_queries(texts) if texts else ())
    return [query if query.vector else replace(query, vector=next(vectors)) for query in queries]


async def _run(
    name: Retriever, run: Run, queries: Sequence[Query], not_embedded: Failure | None
) -> Sequence[Returned]:
    if not_embedded is not None and name.endswith("_vector"):
        raise not_embedded.error
    return await run(queries)


def _retrievers(
    spec: SearchSpec, vectors: VectorSearch, relationships: int
) -> dict[Retriever, Run]:
    """All retrievers: each is a function from queries to what it returns for them."""
    scope, kept = spec.scope, spec.kept

    async def full_text(queries: Sequence[Query]) -> Sequence[Returned]:
        rankings, weights = await search_statements_full_text(
            scope, queries, kept=kept, limit=STATEMENT_POOL
        )
        return list(map(Returned, rankings, weights))

    def of_rankings(
        search: Callable[[Sequence[EmbeddedQuery]], Awaitable[Sequence[Ranking]]],
    ) -> Run:
        async def run(queries: Sequence[Query]) -> Sequence[Returned]:
            return list(map(Returned, await search([query.embedded for query in queries])))

        return run

    return {
        "statement_vector": of_rankings(
            lambda queries: vectors.statements(scope, queries, kept=kept, limit=STATEMENT_POOL)
        ),
        "statement_fulltext": full_text,
        "named_node": lambda queries: at_named_nodes(
            spec,
            queries,
            [name_parameters(query, scope.owners, scope.ontology) for query in queries],
            vectors,
            relationships,
        ),
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
                scope, queries, kept=kept, limit=spec.relationship_limit, fields=RANKING_FIELDS
            )
        ),
        "relationship_fulltext": of_rankings(
            lambda queries: search_relationships_full_text(
                scope,
                queries,
                kept=kept,
                limit=spec.relationship_limit,
                threshold=spec.text_threshold,
            )
        ),
    }


async def at_named_nodes(
    spec: SearchSpec,
    queries: Sequence[Query],
    names: Sequence[Mapping[str, Any] | None],
    vectors: VectorSearch,
    relationships: int,
) -> Sequence[Returned]:
    """Find the nodes that texts name, with the statements there that are nearest to the queries, in
    one statement.

    Args:
        spec: whose graph, and which relationships to keep.
        queries: what the texts say, with the vectors of the queries.
        names: how nodes are found that each of them may name; None if it can name none.
        vectors: knows which relationships are searched.
        relationships: number of the user's relationships.

    Raises:
        StoreError: the database failed.
    """
    scope, ontology = spec.scope, spec.scope.ontology
    asked = [
        {"position": position, "vector": scope.store.vector(query.embedded.vector or None), **own}
        for position, (query, own) in enumerate(zip(queries, names, strict=True))
        if own is not None
    ]
    if not asked:
        return [Returned() for _ in queries]
    owner = ontology.owner_label or next(iter(ontology.labels))
    places = {
        **scope.places,
        **vectors.target(spec.kept, RANKING_FIELDS).places,
        "label": Identifier(STATEMENT),
        "owner": Identifier(owner),
    }

    def returned(query: Query, rows: Sequence[Row]) -> Returned:
        named = named_nodes(query, rows, ontology, relationships)
        own = [row for row in rows if row["entity_key"] in named]
        matches = [
            (read_record(one, ontology, kept=spec.kept), one)
            for row in own
            for one in row["matches"]
        ]
        return Returned(
            Ranking([statement_candidate(read, one) for read, one in matches if read is not None]),
            named=named,
            names={row["entity_key"]: row["names"][0] for row in own if not row["is_owner"]},
        )

    return await scope.read_as(
        lambda rows: [
            returned(query, [row for row in rows if row["query"] == position])
            for position, query in enumerate(queries)
        ],
        statement("find_named_nodes", **places),
        {
            **spec.kept.parameters,
            "index": NODE_TEXT_INDEX,
            "queries": asked,
            "fetch": FETCHED_NAMES,
            "node_limit": MOST_NAMED,
            "hub_limit": STATEMENTS_AT_NODE,
            "limit": STATEMENT_POOL,
            "of_record": STATEMENTS_OF_MATCH,
        },
        timeout=spec.timeout,
    )
