"""Full-text search as a retriever: nodes, relationships and statements of a user that contain words
of texts.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kgagent.graph.lucene import any_word, must_be, words
from kgagent.graph.schema_parts import (
    NODE_TEXT_INDEX,
    NODE_TEXTS,
    RELATIONSHIP_TEXT_INDEX,
    RELATIONSHIP_TEXTS,
    STATEMENT_TEXT_INDEX,
)
from kgagent.graph.statements import Statement, statement
from kgagent.graph.store import Row
from kgagent.search.arguments import MAX_LIMIT
from kgagent.search.candidates import (
    STATEMENTS_OF_MATCH,
    Candidate,
    Ranking,
    key_of,
    read_record,
    statement_candidate,
)
from kgagent.search.query import EmbeddedQuery, Query, full_text_parameters
from kgagent.search.scope import EVERY, RelationshipFilter, SearchScope
from kgagent.search.vectors import RANKING_FIELDS, WIDER

FIRST_FIELD_WEIGHT = 2.0
"""Weight of a word in a name or a relationship's type; elsewhere it is 1."""

TYPES_IN_INDEX = 50
"""Number of free types that the index filters by; Lucene accepts 1,024 clauses in all."""

FEWEST_FETCHED = 50


async def search_nodes_full_text(
    scope: SearchScope,
    queries: Sequence[EmbeddedQuery],
    *,
    labels: Sequence[str],
    limit: int,
    threshold: float = 0.0,
) -> list[Ranking]:
    """Find nodes by the words of their name, description and notes, in one statement.

    Args:
        scope: whose nodes.
        queries: texts, with their vectors if they have any; a node matches if it contains any word
            of a text.
        labels: labels that a node may have.
        limit: maximum number of nodes of each query.
        threshold: minimum score relative to the best match, 0 to 1.

    Raises:
        StoreError: the database failed.
    """
    parameters = {"index": NODE_TEXT_INDEX, "labels": list(labels), "least_share": threshold}
    texts = [_lucene(scope, query.text, NODE_TEXTS) for query in queries]
    return await _records(
        scope, "search_nodes_text", queries, texts, parameters, limit, labels=labels
    )


async def search_relationships_full_text(
    scope: SearchScope,
    queries: Sequence[EmbeddedQuery],
    *,
    kept: RelationshipFilter,
    limit: int,
    threshold: float = 0.0,
) -> list[Ranking]:
    """Find relationships by the words of their type, description and notes, as
    `search_nodes_full_text` finds nodes.

    `kept` says which relationships to keep; of each, the fields for ranking are read.
    """
    parameters = {**kept.parameters, "index": RELATIONSHIP_TEXT_INDEX, "least_share": threshold}
    texts = [
        _lucene(scope, query.text, RELATIONSHIP_TEXTS, kept.relationship_types) for query in queries
    ]
    return await _records(
        scope, "search_relationships_text", queries, texts, parameters, limit, kept=kept
    )


async def search_statements_full_text(
    scope: SearchScope, queries: Sequence[Query], *, kept: RelationshipFilter, limit: int
) -> tuple[list[Ranking], list[dict[str, float]]]:
    """Find statements by their words and those of the names and the type of their records, in one
    statement.

    Args:
        scope: whose statements.
        queries: what the queries say.
        kept: of which relationships; those of nodes are found too.
        limit: maximum number of records of each query.

    Returns:
        The records of each query, best first; and what each word of each query weighs, if any
        statement has it.

    Raises:
        StoreError: the database failed.
    """
    asked = [
        {"position": position, "vector": scope.store.vector(query.embedded.vector or None), **own}
        for position, query in enumerate(queries)
        if (own := full_text_parameters(query, scope.owners)) is not None
    ]
    text = statement(
        "search_statements_text",
        relationship=RANKING_FIELDS,
        labels=scope.places["labels"],
        types=kept.identifier(scope.ontology),
    )
    parameters = {
        **kept.parameters,
        "index": STATEMENT_TEXT_INDEX,
        "limit": limit,
        "of_record": STATEMENTS_OF_MATCH,
    }

    def is_short(row: Row, fetch: int) -> bool:
        """Whether statements of other users, or those that a filter removes, left too few."""
        is_filtered = row["kept"] < row["hits"] or not row["matches"]
        is_more = row["hits"] >= fetch and fetch * WIDER <= MAX_LIMIT
        return is_filtered and is_more and len(row["matches"]) < limit

    def candidate(match: Mapping[str, Any]) -> Candidate | None:
        record = read_record(match, scope.ontology, kept=kept)
        return None if record is None else statement_candidate(record, match)

    def ranking(row: Row | None) -> Ranking:
        matches = () if row is None else row["matches"]
        return Ranking([one for one in map(candidate, matches) if one is not None])

    rows = await _rows(scope, text, parameters, asked, 4 * limit, is_short)
    found = [rows.get(position) for position in range(len(queries))]
    weights = [{} if row is None else dict(row["weights"]) for row in found]
    return await asyncio.to_thread(lambda: list(map(ranking, found))), weights


async def _records(  # noqa: PLR0917
    scope: SearchScope,
    name: str,
    queries: Sequence[EmbeddedQuery],
    texts: Sequence[str | None],
    parameters: Mapping[str, Any],
    limit: int,
    labels: Sequence[str] = (),
    kept: RelationshipFilter = EVERY,
) -> list[Ranking]:
    """Records whose score is BM25 divided by that of the best match."""
    asked = [
        {"position": position, "text": text, "vector": scope.store.vector(query.vector or None)}
        for position, (query, text) in enumerate(zip(queries, texts, strict=True))
        if text is not None
    ]

    def is_short(row: Row, fetch: int) -> bool:
        return bool(row["found"] < limit and row["hits"] >= fetch)

    def ranking(row: Row | None) -> Ranking:
        matches = () if row is None else row["matches"]
        records = [
            (record, match)
            for match in matches
            if (record := read_record(match, scope.ontology, labels, kept=kept)) is not None
        ]
        best = max((match["score"] for _, match in records), default=0.0)
        shares = [match["score"] / best if best > 0.0 else 0.0 for _, match in records]
        return Ranking(
            [
                replace(
                    Candidate(key_of(record), share, record, text_score=share),
                    similarity=match["similarity"],
                )
                for (record, match), share in zip(records, shares, strict=True)
            ]
        )

    rows = await _rows(
        scope,
        statement(name, relationship=RANKING_FIELDS),
        {**parameters, "limit": limit},
        asked,
        max(FEWEST_FETCHED, 2 * limit),
        is_short,
    )
    found = [rows.get(position) for position in range(len(queries))]
    return await asyncio.to_thread(lambda: list(map(ranking, found)))


async def _rows(  # noqa: PLR0917
    scope: SearchScope,
    text: Statement,
    parameters: Mapping[str, Any],
    asked: Sequence[Mapping[str, Any]],
    fetch: int,
    is_short: Callable[[Row, int], bool],
) -> dict[int, Row]:
    """The row of each query by its position: queries are asked again for more matches if those
    that the statement filters out took the place of others.
    """
    rows: dict[int, Row] = {}
    while asked:
        found = await scope.read(text, {**parameters, "queries": asked, "fetch": fetch})
        rows |= {row["query"]: row for row in found}
        short = {row["query"] for row in found if is_short(row, fetch)}
        asked = [one for one in asked if one["position"] in short]
        fetch *= WIDER
    return rows


def _lucene(
    scope: SearchScope,
    text: str,
    fields: Sequence[str],
    relationship_types: Sequence[str] | None = None,
) -> str | None:
    weights = dict.fromkeys(fields, 1.0) | {fields[0]: FIRST_FIELD_WEIGHT}
    wanted = any_word(text, weights, without=scope.ontology.stop_words)
    if wanted is None or (relationship_types is not None and not relationship_types):
        return None
    clauses = [must_be("user_id", scope.owners), f"+({wanted})"]
    # The statement filters by type in any case; the index can if it has a word of each type, and
    # not too many.
    if (
        relationship_types is not None
        and len(relationship_types) <= TYPES_IN_INDEX
        and all(map(words, relationship_types))
    ):
        clauses.append(must_be("relationship_type", relationship_types))
    return " ".join(clauses)
