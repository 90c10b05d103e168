"""The candidate: a record that a retriever returned, with those of its statements that match."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, get_args

from kgagent.graph.records import NodeRecord, RelationshipRecord
from kgagent.models import GraphNode, GraphRelationship
from kgagent.models.hybrid import Retriever, RetrieverName
from kgagent.models.passage import in_section
from kgagent.models.search import SearchPlan
from kgagent.ontology import Ontology
from kgagent.search.features import StoredRecord
from kgagent.search.scope import EVERY, RelationshipFilter
from kgagent.search.score import Features

RETRIEVERS: tuple[Retriever, ...] = get_args(Retriever)
"""Retrievers in the order that breaks ties."""

OF_NODES: tuple[Retriever, ...] = ("node_vector", "node_fulltext")
OF_RELATIONSHIPS: tuple[Retriever, ...] = ("relationship_vector", "relationship_fulltext")
"""The retrievers of nodes, and those of relationships, which compare whole records."""

STATEMENTS_OF_MATCH = 8
"""Statements of a record that a retriever returns: the best ones; so one with many leaves room for
others.
"""

_NODE = "object:"
_ENDS = ("from_entity_key", "to_entity_key", "from_name", "to_name", "from_labels", "to_labels")
_NODE_FIELDS, _RELATIONSHIP_FIELDS = ("element_id", "labels"), ("element_id", "neo4j_type", *_ENDS)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node or relationship that a retriever returned, or that expansion added.

    Attributes:
        key: identifies the record in every ranking.
        score: what the current ranking sorts by.
        record: the record as far as it was read; None for a node that is only known as the end of a
            relationship.
        similarity: plain cosine with the query, -1 to 1, of its best statement, or of the record
            itself where records are compared; or the score of a match by name; None without any.
        text_score: score of its full-text match relative to the best match, above 0 to 1; None
            without one.
        path: the relationships that led to it, from one that the query itself found.
        found_by: how it was found.
        features: what its score is made of; None if another fusion strategy ranks it.
        statements: plain cosine with the query of each of its statements that were retrieved, by
            text; None for one without an embedding that can be compared.
        passages: those of these statements that are passages of a source's text, with their
            sections.
        best_text: the text of the best of these statements, once they are scored.
        result: the record as it is returned; None until it is read in full.
    """

    key: str
    score: float
    record: StoredRecord | None = None
    similarity: float | None = None
    text_score: float | None = None
    path: tuple[RelationshipRecord, ...] = ()
    found_by: tuple[RetrieverName, ...] = ()
    features: Features | None = None
    statements: Mapping[str, float | None] = field(default_factory=dict)
    passages: Mapping[str, str] = field(default_factory=dict)
    best_text: str = ""
    result: GraphNode | GraphRelationship | None = None

    @property
    def texts(self) -> list[tuple[str, float | None]]:
        """Its statements as they are searched, passages in their sections."""
        return [
            (in_section(text, self.passages.get(text)), similarity)
            for text, similarity in self.statements.items()
        ]


@dataclass(frozen=True, slots=True)
class Ranking:
    """What a retriever returned for one query.

    Attributes:
        candidates: best first.
        plan: how a vector search or a search by name was run; None for full-text search.
        span: similarities of the first match and of the last one that counts, of a vector search
            with enough matches.
    """

    candidates: Sequence[Candidate] = ()
    plan: SearchPlan | None = None
    span: tuple[float, float] | None = None


def first_of_each(candidates: Iterable[Candidate]) -> dict[str, Candidate]:
    """The first candidate of each key."""
    first: dict[str, Candidate] = {}
    for candidate in candidates:
        first.setdefault(candidate.key, candidate)
    return first


def merged(candidates: Iterable[Candidate]) -> dict[str, Candidate]:
    """The first candidate of each key, with the scores and the statements that only others know."""
    first: dict[str, Candidate] = {}
    for candidate in candidates:
        known = first.setdefault(candidate.key, candidate)
        if known is not candidate:
            first[candidate.key] = replace(
                known,
                similarity=candidate.similarity if known.similarity is None else known.similarity,
                text_score=candidate.text_score if known.text_score is None else known.text_score,
                statements={**candidate.statements, **known.statements},
                passages={**candidate.passages, **known.passages},
            )
    return first


def retrievers_of(
    rankings: Mapping[Retriever, Sequence[Candidate]],
) -> dict[str, tuple[Retriever, ...]]:
    """The retrievers that returned each candidate, by its key, in the order that breaks ties."""
    found: dict[str, tuple[Retriever, ...]] = {}
    for name in RETRIEVERS:
        for key in dict.fromkeys(candidate.key for candidate in rankings.get(name, ())):
            found[key] = (*found.get(key, ()), name)
    return found


def node_key(entity_key: str) -> str:
    """The key of a node in rankings."""
    return f"{_NODE}{entity_key}"


def entity_key_of(key: str) -> str:
    """The `entity_key` of a node, from its key in rankings."""
    return key.removeprefix(_NODE)


def key_of(record: StoredRecord) -> str:
    """The key of a record in rankings."""
    if isinstance(record, NodeRecord):
        return node_key(record.entity_key)
    return f"relationship:{record.key}"


def read_node(found: Sequence[Any], ontology: Ontology, labels: Sequence[str] = ()) -> NodeRecord:
    """Read the list that `_found_node.cypher` makes; of a node with several labels, one of `labels`
    counts.
    """
    return NodeRecord.read(_row(_NODE_FIELDS, found), ontology, labels=labels)


def read_relationship(found: Sequence[Any]) -> RelationshipRecord:
    """Read the list that `_found_relationship.cypher` or `_ranked_relationship.cypher` makes."""
    return RelationshipRecord.read(_row(_RELATIONSHIP_FIELDS, found))


def read_record(
    match: Mapping[str, Any],
    ontology: Ontology,
    labels: Sequence[str] = (),
    *,
    kept: RelationshipFilter = EVERY,
) -> StoredRecord | None:
    """Read the node or the relationship of a match, as it was at the time asked for; None if the
    filter does not keep it then, or another transaction has deleted it.
    """
    if match.get("node"):
        return kept.on_day(read_node(match["node"], ontology, labels))
    found = match.get("relationship")
    return kept.on_day(read_relationship(found)) if found else None


def statement_candidate(record: StoredRecord, match: Mapping[str, Any]) -> Candidate:
    """Read the statements of a match, see `_statement_match.cypher`; the best one is the score."""
    statements: dict[str, float | None] = {
        text: similar for text, similar, _ in match["statements"]
    }
    passages = {text: section for text, _, section in match["statements"] if section is not None}
    score = max(
        (similarity for similarity in statements.values() if similarity is not None), default=0.0
    )
    return Candidate(key_of(record), score, record, statements=statements, passages=passages)


def _row(fields: Sequence[str], found: Sequence[Any]) -> dict[str, Any]:
    *values, properties = found
    return dict(zip(fields, values, strict=True), properties=dict(properties))
