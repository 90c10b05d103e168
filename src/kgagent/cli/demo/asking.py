"""Asking the sample graph: what node search finds beside what relationship search finds."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from kgagent.cli.demo.sample import Question
from kgagent.models import NodeSearchResult, RelationshipSearchResult
from kgagent.retrieval import RetrievalService

HITS = 5
"""Nodes, and relationships, that are shown for a question."""

FURTHER_NODES = 20
"""Nodes among which expected people are counted too, so that the comparison does not hang on `HITS`."""

_NO_THRESHOLD = -1.0


@dataclass(frozen=True)
class Times:
    """Milliseconds."""

    embedding: float
    nodes: float
    relationships: float

    @property
    def search(self) -> float:
        """Both searches."""
        return self.nodes + self.relationships


@dataclass(frozen=True)
class Answer:
    """What the two searches found for a question, best first."""

    question: Question
    nodes: tuple[NodeSearchResult, ...]
    further_nodes: tuple[NodeSearchResult, ...]
    relationships: tuple[RelationshipSearchResult, ...]
    times: Times

    @property
    def found_by_nodes(self) -> frozenset[str]:
        """Expected people among the nodes shown."""
        return self.question.expected & {hit.node.name for hit in self.nodes}

    @property
    def found_by_further_nodes(self) -> frozenset[str]:
        """Expected people among the first 20 nodes."""
        return self.question.expected & {hit.node.name for hit in self.further_nodes}

    @property
    def found_with_relationships(self) -> frozenset[str]:
        """Expected people among the nodes shown, or at the ends of the relationships shown."""
        ends = {name for hit in self.relationships for name in (hit.from_name, hit.to_name)}
        return self.found_by_nodes | self.question.expected & ends

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "question": self.question.question,
            "expected": sorted(self.question.expected),
            "found_by_node_search": sorted(self.found_by_nodes),
            "found_with_relationship_search": sorted(self.found_with_relationships),
            "nodes": [
                {"similarity": round(hit.similarity, 4), "label": hit.node.label, "name": hit.node.name}
                for hit in self.nodes
            ],
            "relationships": [
                {
                    "similarity": round(hit.similarity, 4),
                    "from_name": hit.from_name,
                    "relationship_type": hit.relationship_type,
                    "to_name": hit.to_name,
                    "description": hit.description,
                }
                for hit in self.relationships
            ],
            "embedding_ms": round(self.times.embedding, 1),
            "search_ms": round(self.times.search, 1),
        }


async def ask(retrieval: RetrievalService, question: Question, user_id: str) -> Answer:
    """Ask one question, embedded once.

    Raises:
        EmbeddingError: the question could not be embedded.
        StoreError: the database failed.
    """
    started = time.perf_counter()
    [vector] = await retrieval.embed_queries([question.question])
    embedded = time.perf_counter()
    nodes = await retrieval.node_vector_search(
        vector=vector, threshold=_NO_THRESHOLD, user_id=user_id, limit=FURTHER_NODES
    )
    searched_nodes = time.perf_counter()
    relationships = await retrieval.relationship_vector_search(
        vector=vector, threshold=_NO_THRESHOLD, user_id=user_id, limit=HITS
    )
    ended = time.perf_counter()
    return Answer(
        question=question,
        nodes=tuple(nodes[:HITS]),
        further_nodes=tuple(nodes[:FURTHER_NODES]),
        relationships=tuple(relationships),
        times=Times(
            *(1_000 * (b - a) for a, b in ((started, embedded), (embedded, searched_nodes), (searched_nodes, ended)))
        ),
    )


@dataclass(frozen=True)
class Totals:
    """Expected people of all questions, and how many of them were found."""

    expected: int
    by_nodes: int
    by_further_nodes: int
    with_relationships: int

    @classmethod
    def of(cls, answers: Iterable[Answer]) -> "Totals":
        """Count."""
        counts = [
            (
                len(answer.question.expected),
                len(answer.found_by_nodes),
                len(answer.found_by_further_nodes),
                len(answer.found_with_relationships),
            )
            for answer in answers
        ]
        return cls(*(sum(column) for column in zip(*counts, strict=True)))
