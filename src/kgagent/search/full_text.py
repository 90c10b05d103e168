"""Full-text search as a retriever: nodes and relationships of a user that contain words of
texts.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from kgagent.graph.identifiers import Identifier
from kgagent.graph.lucene import any_word, must_be, words
from kgagent.graph.schema_parts import (
    NODE_TEXT_INDEX,
    NODE_TEXTS,
    RELATIONSHIP_TEXT_INDEX,
    RELATIONSHIP_TEXTS,
    STATEMENT_TEXT_INDEX,
)
from kgagent.graph.statements import statement
from kgagent.search.arguments import MAX_LIMIT
from kgagent.search.candidates import (
    Candidate,
    Ranking,
    key_of,
    read_node,
    read_record,
    read_relationship,
    statement_candidate,
)
from kgagent.search.features import StoredRecord
from kgagent.search.query import Query, full_text_parameters
from kgagent.search.scope import RelationshipFilter, SearchScope
from kgagent.search.vector_search import STATEMENTS_OF_MATCH
from kgagent.search.vector_targets import RANKING_FIELDS, EmbeddedQuery
from kgagent.turns import in_turns

FIRST_FIELD_WEIGHT = 2.0
"""Weight of a word in a name or a relationship's type; elsewhere it is 1."""

MAX_TYPES = 50
"""Number of free types that the index filters by; Lucene accepts 1,024 clauses in all."""

MIN_FETCH = 50
WIDENING = 5


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
    texts = await in_turns(lambda query: _lucene(scope, query.text, NODE_TEXTS), queries)
    return await _search(
        scope,
        "search_nodes_text",
        [*zip(queries, texts, strict=True)],
        parameters=parameters,
        limit=limit,
        read=lambda match: match["node"] and read_node(match["node"], scope.ontology, labels),
    )


async def search_relationships_full_text(
    scope: SearchScope,
    queries: Sequence[EmbeddedQuery],
    *,
    types: RelationshipFilter,
    limit: int,
    threshold: float = 0.0,
) -> list[Ranking]:
    """Find relationships by the words of their type, description and notes, as
    `search_nodes_full_text` finds nodes.

    `types` says which relationships to keep; of each, the fields for ranking are read.
    """
    parameters = {**types.parameters, "index": RELATIONSHIP_TEXT_INDEX, "least_share": threshold}
    texts = await in_turns(
        lambda query: _lucene(scope, query.text, RELATIONSHIP_TEXTS, types.relationship_types),
        queries,
    )
    return await _search(
        scope,
        "search_relationships_text",
        [*zip(queries, texts, strict=True)],
        parameters=parameters,
        limit=limit,
        read=lambda match: match["relationship"] and read_relationship(match["relationship"]),
    )


async def search_statements_full_text(
    scope: SearchScope, queries: Sequence[Query], *, types: RelationshipFilter, limit: int
) -> tuple[list[Ranking], list[dict[str, float]]]:
    """Find statements by their words and those of the names and the type of their records, in one
    statement.

    Args:
        scope: whose statements.
        queries: what the queries say.
        types: of which relationships; those of nodes are found too.
        limit: maximum number of records of each query.

    Returns:
        The records of each query, best first; and what each word of each query weighs, if any
        statement has it.

    Raises:
        StoreError: the database failed.
    """
    rankings, weights = [Ranking() for _ in queries], [dict[str, float]() for _ in queries]
    asked = [
        {"position": position, "vector": scope.store.vector(query.embedded.vector or None), **own}
        for position, query in enumerate(queries)
        if (own := full_text_parameters(query, scope.user_id)) is not None
    ]
    if not asked or types.matches_nothing:
        return rankings, weights
    places = {
        "labels": Identifier.any_of(scope.ontology.labels),
        "types": types.identifier(scope.ontology),
    }
    search = statement("search_statements_text", relationship=RANKING_FIELDS, **places)
    parameters = {
        **types.parameters,
        "index": STATEMENT_TEXT_INDEX,
        "limit": limit,
        "of_record": STATEMENTS_OF_MATCH,
    }

    def read(match: Mapping[str, Any]) -> Candidate | None:
        record = read_record(match, scope.ontology)
        return None if record is None else statement_candidate(record, match)

    fetch = 4 * limit
    while asked:
        rows = await scope.read(search, {**parameters, "queries": asked, "fetch": fetch})
        for row in rows:
            found = await in_turns(read, row["matches"])
            rankings[row["query"]] = Ranking([one for one in found if one is not None])
            weights[row["query"]] = dict(row["weights"])
        # Matches that the statement filters out took the place of others.
        short = {row["query"] for row in rows if _is_short(row, limit, fetch)}
        asked = [one for one in asked if one["position"] in short]
        fetch *= WIDENING
        if fetch > MAX_LIMIT:
            break
    return rankings, weights


def _is_short(row: Mapping[str, Any], limit: int, fetch: int) -> bool:
    """Whether statements of other users, or those that a filter removes, left too few records."""
    is_filtered = row["kept"] < row["hits"] or not row["matches"]
    return is_filtered and len(row["matches"]) < limit and row["hits"] >= fetch


async def _search(
    scope: SearchScope,
    name: str,
    queries: Sequence[tuple[EmbeddedQuery, str | None]],
    *,
    parameters: Mapping[str, Any],
    limit: int,
    read: Callable[[Mapping[str, Any]], StoredRecord | None],
) -> list[Ranking]:
    """Search, and fetch more if matches that the statement filters out took the place of others."""
    rankings = [Ranking() for _ in queries]
    asked = [
        {
            "position": position,
            "text": text,
            "vector": scope.store.vector(query.vector) if query.vector else None,
        }
        for position, (query, text) in enumerate(queries)
        if text is not None
    ]
    fetch = max(MIN_FETCH, 2 * limit)
    search = statement(name, relationship=RANKING_FIELDS)
    while asked:
        rows = await scope.read(
            search, {**parameters, "queries": asked, "limit": limit, "fetch": fetch}
        )
        complete = {row["query"] for row in rows if row["found"] >= limit or row["hits"] < fetch}
        for row in rows:
            rankings[row["query"]] = _ranking(row["matches"], read)
        asked = [one for one in asked if one["position"] not in complete]
        fetch *= WIDENING
    return rankings


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
    clauses = [must_be("user_id", [scope.user_id]), f"+({wanted})"]
    # The statement filters by type in any case; the index can if it has a word of each type, and
    # not too many.
    if (
        relationship_types is not None
        and len(relationship_types) <= MAX_TYPES
        and all(map(words, relationship_types))
    ):
        clauses.append(must_be("relationship_type", relationship_types))
    return " ".join(clauses)


def _ranking(
    matches: Sequence[Mapping[str, Any]], read: Callable[[Mapping[str, Any]], StoredRecord | None]
) -> Ranking:
    """Candidates whose score is BM25 divided by that of the best match."""
    records = [(record, match) for match in matches if (record := read(match))]
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
