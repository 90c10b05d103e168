"""From the relationships that match best to those that share a node with them, level by level: a beam search.

It follows the walk that a reader of the question would most probably take. A start is as good as its similarity. At
each node one relationship is chosen: the more like the question the others at that node are, and the more of them there
are, the less sure the choice and the more it costs (the logarithm of a softmax over the relationships of the node). A
hub thus costs much by itself. Costs are in units of plain cosine, so that what was reached and what was found by itself
rank together.

A node whose name stands in the question is where a walk starts: hits at such nodes come before those at none, and the
walk leaves them by the other end.
"""

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from kgagent.embedding.base import Embedder
from kgagent.errors import StatementTimeoutError
from kgagent.graph.records import RelationshipRecord
from kgagent.graph.relationships import RelationshipRepository
from kgagent.graph.statements import Fragment, statement
from kgagent.models import RelationshipSearchResult
from kgagent.ontology import Ontology
from kgagent.retrieval.named import named_in
from kgagent.retrieval.nearest import Hit
from kgagent.retrieval.vector_targets import IN_FULL, found_relationship

START_POOL = 50
"""Hits that a search with expansion begins with at the least; names of the question are looked for among their ends.

An index that is asked for more also misses fewer of the best, and a start that is missed loses all that lies behind it.
"""

BEAM_WIDTH = 8
"""Relationships of a level from which the next level goes on."""

KEPT_OF_A_LEVEL = 50
HUB_LIMIT = 200
"""Relationships that are read at one node of one step; memory and time stay bounded at a hub."""

DEGREE_LIMIT = 50 * HUB_LIMIT
"""Relationships that are counted at a node; one with more is as unsure a choice as one with so many."""

UNNAMED_COST = 0.09
"""What a hit at no node of the question's loses, where the question names some."""

STEP_COST = 0.01
CHOICE_TEMPERATURE = 0.05
CHOICE_WEIGHT = 0.6
"""Cosine that a choice costs is weight * temperature * -ln(its probability): 0.02 for one of two that are as good."""

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
        threshold: least plain cosine with the query of a relationship that is told; -1 tells all that was reached.
        told: what is read of a relationship that is reached.
    """

    user_id: str
    hops: int
    limit: int
    relationship_types: Sequence[str] | None = None
    threshold: float = -1.0
    told: Fragment = IN_FULL


@dataclass(frozen=True)
class Step:
    """A relationship that was reached.

    Attributes:
        record: the relationship.
        similarity: its own plain cosine with the query.
        score: what the search ranks by, in units of cosine; equal to `similarity` at a start, but for names.
        path: the relationships that led to it, the first of them found by the query itself.
        through: keys of the ends from which the search goes on.
    """

    record: RelationshipRecord
    similarity: float
    score: float
    path: tuple[RelationshipRecord, ...] = ()
    through: frozenset[str] = frozenset()

    def to_model(self, ontology: Ontology) -> RelationshipSearchResult:
        """As a search shows it."""
        return self.record.matched(ontology, self.similarity, score=self.score, path=self.path)


class BeamSearch:
    """Expands what a vector search found, over stored embeddings and inside the database."""

    def __init__(self, relationships: RelationshipRepository, embedder: Embedder, *, timeout: float) -> None:
        self._relationships = relationships
        self._embedder = embedder
        self._timeout = timeout

    async def expand(
        self,
        hits: Sequence[Hit],
        vector: Sequence[float],
        scope: BeamScope,
        *,
        text: str = "",
        until: float | None = None,
    ) -> list[Step]:
        """Go on from hits, one round trip a level, for no longer than one search may take.

        Args:
            hits: relationships that the query found, best first.
            vector: the query, shape (dimensions,).
            scope: whose graph, and how far.
            text: the query in words, whose names say where to begin; empty where only the vector is known.
            until: when the time is up, on the clock of `time.monotonic`; None gives it as long as any search.

        Returns:
            Hits and what was reached from them until the time was up, best score first.

        Raises:
            StoreError: the database failed.
        """
        found = [
            Step(hit.record, hit.similarity, hit.similarity)
            for hit in hits
            if isinstance(hit.record, RelationshipRecord)
        ]
        if not scope.hops:
            return found[: scope.limit]
        found = _starts(found, text)
        best = {step.record.element_id: step for step in found}
        frontier = found[:BEAM_WIDTH]
        end = time.monotonic() + self._timeout if until is None else until
        for _ in range(scope.hops):
            left = end - time.monotonic()
            if not frontier or left <= 0:
                break
            try:
                reached = await self._level(frontier, vector, scope, left)
            except StatementTimeoutError:
                break
            better = [step for step in reached if _improves(step, best.get(step.record.element_id))]
            best.update((step.record.element_id, step) for step in better)
            frontier = better[:BEAM_WIDTH]
        told = [step for step in best.values() if not step.path or step.similarity >= scope.threshold]
        # Sorting is stable: what scores the same stays in the order in which it was found.
        return sorted(told, key=lambda step: -step.score)[: scope.limit]

    async def _level(
        self, frontier: Sequence[Step], vector: Sequence[float], scope: BeamScope, timeout: float
    ) -> list[Step]:
        leads = {step.record.element_id: step for step in frontier}
        [row] = await self._relationships.store.read(
            statement("expand_beam", types=self._relationships.names["types"], relationship=scope.told),
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
                        "through": sorted(step.through),
                    }
                    for step in frontier
                ],
                "hub_limit": HUB_LIMIT,
                "degree_limit": DEGREE_LIMIT,
                "limit": max(KEPT_OF_A_LEVEL, scope.limit),
                "step_cost": STEP_COST,
                "choice_weight": CHOICE_WEIGHT,
                "choice_temperature": CHOICE_TEMPERATURE,
                "overlap_weight": OVERLAP_WEIGHT,
            },
            timeout=timeout,
        )
        return [
            _reached(found_relationship(one["relationship"]), one["similarity"], one["score"], leads[one["lead"]])
            for one in row["reached"]
        ]


def _starts(found: Sequence[Step], text: str) -> list[Step]:
    """Hits as starts, best first: what the question names counts more than a little similarity."""
    names = {key: name for step in found for key, name in _ends(step.record).items()}
    said = named_in(text, set(names.values())) if text else set()
    named = {key for key, name in names.items() if name in said}
    nearest = {key: max(s.similarity for s in found if key in _ends(s.record)) for key in named}
    top = max((step.similarity for step in found), default=0.0)
    starts = []
    for step in found:
        keys = _ends(step.record).keys()
        at = keys & named
        if at:
            # A question may name several things: the best hit at each is a start nearly as good as the best of all.
            score = step.similarity + (top - min(nearest[key] for key in at)) / 2
        else:
            score = step.similarity - (UNNAMED_COST if named else 0.0)
        starts.append(replace(step, score=score, through=frozenset(keys - named or keys)))
    return sorted(starts, key=lambda step: -step.score)


def _reached(record: RelationshipRecord, similarity: float, score: float, lead: Step) -> Step:
    path = (*lead.path, lead.record)
    visited: Collection[str] = {key for earlier in path for key in _ends(earlier)}
    return Step(record, similarity, score, path, frozenset(_ends(record).keys() - visited))


def _ends(record: RelationshipRecord) -> dict[str, str]:
    return {record.from_entity_key: record.from_name, record.to_entity_key: record.to_name}


def _improves(step: Step, known: Step | None) -> bool:
    return known is None or step.score > known.score
