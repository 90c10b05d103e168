"""Full-text search as a retriever: nodes and relationships of a user that contain words of a text."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kgagent.graph.lucene import any_word, must_be, words
from kgagent.graph.schema_parts import NODE_TEXT_INDEX, NODE_TEXTS, RELATIONSHIP_TEXT_INDEX, RELATIONSHIP_TEXTS
from kgagent.graph.statements import Fragment, statement
from kgagent.retrieval.candidates import Candidate, Ranking, StoredRecord, key_of, read_node, read_relationship
from kgagent.retrieval.mentions import name_words
from kgagent.retrieval.scope import RelationshipFilter, SearchScope
from kgagent.retrieval.vector_targets import ALL_FIELDS

FIRST_FIELD_WEIGHT = 2.0
"""Weight of a word in a name or a relationship's type; elsewhere it is 1."""

MAX_TYPES = 50
"""Number of free types that the index filters by; Lucene accepts 1,024 clauses in all."""

MIN_FETCH = 50
WIDENING = 5


async def search_nodes_full_text(
    scope: SearchScope, text: str, *, labels: Sequence[str], limit: int, threshold: float = 0.0
) -> Ranking:
    """Find nodes by the words of their name, description and notes.

    Args:
        scope: whose nodes.
        text: any text; a node matches if it contains any of its words.
        labels: labels that a node may have.
        limit: maximum number of nodes.
        threshold: minimum score relative to the best match, 0 to 1.

    Raises:
        StoreError: the database failed.
    """
    parameters = {"index": NODE_TEXT_INDEX, "labels": list(labels), "least_share": threshold}
    query = _query(text, NODE_TEXTS, scope.user_id)
    rows = await _matches(scope, statement("search_nodes_text"), query, parameters, limit)
    return _ranking([(read_node(row["node"], scope.ontology, labels), row["score"]) for row in rows if row["node"]])


async def search_relationships_full_text(
    scope: SearchScope,
    text: str,
    *,
    types: RelationshipFilter,
    limit: int,
    threshold: float = 0.0,
    fields: Fragment = ALL_FIELDS,
) -> Ranking:
    """Find relationships by the words of their type, description and notes, as `search_nodes_full_text` finds nodes.

    `types` says which relationships to keep, `fields` what is read of each.
    """
    parameters = {**types.parameters, "index": RELATIONSHIP_TEXT_INDEX, "least_share": threshold}
    query = _query(text, RELATIONSHIP_TEXTS, scope.user_id, types.relationship_types)
    search = statement("search_relationships_text", relationship=fields)
    rows = await _matches(scope, search, query, parameters, limit)
    return _ranking([(read_relationship(found), row["score"]) for row in rows if (found := row["relationship"])])


def named_by(text: str, names: Iterable[tuple[str, str]]) -> frozenset[str]:
    """Keys of the nodes that have all words of a text in one of their names; each name is given after its key."""
    asked = set(name_words(text))
    return frozenset(key for key, name in names if asked and asked.issubset(name_words(name)))


async def _matches(
    scope: SearchScope, search: str, query: str | None, parameters: Mapping[str, Any], limit: int
) -> list[Mapping[str, Any]]:
    """Search, and fetch more if matches that the statement filters out took the place of others."""
    if query is None:
        return []
    fetch = max(MIN_FETCH, 2 * limit)
    while True:
        [row] = await scope.read(search, {**parameters, "query": query, "limit": limit, "fetch": fetch})
        if row["found"] >= limit or row["hits"] < fetch:
            return list(row["matches"])
        fetch *= WIDENING


def _query(
    text: str, fields: Sequence[str], user_id: str, relationship_types: Sequence[str] | None = None
) -> str | None:
    weights = dict.fromkeys(fields, 1.0) | {fields[0]: FIRST_FIELD_WEIGHT}
    wanted = any_word(text, weights)
    if wanted is None or (relationship_types is not None and not relationship_types):
        return None
    clauses = [must_be("user_id", [user_id]), f"+({wanted})"]
    # The statement filters by type in any case; the index can if it has a word of each type, and not too many.
    if relationship_types is not None and len(relationship_types) <= MAX_TYPES and all(map(words, relationship_types)):
        clauses.append(must_be("relationship_type", relationship_types))
    return " ".join(clauses)


def _ranking(scored: Sequence[tuple[StoredRecord, float]]) -> Ranking:
    """Candidates whose score is BM25 divided by that of the best match."""
    best = max((score for _, score in scored), default=1.0)
    return Ranking(
        [Candidate(key_of(record), score / best, record, text_score=score / best) for record, score in scored]
    )
