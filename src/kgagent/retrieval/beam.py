"""From the relationships that match best to those that share a node with them, level by level: a beam search."""

from collections.abc import Sequence
from dataclasses import dataclass

from kgagent.embedding.base import Embedder
from kgagent.graph.records import RelationshipRecord
from kgagent.graph.relationships import RelationshipRepository
from kgagent.graph.statements import statement
from kgagent.models import RelationshipSearchResult
from kgagent.ontology import Ontology
from kgagent.retrieval.vector_search import Hit
from kgagent.retrieval.vector_targets import found_relationship

BEAM_WIDTH = 8
"""Relationships of a level from which the next level goes on."""

KEPT_OF_A_LEVEL = 50
HUB_LIMIT = 500
"""Relationships that are read at one node of one step; memory and time stay bounded at a hub."""

PATH_WEIGHT = 0.8
"""How much the path that leads to a relationship counts, against the relationship itself."""

OVERLAP_WEIGHT = 0.5
"""How much of what a relationship shares with the one before it is taken from its own similarity."""


@dataclass(frozen=True)
class BeamScope:
    """How far a beam search goes.

    Attributes:
        user_id: whose graph.
        hops: levels; 0 keeps the hits as they are.
        limit: relationships at the most.
        relationship_types: free types ("mentor") to keep to; None keeps all.
    """

    user_id: str
    hops: int
    limit: int
    relationship_types: Sequence[str] | None = None


@dataclass(frozen=True)
class Step:
    """A relationship that was reached.

    Attributes:
        record: the relationship.
        similarity: its own plain cosine with the query.
        score: that of the path that led to it, blended with its own; equal to `similarity` at the start.
        path: the relationships that led to it, the first of them found by the query itself.
    """

    record: RelationshipRecord
    similarity: float
    score: float
    path: tuple[RelationshipRecord, ...] = ()

    def shown(self, ontology: Ontology) -> RelationshipSearchResult:
        """As a search shows it."""
        return self.record.matched(ontology, self.similarity, score=self.score, path=self.path)


class BeamSearch:
    """Expands what a vector search found, over stored embeddings and inside the database."""

    def __init__(self, relationships: RelationshipRepository, embedder: Embedder, *, timeout: float) -> None:
        self._relationships = relationships
        self._embedder = embedder
        self._timeout = timeout

    async def expand(self, hits: Sequence[Hit], vector: Sequence[float], scope: BeamScope) -> list[Step]:
        """Go on from hits, one round trip a level.

        Args:
            hits: relationships that the query found, best first.
            vector: the query, shape (dimensions,).
            scope: whose graph, and how far.

        Returns:
            Hits and what was reached from them, best score first.

        Raises:
            StoreError: the database failed.
        """
        found = [
            Step(hit.record, hit.similarity, hit.similarity)
            for hit in hits
            if isinstance(hit.record, RelationshipRecord)
        ]
        best = {step.record.element_id: step for step in found}
        frontier = found[:BEAM_WIDTH]
        for _ in range(scope.hops):
            if not frontier:
                break
            reached = await self._level(frontier, vector, scope)
            better = [step for step in reached if _improves(step, best.get(step.record.element_id))]
            best.update((step.record.element_id, step) for step in better)
            frontier = better[:BEAM_WIDTH]
        # Sorting is stable: what scores the same stays in the order in which it was found.
        return sorted(best.values(), key=lambda step: -step.score)[: scope.limit]

    async def _level(self, frontier: Sequence[Step], vector: Sequence[float], scope: BeamScope) -> list[Step]:
        leads = {step.record.element_id: step for step in frontier}
        rows = await self._relationships.store.read(
            statement("expand_beam", types=self._relationships.names["types"]),
            {
                "user_id": scope.user_id,
                "relationship_types": None if scope.relationship_types is None else list(scope.relationship_types),
                "vector": self._relationships.store.vector(vector),
                "dimensions": self._embedder.dimensions,
                "model": self._embedder.model,
                "frontier": [
                    {
                        "element_id": step.record.element_id,
                        "score": step.score,
                        "path": [record.element_id for record in step.path],
                    }
                    for step in frontier
                ],
                "hub_limit": HUB_LIMIT,
                "limit": KEPT_OF_A_LEVEL,
                "path_weight": PATH_WEIGHT,
                "overlap_weight": OVERLAP_WEIGHT,
            },
            timeout=self._timeout,
        )
        return [
            Step(
                found_relationship(row["relationship"]),
                row["similarity"],
                row["score"],
                (*leads[row["lead"]].path, leads[row["lead"]].record),
            )
            for row in rows
        ]


def _improves(step: Step, known: Step | None) -> bool:
    return known is None or step.score > known.score
