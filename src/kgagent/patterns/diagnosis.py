"""Finds out why patterns match nothing: runs variants with one part changed."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TypeVar

from kgagent.bounded_map import bounded_map
from kgagent.errors import StoreError
from kgagent.models.constraint import Constraint, ConstraintType, Position
from kgagent.models.pattern import GraphPattern
from kgagent.models.pattern_query import CombinatorType, GraphQuery, QueryCombinator
from kgagent.patterns.compiler import Compiler
from kgagent.patterns.narrowing import matched_paths
from kgagent.patterns.plans import QueryPlan, join_position, plans_of
from kgagent.patterns.reads import UserReads
from kgagent.patterns.step_sequences import place_name
from kgagent.suggestions import shorten_name

MAX_VARIANTS = 24
"""Maximum number of variants, besides each pattern alone."""

MAX_FINDINGS = 5
MAX_VALUE_LENGTH = 60
"""Characters of a value that a message repeats."""

CONCURRENT_STATEMENTS = 4

Item = TypeVar("Item")

QUICK_SECONDS = 0.3
"""Time that a statement may take before it is narrowed: that no path matches, narrowing finds out faster."""


@dataclass(frozen=True)
class _Variant:
    """A query that differs from the original in one part.

    Attributes:
        finding: the message if the variant matches.
        plans: its plans; it matches if any of them has a path.
        compiler: compiles the plans.
    """

    finding: str
    plans: Sequence[QueryPlan]
    compiler: Compiler


class PatternDiagnosis:
    """Finds out why a query matches nothing, within the time limit of `reads`."""

    def __init__(self, reads: UserReads) -> None:
        self._reads = reads

    async def explain(self, query: GraphQuery, compiler: Compiler, target_keys: Sequence[str]) -> list[str]:
        """Describe variants of the query that match.

        Args:
            query: a query with patterns that matches nothing.
            compiler: compiles its plans.
            target_keys: keys of the nodes to which its targets resolve.

        Returns:
            At most five messages; those that were found when the time was over.
        """
        findings: dict[int, str] = {}

        async def attempt(numbered: tuple[int, _Variant]) -> None:
            number, one = numbered
            if await self._matches(one):
                findings[number] = one.finding

        first: list[str] = []
        with suppress(TimeoutError):
            async with self._reads.deadline.enforced():
                matching = await self._matching_alone(query, compiler)
                variants: list[_Variant] = []
                if query.combinator is not None and all(matching):
                    first.append(_not_joined(query.combinator))
                    variants += _joined_otherwise(query.combinator, compiler)
                for pattern, matches in zip(query.all_patterns, matching, strict=True):
                    variants += [] if matches else _weaker(pattern, compiler, target_keys)
                await bounded_map(attempt, enumerate(variants[:MAX_VARIANTS]), limit=CONCURRENT_STATEMENTS)
        return [*first, *(findings[number] for number in sorted(findings))][:MAX_FINDINGS]

    async def _matching_alone(self, query: GraphQuery, compiler: Compiler) -> list[bool]:
        """Whether each pattern matches alone; without a combinator, the query has just shown that none does."""
        if query.combinator is None:
            return [False] * len(query.all_patterns)
        alone = [_Variant("", [QueryPlan((pattern,))], compiler) for pattern in query.all_patterns]
        return await bounded_map(self._matches, alone, limit=CONCURRENT_STATEMENTS)

    async def _matches(self, one: _Variant) -> bool:
        """Whether the variant has a path; a statement that fails or takes too long counts as none."""
        for plan in one.plans:
            with suppress(StoreError):
                if await matched_paths(self._reads, one.compiler, plan, 1, quick_seconds=QUICK_SECONDS):
                    return True
        return False


def _not_joined(combinator: QueryCombinator) -> str:
    if combinator.type is CombinatorType.SEQUENTIAL:
        return "Each pattern matches alone, but none starts where the previous one ends"
    place = place_name(join_position(combinator))
    return f"Each pattern matches alone, but they have no common node at {place}"


def _joined_otherwise(combinator: QueryCombinator, compiler: Compiler) -> Iterator[_Variant]:
    if combinator.type is CombinatorType.SEQUENTIAL:
        return
    ends: tuple[Position, ...] = ("start", "end")
    for end in ends:
        if end != join_position(combinator):
            joined = combinator.model_copy(update={"join_on": end})
            yield _Variant(f"The patterns match with join_on {end!r}", plans_of(joined), compiler)


def _weaker(pattern: GraphPattern, compiler: Compiler, target_keys: Sequence[str]) -> Iterator[_Variant]:
    """The pattern with the targets elsewhere, without one of its parts, or with one step reversed."""
    name = f"Pattern {shorten_name(pattern.pattern_id)!r} matches"

    def changed(finding: str, *, entered: bool = True, **changes: object) -> _Variant:
        compiling = compiler if entered else replace(compiler, entry_points=())
        return _Variant(f"{name}{finding}", [QueryPlan((pattern.model_copy(update=changes),))], compiling)

    plan = QueryPlan((pattern,))
    if (entry := plan.entered_at(compiler.entry_points)) is not None:
        for place in plan.places:
            is_end = place.position == len(pattern.steps) - 1
            if place != entry and not is_end and any(point.fits(plan.label(place)) for point in compiler.entry_points):
                there = Constraint(
                    type=ConstraintType.PROPERTY_IN,
                    property_path="entity_key",
                    value=list(target_keys),
                    at_step=place.position,
                )
                there_name, entry_name = place_name(place.position), place_name(entry.position)
                finding = f" with a target at {there_name} instead of {entry_name}: reverse it"
                yield changed(finding, entered=False, constraints=(*pattern.constraints, there))
        yield changed(f" without a target at {place_name(entry.position)}", entered=False)
    for number, constraint in enumerate(pattern.constraints):
        finding = f" without the constraint {_describe(constraint)}"
        yield changed(finding, constraints=_without(pattern.constraints, number))
    for number in range(len(pattern.branches)):
        yield changed(f" without branch {number}", branches=_without(pattern.branches, number))
    for number, step in enumerate(pattern.steps):
        if (direction := step.direction.reversed) is not step.direction:
            turned = step.model_copy(update={"direction": direction})
            steps = (*pattern.steps[:number], turned, *pattern.steps[number + 1 :])
            yield changed(f" with direction {direction} at step {number}", steps=steps)


def _without(items: Sequence[Item], number: int) -> tuple[Item, ...]:
    return (*items[:number], *items[number + 1 :])


def _describe(constraint: Constraint) -> str:
    if constraint.at_step == -1:
        where = "at every node" if constraint.on == "node" else "on every relationship"
    else:
        where = f"at {place_name(constraint.at_step)}"
    compared = constraint.value_from.property_path if constraint.value_from else repr(constraint.value)
    return f"{constraint.type} {constraint.property_path} {compared[:MAX_VALUE_LENGTH]} {where}"
