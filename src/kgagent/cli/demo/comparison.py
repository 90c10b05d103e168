"""Compares what node search and relationship search find for a question."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from kgagent.cli.demo.sample import Question
from kgagent.models import NodeSearchResult, RelationshipSearchResult
from kgagent.retrieval import RetrievalService

LIMIT = 5
"""Number of nodes, and of relationships, that are shown for a question."""

WIDE_LIMIT = 20
"""Number of nodes in which expected people are also counted, so that the comparison does not depend on `LIMIT`."""

_NO_THRESHOLD = -1.0


@dataclass(frozen=True)
class Timings:
    """Durations in milliseconds."""

    embedding: float
    nodes: float
    relationships: float

    @property
    def search(self) -> float:
        """Duration of both searches."""
        return self.nodes + self.relationships


@dataclass(frozen=True)
class Comparison:
    """The results of both searches for a question, best first."""

    question: Question
    nodes: tuple[NodeSearchResult, ...]
    more_nodes: tuple[NodeSearchResult, ...]
    relationships: tuple[RelationshipSearchResult, ...]
    timings: Timings

    @property
    def found_by_nodes(self) -> frozenset[str]:
        """Expected people among the first `LIMIT` nodes."""
        return self.question.expected & {result.node.name for result in self.nodes}

    @property
    def found_by_more_nodes(self) -> frozenset[str]:
        """Expected people among the first `WIDE_LIMIT` nodes."""
        return self.question.expected & {result.node.name for result in self.more_nodes}

    @property
    def found_with_relationships(self) -> frozenset[str]:
        """Expected people among the first `LIMIT` nodes or the ends of the first `LIMIT` relationships."""
        ends = {name for result in self.relationships for name in (result.from_name, result.to_name)}
        return self.found_by_nodes | self.question.expected & ends

    def to_dict(self) -> dict[str, Any]:
        """Convert to JSON data."""
        return {
            "question": self.question.question,
            "expected": sorted(self.question.expected),
            "found_by_node_search": sorted(self.found_by_nodes),
            "found_with_relationship_search": sorted(self.found_with_relationships),
            "nodes": [
                {"similarity": round(result.similarity, 4), "label": result.node.label, "name": result.node.name}
                for result in self.nodes
            ],
            "relationships": [
                {
                    "similarity": round(result.similarity, 4),
                    "from_name": result.from_name,
                    "relationship_type": result.relationship_type,
                    "to_name": result.to_name,
                    "description": result.description,
                }
                for result in self.relationships
            ],
            "embedding_ms": round(self.timings.embedding, 1),
            "search_ms": round(self.timings.search, 1),
        }


async def compare_searches(retrieval: RetrievalService, question: Question, *, user_id: str) -> Comparison:
    """Embed a question once and run both searches.

    Raises:
        EmbeddingError: the question could not be embedded.
        StoreError: the database failed.
    """
    started = time.perf_counter()
    [vector] = await retrieval.embed_queries([question.question])
    embedded = time.perf_counter()
    nodes = await retrieval.node_vector_search(
        vector=vector, threshold=_NO_THRESHOLD, user_id=user_id, limit=WIDE_LIMIT
    )
    searched_nodes = time.perf_counter()
    relationships = await retrieval.relationship_vector_search(
        vector=vector, threshold=_NO_THRESHOLD, user_id=user_id, limit=LIMIT
    )
    ended = time.perf_counter()
    return Comparison(
        question=question,
        nodes=tuple(nodes[:LIMIT]),
        more_nodes=tuple(nodes[:WIDE_LIMIT]),
        relationships=tuple(relationships),
        timings=Timings(
            *(1_000 * (b - a) for a, b in ((started, embedded), (embedded, searched_nodes), (searched_nodes, ended)))
        ),
    )


@dataclass(frozen=True)
class FoundTotals:
    """Expected people of all questions, and how many of them were found."""

    expected: int
    by_nodes: int
    by_more_nodes: int
    with_relationships: int

    @classmethod
    def of(cls, comparisons: Iterable[Comparison]) -> "FoundTotals":
        """Add up the counts of all questions."""
        counts = [
            (
                len(comparison.question.expected),
                len(comparison.found_by_nodes),
                len(comparison.found_by_more_nodes),
                len(comparison.found_with_relationships),
            )
            for comparison in comparisons
        ]
        return cls(*(sum(column) for column in zip(*counts, strict=True)))
