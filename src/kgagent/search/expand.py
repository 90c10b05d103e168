"""Expansion: from the best statements to the relationships that share a node with theirs, hop by
hop.

One statement a hop extends the best paths so far. At each node that a path leaves by, one
relationship is chosen: the more siblings it has, and the more similar these are to the query, the
more the choice costs (the logarithm of a softmax over them), so a hub is expensive. A path never
leaves by a node that the query names: everything there is retrieved.
"""

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Self

from kgagent.errors import StatementTimeoutError
from kgagent.graph.records import RelationshipRecord
from kgagent.graph.statements import statement
from kgagent.graph.store import Row
from kgagent.search.candidates import key_of, read_relationship
from kgagent.search.features import FeatureReader, PathFacts, nodes_of
from kgagent.search.scope import EVERY, RelationshipFilter, SearchScope
from kgagent.search.score import NO_FEATURES, Features, score
from kgagent.search.vectors import VectorTarget

DEFAULT_HOPS = 2
"""Hops of a search that does not say how many."""

AT_EACH_NAME, BEAM_WIDTH = 8, 24
"""Paths that a hop extends at each named node and at none, and in all."""

REACHED = 60
"""Extensions that the database returns for a query in one hop."""

SIBLINGS = 200
"""Relationships that are read at one node in one hop; bounds memory and time at a hub."""

TEMPERATURE, OVERLAP_WEIGHT = 0.05, 0.5
"""Temperature of the softmax, in cosine; and share of a relationship's similarity with its
predecessor, beyond that of its siblings, that is subtracted from its similarity with the query: the
predecessor's words are no news."""


@dataclass(frozen=True, slots=True)
class Path:
    """Relationships, each joined to the one before.

    Attributes:
        facts: what its features are made of.
        keys: of the candidates of its relationships.
        before: keys of the nodes of all relationships but the last.
        nodes: keys of its nodes.
        features: of the path.
        score: of the path.
    """

    facts: PathFacts
    keys: tuple[str, ...]
    before: frozenset[str]
    nodes: frozenset[str]
    features: Features = NO_FEATURES
    score: float = 0.0

    @property
    def records(self) -> Sequence[RelationshipRecord]:
        """Its relationships."""
        return self.facts.records


@dataclass(frozen=True)
class Expansion:
    """The paths of one query.

    Attributes:
        reader: computes features.
        weights: of the features.
        unexplored: the paths that may be extended; at first what was retrieved, paths of one
            relationship.
        known: the best score of each relationship so far, by the key of its candidate.
        through: the best path of two relationships or more through each relationship, likewise.
        past: of each relationship that paths reached from a named node: 1 if all of them have a
            past relationship, else 0; likewise.
    """

    reader: FeatureReader
    weights: Features
    unexplored: Sequence[Path] = ()
    known: Mapping[str, float] = field(default_factory=dict)
    through: Mapping[str, Path] = field(default_factory=dict)
    past: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def begun(cls, reader: FeatureReader, weights: Features, starts: Iterable[Path]) -> Self:
        """Begin with what was retrieved."""
        paths = list(starts)
        return cls(reader, weights, paths, {path.keys[-1]: path.score for path in paths})

    def frontier(self) -> list[Path]:
        """The best open paths: a few at each named node, and at none, so that no name takes the
        place of another.
        """
        named, chosen = self.reader.query.named, list[Path]()
        taken: Counter[str] = Counter()
        for path in sorted(self.unexplored, key=lambda path: -path.score):
            at = [node for node in path.nodes if node in named] or [""]
            if self.exits(path) and min(taken[node] for node in at) < AT_EACH_NAME:
                taken.update(at)
                chosen.append(path)
                if len(chosen) == BEAM_WIDTH:
                    break
        return chosen

    def exits(self, path: Path) -> list[str]:
        """Keys of the nodes that a path may leave by."""
        closed = path.before | self.reader.query.named.keys()
        return sorted(nodes_of(path.records[-1]) - closed)

    def extended(
        self, frontier: Sequence[Path], reached: Iterable[Row], kept: RelationshipFilter = EVERY
    ) -> Self:
        """Add what a hop reached from the paths of the frontier; those that are better than what is
        known may be extended further.
        """
        best: dict[str, Path] = {}
        past, named = dict(self.past), self.reader.query.named.keys()
        for row in reached:
            found = row["relationship"]
            record = kept.on_day(read_relationship(found)) if found else None
            if record is None:
                continue
            path = self._extended(frontier[row["lead"]], record, row["doubt"])
            key = path.keys[-1]
            if key not in best or path.score > best[key].score:
                best[key] = path
            if nodes_of(path.records[0]) & named and not nodes_of(record) & named:
                past[key] = min(path.features.past, past.get(key, 1.0))
        through = dict(self.through)
        for path in best.values():
            for key in path.keys:
                if key not in through or path.score > through[key].score:
                    through[key] = path
        better = [
            path for path in best.values() if path.score > self.known.get(path.keys[-1], -1.0)
        ]
        known = {**self.known, **{path.keys[-1]: path.score for path in better}}
        return replace(self, unexplored=better, known=known, through=through, past=past)

    def _extended(self, lead: Path, record: RelationshipRecord, doubt: float) -> Path:
        facts = PathFacts(
            (*lead.records, record),
            lead.facts.similarity,
            lead.facts.words | self.reader.words_of_record(record),
            lead.facts.doubt + doubt,
        )
        features = self.reader.of_path(facts)
        keys, nodes = (*lead.keys, key_of(record)), lead.nodes | nodes_of(record)
        return Path(facts, keys, lead.nodes, nodes, features, score(features, self.weights))


async def expand(
    scope: SearchScope,
    target: VectorTarget,
    kept: RelationshipFilter,
    expansions: list[Expansion],
    *,
    hops: int,
    deadline: float,
) -> bool:
    """Expand the paths of several queries, with one statement for each hop.

    Args:
        scope: whose relationships.
        target: the relationships that are searched.
        kept: which of them to keep.
        expansions: of each query; each hop replaces them.
        hops: maximum number of hops.
        deadline: when expansion ends, on the clock of `time.monotonic`.

    Returns:
        Whether it was complete at the deadline.

    Raises:
        StoreError: the database failed.
    """
    for _ in range(hops):
        frontiers = [expansion.frontier() for expansion in expansions]
        if not any(frontiers):
            break
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        parameters = _parameters(scope, kept, expansions, frontiers)
        try:
            expansions[:] = await scope.read_as(
                partial(_extended, expansions=list(expansions), frontiers=frontiers, kept=kept),
                statement("expand_hop", **target.places),
                parameters,
                timeout=left,
            )
        except StatementTimeoutError:
            return False
    return True


def _extended(
    rows: list[Row],
    *,
    expansions: Sequence[Expansion],
    frontiers: Sequence[Sequence[Path]],
    kept: RelationshipFilter,
) -> list[Expansion]:
    reached = {row["query"]: row["reached"] for row in rows}
    return [
        expansion.extended(frontier, reached.get(query, ()), kept)
        for query, (expansion, frontier) in enumerate(zip(expansions, frontiers, strict=True))
    ]


def _parameters(
    scope: SearchScope,
    kept: RelationshipFilter,
    expansions: Sequence[Expansion],
    frontiers: Sequence[Sequence[Path]],
) -> Mapping[str, object]:
    return {
        **kept.parameters,
        "vectors": [
            scope.store.vector(expansion.reader.query.embedded.vector) for expansion in expansions
        ],
        "frontier": [
            {
                "query": query,
                "position": position,
                "element_id": path.records[-1].element_id,
                "score": path.score,
                "path": [record.element_id for record in path.records[:-1]],
                "through": expansions[query].exits(path),
            }
            for query, frontier in enumerate(frontiers)
            for position, path in enumerate(frontier)
        ],
        "hub_limit": SIBLINGS,
        "limit": REACHED,
        "temperature": TEMPERATURE,
        "overlap_weight": OVERLAP_WEIGHT,
        "doubt_weight": -expansions[0].weights.doubt,
        "past_weight": -expansions[0].weights.past,
    }
