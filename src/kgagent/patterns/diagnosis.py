"""Finds out why patterns match nothing: runs variants with one part omitted or reversed."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from kgagent.bounded_map import bounded_map
from kgagent.errors import StoreError
from kgagent.models.constraint import Constraint
from kgagent.models.pattern import GraphPattern
from kgagent.models.pattern_query import CombinatorType, GraphQuery, QueryCombinator
from kgagent.patterns.compiler import Compiler
from kgagent.patterns.narrowing import matched_paths
from kgagent.patterns.plans import QueryPlan, join_position
from kgagent.patterns.reads import UserReads
from kgagent.patterns.step_sequences import place_name
from kgagent.suggestions import shorten_name

MAX_VARIANTS = 24
"""Maximum number of variants, besides each pattern alone."""

MAX_FINDINGS = 5
MAX_VALUE_LENGTH = 60
"""Characters of a value that a message repeats."""

CONCURRENT_STATEMENTS = 4

QUICK_SECONDS = 0.3
"""Time that a statement may take before it is narrowed: that no path matches, narrowing finds out faster."""


@dataclass(frozen=True)
class _Variant:
    """A pattern that differs from the original in one part.

    Attributes:
        finding: the message if the variant matches.
        pattern: the pattern.
        compiler: compiles it.
    """

    finding: str
    pattern: GraphPattern
    compiler: Compiler


async def diagnose_patterns(reads: UserReads, query: GraphQuery, compiler: Compiler) -> list[str]:
    """Describe variants of a query that match, although it matches nothing itself.

    Args:
        reads: runs the statements, within its time limit.
        query: a query with patterns.
        compiler: compiles its plans.

    Returns:
        At most five messages; those that were found when the time was over.
    """
    findings: dict[int, str] = {}

    async def matches(variant: _Variant) -> bool:
        """Whether a variant has a path; a statement that fails or takes too long counts as none."""
        plan = QueryPlan((variant.pattern,))
        with suppress(StoreError):
            return bool(await matched_paths(reads, variant.compiler, plan, 1, quick_seconds=QUICK_SECONDS))
        return False

    async def attempt(numbered: tuple[int, _Variant]) -> None:
        number, variant = numbered
        if await matches(variant):
            findings[number] = variant.finding

    with suppress(TimeoutError):
        async with reads.deadline.enforced():
            # Without a combinator, the query has just shown that no pattern matches alone.
            alone = [False] * len(query.all_patterns)
            if query.combinator is not None:
                parts = [_Variant("", pattern, compiler) for pattern in query.all_patterns]
                alone = await bounded_map(matches, parts, limit=CONCURRENT_STATEMENTS)
                if all(alone):
                    return [_not_joined(query.combinator)]
            unmatched = [
                pattern for pattern, is_matched in zip(query.all_patterns, alone, strict=True) if not is_matched
            ]
            variants = [variant for pattern in unmatched for variant in _variants(pattern, compiler)]
            await bounded_map(attempt, enumerate(variants[:MAX_VARIANTS]), limit=CONCURRENT_STATEMENTS)
    return [findings[number] for number in sorted(findings)][:MAX_FINDINGS]


def _not_joined(combinator: QueryCombinator) -> str:
    if combinator.type is CombinatorType.SEQUENTIAL:
        return "Each pattern matches alone, but none starts where the previous one ends"
    place = place_name(join_position(combinator))
    return f"Each pattern matches alone, but they have no common node at {place}"


def _variants(pattern: GraphPattern, compiler: Compiler) -> Iterator[_Variant]:
    """The pattern without targets, without one of its constraints or branches, or with one step reversed."""
    name = f"Pattern {shorten_name(pattern.pattern_id)!r} matches"

    def changed(finding: str, **changes: object) -> _Variant:
        return _Variant(f"{name} {finding}", pattern.model_copy(update=changes), compiler)

    if (entry := QueryPlan((pattern,)).entered_at(compiler.entry_points)) is not None:
        free = replace(compiler, entry_points=())
        yield replace(changed(f"without a target at {place_name(entry.position)}"), compiler=free)
    for number, constraint in enumerate(pattern.constraints):
        finding = f"without the constraint {_describe(constraint)}"
        yield changed(finding, constraints=_replaced(pattern.constraints, number))
    for number in range(len(pattern.branches)):
        yield changed(f"without branch {number}", branches=_replaced(pattern.branches, number))
    for number, step in enumerate(pattern.steps):
        if (direction := step.direction.reversed) is not step.direction:
            steps = _replaced(pattern.steps, number, step.model_copy(update={"direction": direction}))
            yield changed(f"with direction {direction} at step {number}", steps=steps)


def _replaced(items: Sequence[object], number: int, *others: object) -> tuple[object, ...]:
    """The items with others in place of one of them."""
    return (*items[:number], *others, *items[number + 1 :])


def _describe(constraint: Constraint) -> str:
    if constraint.at_step == -1:
        where = "at every node" if constraint.on == "node" else "on every relationship"
    else:
        where = f"at {place_name(constraint.at_step)}"
    compared = constraint.value_from.property_path if constraint.value_from else repr(constraint.value)
    return f"{constraint.type} {constraint.property_path} {compared[:MAX_VALUE_LENGTH]} {where}"
