"""Runs the plans of a query: matches paths, scores them, and reads the best."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kgagent.bounded_map import bounded_map
from kgagent.embedding.base import Embedder
from kgagent.errors import InputError, StatementTimeoutError, StatementValueError
from kgagent.models.constraint import ORDER_OPERATORS, TEXT_OPERATORS, Constraint, ConstraintType
from kgagent.models.pattern_query import RankingStrategy
from kgagent.patterns.compiler import Compiler
from kgagent.patterns.narrowing import QUICK_SECONDS, matched_paths
from kgagent.patterns.path_reader import PathReader, ReadPaths
from kgagent.patterns.path_scores import PathMatch, ScoredPath, path_metrics
from kgagent.patterns.plans import EntryPoint, QueryPlan
from kgagent.patterns.predicates import is_inside_json, matching_key, needs_matching
from kgagent.patterns.ranking import PathMetrics, PathRanking
from kgagent.patterns.reads import UserReads
from kgagent.patterns.step_sequences import step_sequences
from kgagent.patterns.stored_values import StoredValues
from kgagent.search.scope import RelationshipFilter

_COMPARISONS = frozenset({*ORDER_OPERATORS, *TEXT_OPERATORS, ConstraintType.REGEX_MATCH})
"""Constraints that fail the statement if they meet a value of another type."""

CONCURRENT_STATEMENTS = 4
"""Statements of one query that run concurrently: with more, each would use up its time waiting for
the others.
"""

MATCHING_SHARE = 0.8
"""Share of the time left that matching may take, so that time remains to score and read the
paths.
"""

SCORING_SHARE = 0.7
SCORING_SECONDS = 1.5
"""Most seconds for scoring. Reading the contributions of thousands of elements can take longer than
matching.
"""


@dataclass(frozen=True)
class RunResult:
    """What plans matched.

    Attributes:
        read: the paths that are returned.
        explored: number of paths that were examined, by pattern.
        truncated: whether a plan has more paths than were examined.
        ranking: how the paths are ranked: by length if scoring them otherwise took too long.
    """

    read: ReadPaths
    explored: Mapping[str, int]
    truncated: bool
    ranking: PathRanking


class PatternRunner:
    """Runs the plans of a query for one user, within the time limit of `reads`.

    Args:
        reads: runs the statements.
        embedder: says which stored embeddings can be compared with the query.
        reader: makes models of paths.
        kept: the time asked for.
        paths: maximum number of returned paths.
        explored: maximum number of paths that one statement examines.
        quick_seconds: time that a statement over several hops may take before it is narrowed; 0
            narrows at once.
    """

    def __init__(
        self,
        reads: UserReads,
        embedder: Embedder,
        reader: PathReader,
        *,
        kept: RelationshipFilter,
        paths: int,
        explored: int,
        quick_seconds: float = QUICK_SECONDS,
    ) -> None:
        self._reads = reads
        self._embedder = embedder
        self._reader = reader
        self._kept = kept
        self._paths = paths
        self._explored = explored
        self._quick_seconds = quick_seconds

    async def compiler(
        self, plans: Sequence[QueryPlan], entry_points: Sequence[EntryPoint]
    ) -> Compiler:
        """The compiler of the plans, with the stored values that satisfy the constraints that
        Cypher cannot evaluate.

        Args:
            plans: the plans.
            entry_points: nodes at which paths start or end; empty for any.

        Raises:
            InputError: a regular expression is invalid or a comparison is impossible.
            StatementTimeoutError: time ran out.
            StoreError: the database failed otherwise.
        """
        then = await self._reader.then(self._reads)
        stored_values = StoredValues(self._reads, then)
        wanted = {
            (matching_key(constraint), scope): (constraint, scope)
            for constraint, scope in constraints_of(plans)
            if needs_matching(constraint)
        }
        values = await bounded_map(
            lambda each: stored_values.matching(*each), wanted.values(), limit=CONCURRENT_STATEMENTS
        )
        matching: dict[str, list[Any]] = {}
        for (key, _), stored in zip(wanted, values, strict=True):
            matching.setdefault(key, []).extend(stored)
        return Compiler(self._reads.user_id, entry_points, matching, self._kept, then)

    async def run(
        self,
        plans: Sequence[QueryPlan],
        compiler: Compiler,
        ranking: PathRanking,
        vector: Sequence[float] | None,
    ) -> RunResult:
        """Run all plans, and keep the best paths of all.

        Args:
            plans: what is matched.
            compiler: compiles the statements.
            ranking: how paths are ranked.
            vector: embedding of the query, shape (dimensions,); None omits the semantic component.

        Raises:
            InputError: a constraint compares values that cannot be compared.
            StatementTimeoutError: time ran out.
            StoreError: the database failed otherwise.
        """
        try:
            matched, truncated = await self._match(plans, compiler)
        except StatementValueError as error:
            raise await self._type_mismatch(plans) or InputError(
                # The server's message may contain a value of another user.
                "A constraint cannot be evaluated on the stored values: compare dates and times "
                "with text of the same "
                "kind, such as 2026-01-02, 2026-01-02T10:00 or 10:00; durations and points cannot "
                "be compared"
            ) from error
        scoring = self._reads.part(SCORING_SHARE, SCORING_SECONDS)
        distinct = {path for paths in matched for path in paths}
        try:
            metrics = await path_metrics(scoring, self._embedder, ranking, vector, distinct)
        except StatementTimeoutError:
            ranking = PathRanking(RankingStrategy.PATH_LENGTH)
            metrics = await path_metrics(scoring, self._embedder, ranking, None, distinct)
        best = _best(plans, matched, metrics, ranking)[: self._paths]
        explored: Counter[str] = Counter()
        for plan, paths in zip(plans, matched, strict=True):
            explored[plan.pattern_id] += len(paths)
        return RunResult(
            await self._reader.paths(self._reads, best, ranking), explored, truncated, ranking
        )

    async def _match(
        self, plans: Sequence[QueryPlan], compiler: Compiler
    ) -> tuple[list[list[PathMatch]], bool]:
        """The paths of each plan, and whether any plan has more of them than are examined."""
        explored = self._explored
        reads = self._reads.part(MATCHING_SHARE)
        matched = await bounded_map(
            lambda plan: matched_paths(
                reads, compiler, plan, explored + 1, quick_seconds=self._quick_seconds
            ),
            plans,
            limit=CONCURRENT_STATEMENTS,
        )
        return [paths[:explored] for paths in matched], any(
            len(paths) > explored for paths in matched
        )

    async def _type_mismatch(self, plans: Sequence[QueryPlan]) -> InputError | None:
        """Which constraint compares values that cannot be compared, with an example of a stored
        value.
        """
        for constraint, scope in constraints_of(plans):
            # Values inside JSON were compared before the statement ran.
            if constraint.type not in _COMPARISONS or is_inside_json(constraint):
                continue
            if constraint.value_from is not None:
                return InputError(
                    f"{constraint.type} compares {constraint.property_path!r} with "
                    f"{constraint.value_from.property_path!r} of another node, but on some path "
                    f"one is text and the "
                    "other is not"
                )
            error = await StoredValues(self._reads).type_mismatch(constraint, scope)
            if error is not None:
                return error
        return None


def _best(
    plans: Sequence[QueryPlan],
    matched: Sequence[Sequence[PathMatch]],
    metrics: Mapping[PathMatch, PathMetrics],
    ranking: PathRanking,
) -> list[ScoredPath]:
    """The paths of all plans, best first, without those of which only the best is kept."""
    scored = (
        ScoredPath(plan, path, metrics[path], ranking.score(metrics[path]))
        for plan, paths in zip(plans, matched, strict=True)
        for path in paths
    )
    best: dict[object, ScoredPath] = {}
    for item in sorted(
        scored,
        key=lambda item: (-item.score, item.metrics.hops, item.path.nodes, item.path.relationships),
    ):
        best.setdefault(item.path.at or (item.plan.pattern_id, item.path), item)
    return list(best.values())


def constraints_of(plans: Iterable[QueryPlan]) -> Iterator[tuple[Constraint, tuple[str, ...]]]:
    """Every constraint of the patterns, with the labels or types of what it applies to; see
    `StepSequence.scope`.
    """
    patterns = {segment.model_dump_json(): segment for plan in plans for segment in plan.segments}
    for pattern in patterns.values():
        for sequence in step_sequences(pattern):
            for constraint in sequence.constraints:
                yield constraint, sequence.scope(constraint)
