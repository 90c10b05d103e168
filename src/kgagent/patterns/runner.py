"""Runs plans: one statement each, a few at a time, and what they found as one list."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from kgagent.concurrency import bounded_map
from kgagent.embedding.base import Embedder
from kgagent.errors import InputError, SearchError, StatementTimeoutError, StatementValueError
from kgagent.graph.store import Row, Store
from kgagent.models.constraint import ORDERS, TEXTS, Constraint, ConstraintType
from kgagent.models.matched_path import MatchedPath
from kgagent.models.pattern import GraphPattern
from kgagent.patterns.compiler import Compiler
from kgagent.patterns.path_reader import PathElements, PathMatch, PathReader, ScoredPath
from kgagent.patterns.plans import QueryPlan
from kgagent.patterns.predicates import is_inside_json, matching_key, needs_matching
from kgagent.patterns.ranking import PathRanking
from kgagent.patterns.step_sequences import ConstraintScope, step_sequences
from kgagent.patterns.stored_values import StoredValues

_COMPARING = frozenset({*ORDERS, *TEXTS, ConstraintType.REGEX_MATCH})
"""Constraints that end the statement where they meet a value of another kind."""

AT_ONCE = 4
"""Statements of one query under way at once: more would only wait for each other, while the time of each runs."""


@dataclass(frozen=True)
class RunLimits:
    """How far a query goes.

    Attributes:
        paths: told at the most.
        explored: looked at by one statement, at the most.
        timeout: seconds that the server gives one statement.
    """

    paths: int
    explored: int
    timeout: float


@dataclass(frozen=True)
class ResultPath:
    """A path as it is shown, with the database's ids of what it is made of."""

    path: MatchedPath
    ids: PathMatch


@dataclass(frozen=True)
class RunResult:
    """What plans found.

    Attributes:
        paths: best first.
        explored: paths looked at, by pattern.
        truncated: whether a plan had more paths than were looked at.
    """

    paths: tuple[ResultPath, ...] = ()
    explored: Mapping[str, int] = field(default_factory=dict)
    truncated: bool = False


class PatternRunner:
    """Runs the plans of a query."""

    def __init__(self, store: Store, embedder: Embedder, reader: PathReader, limits: RunLimits) -> None:
        self._store = store
        self._embedder = embedder
        self._reader = reader
        self._limits = limits
        self._stored = StoredValues(store, timeout=limits.timeout)

    async def matching(self, patterns: Iterable[GraphPattern], user_id: str) -> dict[str, list[JsonValue]]:
        """Look up the stored values for the constraints that the database cannot work out.

        Raises:
            InputError: a regular expression or a comparison cannot be carried out.
            StoreError: the database failed.
        """
        wanted = {
            (matching_key(constraint), scope): (constraint, scope)
            for constraint, scope in _constraints(patterns)
            if needs_matching(constraint)
        }
        looked_up = await bounded_map(
            lambda each: self._stored.matching(*each, user_id), wanted.values(), limit=AT_ONCE
        )
        found: dict[str, list[JsonValue]] = {}
        for (key, _), values in zip(wanted, looked_up, strict=True):
            found.setdefault(key, []).extend(values)
        return found

    async def run(
        self, plans: Sequence[QueryPlan], compiler: Compiler, ranking: PathRanking, vector: Sequence[float] | None
    ) -> RunResult:
        """Run all plans, and keep the best paths of all.

        Args:
            plans: what is matched.
            compiler: makes the statements.
            ranking: how paths are ranked.
            vector: embedding of the query, shape (dimensions,); None leaves out the meaning.

        Raises:
            InputError: a constraint compares what cannot be compared.
            SearchError: a statement took too long.
            StoreError: the database failed otherwise.
        """
        try:
            matched, truncated = await self._matched(plans, compiler)
        except StatementTimeoutError:
            raise SearchError(
                f"The pattern took longer than {self._limits.timeout:g} s. Start from targets, name labels and types "
                "at each step, add constraints, or lower max_hops"
            ) from None
        except StatementValueError as error:
            raise await self._type_mismatch(plans, compiler.user_id) or InputError(
                # What the server says may tell a value, and whose it is nobody knows.
                "A constraint cannot be worked out on what is stored: compare a date or time with text of its own "
                "kind, such as 2026-01-02, 2026-01-02T10:00 or 10:00, and a duration or a place with nothing"
            ) from error
        elements = PathElements(self._store, self._embedder, compiler.user_id, self._limits.timeout)
        counts = await elements.counts([path for paths in matched for path in paths], ranking, vector)
        ranked: list[ScoredPath] = []
        explored: Counter[str] = Counter()
        for plan, paths in zip(plans, matched, strict=True):
            explored[plan.pattern_id] += len(paths)
            group = -1 if compiler.one_path_per is not None or plan.best is None else plan.best.group
            for path in paths:
                figures = counts.figures(path, ranking)
                ranked.append(ScoredPath(plan, path, figures, ranking.score(figures), group))
        best: dict[tuple[object, ...], ScoredPath] = {}
        for one in sorted(ranked, key=lambda one: one.order):
            best.setdefault(one.identity, one)
        kept = list(best.values())[: self._limits.paths]
        return RunResult(await self._shown(kept, ranking, elements), explored, truncated)

    async def _matched(self, plans: Sequence[QueryPlan], compiler: Compiler) -> tuple[list[list[PathMatch]], bool]:
        """What each plan matches, and whether any matches more than are looked at."""
        explored = self._limits.explored
        known: dict[str, str] = {}

        async def match(plan: QueryPlan) -> tuple[list[PathMatch], bool]:
            compiled = compiler.matched(plan, explored + 1)
            rows = await self._store.read(compiled.text, compiled.parameters, timeout=self._limits.timeout)
            return [_candidate(row, known) for row in rows[:explored]], len(rows) > explored

        matched = await bounded_map(match, plans, limit=AT_ONCE)
        return [paths for paths, _ in matched], any(is_cut for _, is_cut in matched)

    async def _shown(
        self, kept: Sequence[ScoredPath], ranking: PathRanking, elements: PathElements
    ) -> tuple[ResultPath, ...]:
        """The paths as they are shown; one of which something is gone meanwhile is left out."""
        node_rows, relationship_rows = await elements.read([one.path for one in kept])
        nodes = {key: self._reader.node(row) for key, row in node_rows.items()}
        relationships = {
            key: self._reader.relationship(row, nodes)
            for key, row in relationship_rows.items()
            if row["start"] in nodes and row["end"] in nodes
        }
        starts = {key: row["start"] for key, row in relationship_rows.items()}
        return tuple(
            ResultPath(self._reader.path(one, ranking, nodes, relationships, starts), one.path)
            for one in kept
            if nodes.keys() >= set(one.path.nodes) and relationships.keys() >= set(one.path.relationships)
        )

    async def _type_mismatch(self, plans: Sequence[QueryPlan], user_id: str) -> InputError | None:
        """Which constraint compares what cannot be compared, and with what stored value."""
        patterns = {segment.model_dump_json(): segment for plan in plans for segment in plan.segments}
        for constraint, scope in _constraints(patterns.values()):
            # What lies inside JSON was compared before the statement ran.
            if constraint.type not in _COMPARING or is_inside_json(constraint):
                continue
            if constraint.value_from is not None:
                return InputError(
                    f"{constraint.type} compares {constraint.property_path!r} with "
                    f"{constraint.value_from.property_path!r} of another node, but on some path one is text and the "
                    "other is not"
                )
            told = await self._stored.type_mismatch(constraint, scope, user_id)
            if told is not None:
                return told
        return None


def _candidate(row: Row, known: dict[str, str]) -> PathMatch:
    """Read a row; an id is kept once, however many paths it stands in."""
    nodes, relationships = (tuple(known.setdefault(one, one) for one in row[of]) for of in ("nodes", "relationships"))
    return PathMatch(nodes, relationships, tuple(row["lengths"]), row["at"])


def _constraints(patterns: Iterable[GraphPattern]) -> Iterator[tuple[Constraint, ConstraintScope]]:
    """Every constraint, with what it is about."""
    for pattern in patterns:
        for sequence in step_sequences(pattern):
            for constraint in sequence.constraints:
                yield constraint, sequence.scope(constraint)
