"""Expansion: from the relationships that match a query to those that share a node with them, hop by hop.

One statement a hop extends the best paths so far. At each node that a path leaves by, one relationship is chosen: the
more siblings it has, and the more similar these are to the query, the more the choice costs (the logarithm of a softmax
over them), so a hub is expensive. A path never leaves by a node that the query names: everything there is retrieved.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kgagent.errors import StatementTimeoutError
from kgagent.graph.records import RelationshipRecord
from kgagent.graph.statements import statement
from kgagent.graph.store import Row
from kgagent.models.hybrid import RetrieverName
from kgagent.models.when import OPEN_END
from kgagent.search import scoring
from kgagent.search.candidates import Candidate, key_of, read_relationship
from kgagent.search.query import QueryReading, TypeWords
from kgagent.search.scope import RelationshipFilter, SearchScope
from kgagent.search.scoring import Features
from kgagent.search.vector_targets import VectorTarget
from kgagent.turns import in_turns

DEFAULT_HOPS = 2
"""Hops of a search that does not say how many."""

BEAM_WIDTH, REACHED, PATHS_PER_HOP = 16, 150, 60
"""Paths of a query that a hop extends, extensions that the database returns, and those that are scored further."""

HUB_LIMIT = 200
"""Relationships that are read at one node in one hop; bounds memory and time at a hub."""

TEMPERATURE, OVERLAP_WEIGHT = 0.05, 0.5
"""Temperature of the softmax, in cosine; and share of a relationship's similarity with its predecessor, beyond that of
its siblings, that is subtracted from its similarity with the query: the predecessor's words are no news."""

NO_FEATURES, NO_KEYS = Features(), frozenset[str]()
NOTHING: Mapping[str, tuple[RetrieverName, ...]] = {}


@dataclass(slots=True, eq=False)
class Path:
    """Relationships, each joined to the one before.

    Attributes:
        records: from one that a retriever returned to the last one.
        keys: of the candidates of these relationships.
        nodes: keys of their nodes.
        similarity: plain cosine with the query of the first one.
        doubts: cost of the choice of each one after the first, in cosine.
        exits: keys of the nodes that it may be extended from.
        features: what the last one scores by.
        score: of the last one.
    """

    records: tuple[RelationshipRecord, ...]
    keys: tuple[str, ...]
    nodes: frozenset[str]
    similarity: float
    doubts: tuple[float, ...] = ()
    exits: frozenset[str] = frozenset()
    features: Features = NO_FEATURES
    score: float = 0.0

    @property
    def last(self) -> RelationshipRecord:
        """The relationship that it leads to."""
        return self.records[-1]


class Expansion:
    """The paths of one query, and the best one through each relationship.

    Attributes:
        best: the best path through each relationship, by the key of its candidate, with its position on the path.
    """

    def __init__(
        self, reading: QueryReading, texts: Mapping[str, float], matches: Sequence[Candidate], weights: Features
    ) -> None:
        """Start with what was retrieved.

        Args:
            reading: what the query says.
            texts: relative full-text score of relationships, by candidate key.
            matches: relationships that were retrieved, each once.
            weights: weight of each feature.
        """
        self._reading, self._values, self._texts, self._weights = reading, reading.values, texts, weights
        self._type_words = TypeWords(reading.words)
        self.similarities = {match.key: match.similarity for match in matches}
        self._notes = {match.key: match.notes for match in matches}
        starts = [
            Path((record,), (match.key,), ends(record), match.best_similarity, exits=self._exits(record, NO_KEYS))
            for match in matches
            if isinstance(record := match.record, RelationshipRecord)
        ]
        self._paths: dict[str, Path] = {}
        self._every: list[Path] = []
        self._add(starts)

    @property
    def frontier(self) -> list[Path]:
        """The best of the paths that the last hop found, to be extended."""
        open_paths = [path for path in self._new if path.exits]
        return sorted(open_paths, key=lambda path: -path.score)[:BEAM_WIDTH]

    def extend(self, frontier: Sequence[Path], reached: Sequence[Row]) -> None:
        """Add what a hop reached from the paths of the frontier."""
        longer = []
        for row in reached:
            if not row["relationship"]:
                continue
            record, lead = read_relationship(row["relationship"]), frontier[row["lead"]]
            key = key_of(record)
            self.similarities.setdefault(key, row["similarity"])
            longer.append(
                Path(
                    records=(*lead.records, record),
                    keys=(*lead.keys, key),
                    nodes=lead.nodes | ends(record),
                    similarity=lead.similarity,
                    doubts=(*lead.doubts, row["doubt"]),
                    exits=self._exits(record, lead.nodes),
                )
            )
        self._add(longer)

    def candidates(self, found_by: Mapping[str, tuple[RetrieverName, ...]] = NOTHING) -> list[Candidate]:
        """Each relationship with the score of the best path through it, best first; of one path, the best match first.

        Args:
            found_by: the retrievers that returned each relationship, by key; expansion found the others.
        """
        best: dict[str, tuple[float, int, Path]] = {}
        for path in self._every:
            for position, key in enumerate(path.keys):
                if key not in best or (path.score, -position) > (best[key][0], -best[key][1]):
                    best[key] = (path.score, position, path)
        ordered = sorted(best.items(), key=self._order)
        return [
            Candidate(
                key=key,
                score=score,
                record=path.records[position],
                similarity=self.similarities.get(key),
                text_score=self._texts.get(key),
                path=path.records[:position],
                found_by=found_by.get(key, ("expansion",)),
                features=path.features,
                notes=self._notes.get(key, {}),
            )
            for key, (score, position, path) in ordered
        ]

    def _order(self, item: tuple[str, tuple[float, int, Path]]) -> tuple[float, float, int, str]:
        """Best first; of equal ones, what has no end, and then what ended last."""
        key, (score, position, path) = item
        latest = path.records[position].properties.get("when_latest", OPEN_END)
        return -score, -self._paths[key].score, -latest, key

    def _add(self, paths: Sequence[Path]) -> None:
        """Keep the best path to each relationship, if it is better than a known one."""
        words = self._type_words.all
        for path in paths:
            self._type_words.of(path.last.text("relationship_type"))
        if self._type_words.all > words:
            for path in self._every:
                self._score(path)
        best: dict[str, Path] = {}
        for path in paths:
            self._score(path)
            key = path.keys[-1]
            if key not in best or path.score > best[key].score:
                best[key] = path
        is_start = not self._paths
        kept = sorted(best.items(), key=lambda item: -item[1].score)[: None if is_start else PATHS_PER_HOP]
        self._every += [path for _, path in kept]
        better = {key: path for key, path in kept if key not in self._paths or path.score > self._paths[key].score}
        self._paths |= better
        self._new = list(better.values())

    def _score(self, path: Path) -> None:
        path.features = self._features(path)
        path.score = scoring.score(path.features, self._weights)

    def _features(self, path: Path) -> Features:
        words = [self._type_words.of(record.text("relationship_type")) for record in path.records]
        matched = frozenset[str]().union(*words) if words[-1] else frozenset[str]()
        return Features(
            similarity=scoring.similarity_feature(path.similarity),
            clarity=scoring.clarity(path.doubts),
            nearness=scoring.nearness(len(path.records) - 1),
            named=scoring.named(self._values.get(key, 0.0) for key in path.nodes),
            level=1.0 if self._reading.says_level_of(path.last) else 0.0,
            type_words=scoring.share(len(matched), len(self._type_words.all)),
        )

    def _exits(self, record: RelationshipRecord, visited: frozenset[str]) -> frozenset[str]:
        return ends(record) - visited - self._values.keys()


async def expand(
    scope: SearchScope,
    target: VectorTarget,
    types: RelationshipFilter,
    vectors: Sequence[Sequence[float]],
    expansions: Sequence[Expansion],
    *,
    hops: int,
    deadline: float,
) -> bool:
    """Expand the paths of several queries, with one statement for each hop.

    Args:
        scope: whose relationships.
        target: the relationships that were searched.
        types: which of them to keep.
        vectors: vector of each query.
        expansions: of each query; they are extended.
        hops: maximum number of hops.
        deadline: when expansion ends, on the clock of `time.monotonic`.

    Returns:
        Whether it was complete at the deadline.

    Raises:
        StoreError: the database failed.
    """
    for _ in range(hops):
        frontiers = [expansion.frontier for expansion in expansions]
        if not any(frontiers):
            break
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        try:
            rows = await _hop(scope, target, types, vectors, frontiers, timeout=left)
        except StatementTimeoutError:
            return False
        reached = {row["query"]: row["reached"] for row in rows}
        extensions = [
            (expansion, frontier, reached.get(query, ()))
            for query, (expansion, frontier) in enumerate(zip(expansions, frontiers, strict=True))
        ]
        await in_turns(lambda extension: extension[0].extend(*extension[1:]), extensions)
    return True


async def _hop(
    scope: SearchScope,
    target: VectorTarget,
    types: RelationshipFilter,
    vectors: Sequence[Sequence[float]],
    frontiers: Sequence[Sequence[Path]],
    *,
    timeout: float,
) -> list[Row]:
    parameters = {
        **types.parameters,
        "vectors": [scope.store.vector(vector) for vector in vectors],
        "frontier": [
            {
                "query": query,
                "position": position,
                "element_id": path.last.element_id,
                "score": path.score,
                "path": [record.element_id for record in path.records[:-1]],
                "through": sorted(path.exits),
            }
            for query, frontier in enumerate(frontiers)
            for position, path in enumerate(frontier)
        ],
        "hub_limit": HUB_LIMIT,
        "limit": REACHED,
        "temperature": TEMPERATURE,
        "overlap_weight": OVERLAP_WEIGHT,
        "doubt_weight": scoring.share_of_weight("clarity"),
    }
    return await scope.read(statement("expand_hop", **target.places), parameters, timeout=timeout)


def ends(record: RelationshipRecord) -> frozenset[str]:
    """Keys of both nodes of a relationship."""
    return frozenset((record.from_entity_key, record.to_entity_key))
