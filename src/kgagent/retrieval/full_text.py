"""Full-text search: the user's nodes and relationships in which the words of a text stand."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from kgagent.graph.records import NodeRecord, RelationshipRecord
from kgagent.graph.schema_parts import NODE_TEXT_INDEX, NODE_TEXTS, RELATIONSHIP_TEXT_INDEX, RELATIONSHIP_TEXTS
from kgagent.graph.statements import Fragment, statement
from kgagent.graph.store import Store
from kgagent.ontology import Ontology
from kgagent.retrieval.lucene import any_word, must_be, words
from kgagent.retrieval.vector_targets import IN_FULL, found_node, found_relationship

FIRST_FIELD_WEIGHT = 2.0
"""How much a word counts in a name or a relationship's type; elsewhere it counts 1."""

MAX_TYPES = 50
"""Free types that the index is asked to keep to; Lucene takes 1,024 clauses in all."""

MIN_FETCH = 50
WIDENING = 5

RecordT = TypeVar("RecordT", NodeRecord, RelationshipRecord)


@dataclass(frozen=True)
class TextHit(Generic[RecordT]):
    """A record in which words of the text stand.

    Attributes:
        score: how well it matches beside the best of this search, above 0 to 1; BM25 divided by that of the best.
    """

    record: RecordT
    score: float


class FullTextSearch:
    """Asks the full-text indexes, whose hits are those of one user before they are limited."""

    def __init__(self, store: Store, ontology: Ontology, *, timeout: float) -> None:
        self._store = store
        self._ontology = ontology
        self._timeout = timeout

    async def nodes(
        self, text: str, *, user_id: str, labels: Sequence[str], limit: int, threshold: float = 0.0
    ) -> list[TextHit[NodeRecord]]:
        """Find nodes by the words of their name, description and notes.

        Args:
            text: any text; its words are looked for, any of them.
            user_id: whose nodes.
            labels: labels that a node may carry.
            limit: nodes at the most.
            threshold: least score, 0 to 1.

        Raises:
            StoreError: the database failed.
        """
        rows = await self._matches(
            statement("search_nodes_text"),
            _query(text, NODE_TEXTS, user_id),
            {"index": NODE_TEXT_INDEX, "user_id": user_id, "labels": list(labels), "least_share": threshold},
            limit,
        )
        return _hits([(found_node(row["node"], self._ontology, labels), row["score"]) for row in rows])

    async def relationships(
        self,
        text: str,
        *,
        user_id: str,
        relationship_types: Sequence[str] | None,
        limit: int,
        threshold: float = 0.0,
        told: Fragment = IN_FULL,
    ) -> list[TextHit[RelationshipRecord]]:
        """Find relationships by the words of their type, description and notes.

        Args:
            text: any text; its words are looked for, any of them.
            user_id: whose relationships.
            relationship_types: free types ("mentor") to keep to; None keeps all.
            limit: relationships at the most.
            threshold: least score, 0 to 1.
            told: what is read of each.

        Raises:
            StoreError: the database failed.
        """
        types = None if relationship_types is None else list(relationship_types)
        rows = await self._matches(
            statement("search_relationships_text", relationship=told),
            _query(text, RELATIONSHIP_TEXTS, user_id, types),
            {
                "index": RELATIONSHIP_TEXT_INDEX,
                "user_id": user_id,
                "relationship_types": types,
                "least_share": threshold,
            },
            limit,
        )
        return _hits([(found_relationship(row["relationship"]), row["score"]) for row in rows])

    async def _matches(
        self, asking: str, query: str | None, parameters: Mapping[str, Any], limit: int
    ) -> list[Mapping[str, Any]]:
        """Ask, and ask for more where hits that are not the user's after all took the place of theirs."""
        if query is None:
            return []
        fetch = max(MIN_FETCH, 2 * limit)
        while True:
            asked = {**parameters, "query": query, "limit": limit, "fetch": fetch, "dimensions": None}
            [row] = await self._store.read(asking, asked, timeout=self._timeout)
            if row["found"] >= limit or row["hits"] < fetch:
                return list(row["matches"])
            fetch *= WIDENING


def _query(
    text: str, fields: Sequence[str], user_id: str, relationship_types: Sequence[str] | None = None
) -> str | None:
    weights = dict.fromkeys(fields, 1.0) | {fields[0]: FIRST_FIELD_WEIGHT}
    wanted = any_word(text, weights)
    if wanted is None or relationship_types == []:
        return None
    clauses = [must_be("user_id", [user_id]), f"+({wanted})"]
    # The statement filters by type in any case; the index can where it knows a word of each, and not too many.
    if relationship_types is not None and len(relationship_types) <= MAX_TYPES and all(map(words, relationship_types)):
        clauses.append(must_be("relationship_type", relationship_types))
    return " ".join(clauses)


def _hits(scored: Sequence[tuple[RecordT, float]]) -> list[TextHit[RecordT]]:
    best = max((score for _, score in scored), default=1.0)
    return [TextHit(record, score / best) for record, score in scored]
