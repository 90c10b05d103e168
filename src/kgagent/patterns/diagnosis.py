"""Which part of a query keeps its patterns from matching: each is tried again with one thing less, or reversed."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TypeVar

import anyio

from kgagent.concurrency import bounded_map
from kgagent.errors import StoreError
from kgagent.graph.store import Store
from kgagent.models.constraint import Constraint, ConstraintType, Position
from kgagent.models.pattern import GraphPattern
from kgagent.models.pattern_query import CombinatorType, GraphQuery, QueryCombinator
from kgagent.patterns.compiler import Compiler
from kgagent.patterns.plans import QueryPlan, join_position, plans_of
from kgagent.patterns.step_sequences import place_name
from kgagent.suggestions import shorten_name

MAX_TRIES = 24
"""Statements of one diagnosis, besides one for each pattern."""

MAX_TOLD = 5
MAX_VALUE_LENGTH = 60
"""Characters of a value that a sentence shows."""

AT_ONCE = 4
SECONDS = 5.0
"""How long a diagnosis may take; what was found by then is told."""

Item = TypeVar("Item")


@dataclass(frozen=True)
class _Variant:
    """What differs in one thing from what was asked.

    Attributes:
        told: what it means that it matches.
        plans: its statements; any of them may match.
        compiler: makes them.
    """

    told: str
    plans: Sequence[QueryPlan]
    compiler: Compiler


class PatternDiagnosis:
    """Finds out why a query over patterns found nothing."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def why_nothing(self, query: GraphQuery, compiler: Compiler, target_keys: Sequence[str]) -> list[str]:
        """Say what would match instead.

        Args:
            query: what was asked, with patterns; it found nothing.
            compiler: made its statements.
            target_keys: keys of the nodes that its targets mean.

        Returns:
            At most five sentences without a full stop.
        """
        found: dict[int, str] = {}

        async def attempt(numbered: tuple[int, _Variant]) -> None:
            number, one = numbered
            if await self._matches(one):
                found[number] = one.told

        told: list[str] = []
        with anyio.move_on_after(SECONDS):
            alone = [_Variant("", [QueryPlan((pattern,))], compiler) for pattern in query.all_patterns]
            matching = await bounded_map(self._matches, alone, limit=AT_ONCE)
            tries: list[_Variant] = []
            if query.combinator is not None and all(matching):
                told.append(_not_joined(query.combinator))
                tries += _joined_otherwise(query.combinator, compiler)
            for pattern, matches in zip(query.all_patterns, matching, strict=True):
                tries += [] if matches else _weaker(pattern, compiler, target_keys)
            await bounded_map(attempt, enumerate(tries[:MAX_TRIES]), limit=AT_ONCE)
        return [*told, *(found[number] for number in sorted(found))][:MAX_TOLD]

    async def _matches(self, one: _Variant) -> bool:
        """Whether any of its statements finds a path; one that fails or takes too long says nothing."""
        for plan in one.plans:
            compiled = one.compiler.matched(plan, 1)
            with suppress(StoreError):
                if await self._store.read(compiled.text, compiled.parameters, timeout=SECONDS):
                    return True
        return False


def _not_joined(combinator: QueryCombinator) -> str:
    if combinator.type is CombinatorType.SEQUENTIAL:
        return "Each pattern matches alone, but they cannot follow on one another"
    place = place_name(join_position(combinator))
    return f"Each pattern matches alone, but no node is at {place} of all of them"


def _joined_otherwise(combinator: QueryCombinator, compiler: Compiler) -> Iterator[_Variant]:
    if combinator.type is CombinatorType.SEQUENTIAL:
        return
    ends: tuple[Position, ...] = ("start", "end")
    for end in ends:
        if end != join_position(combinator):
            joined = combinator.model_copy(update={"join_on": end})
            yield _Variant(f"They match with join_on {end!r}", plans_of(joined), compiler)


def _weaker(pattern: GraphPattern, compiler: Compiler, target_keys: Sequence[str]) -> Iterator[_Variant]:
    """A pattern with its targets elsewhere, with one thing less, or with one step reversed."""
    name = f"Pattern {shorten_name(pattern.pattern_id)!r} matches"

    def changed(told: str, *, entered: bool = True, **changes: object) -> _Variant:
        compiling = compiler if entered else replace(compiler, entry_points=())
        return _Variant(f"{name}{told}", [QueryPlan((pattern.model_copy(update=changes),))], compiling)

    plan = QueryPlan((pattern,))
    if (entry := plan.entered_at(compiler.entry_points)) is not None:
        asked = f"with a target at {place_name(entry.position)}"
        for place in plan.places:
            is_end = place.position == len(pattern.steps) - 1
            if place != entry and not is_end and any(point.fits(plan.label(place)) for point in compiler.entry_points):
                there = Constraint(
                    type=ConstraintType.PROPERTY_IN,
                    property_path="entity_key",
                    value=list(target_keys),
                    at_step=place.position,
                )
                told = f" with a target at {place_name(place.position)}, not {asked}: turn it round"
                yield changed(told, entered=False, constraints=(*pattern.constraints, there))
        yield changed(f", but not {asked}", entered=False)
    for number, constraint in enumerate(pattern.constraints):
        told = f" without its constraint {_told(constraint)}"
        yield changed(told, constraints=_without(pattern.constraints, number))
    for number in range(len(pattern.branches)):
        yield changed(f" without its branch {number}", branches=_without(pattern.branches, number))
    for number, step in enumerate(pattern.steps):
        if (direction := step.direction.reversed) is not step.direction:
            turned = step.model_copy(update={"direction": direction})
            steps = (*pattern.steps[:number], turned, *pattern.steps[number + 1 :])
            yield changed(f" with direction {direction} at step {number}", steps=steps)


def _without(items: Sequence[Item], number: int) -> tuple[Item, ...]:
    return (*items[:number], *items[number + 1 :])


def _told(constraint: Constraint) -> str:
    if constraint.at_step == -1:
        where = "at every node" if constraint.on == "node" else "on every relationship"
    else:
        where = f"at {place_name(constraint.at_step)}"
    compared = constraint.value_from.property_path if constraint.value_from else repr(constraint.value)
    return f"{constraint.type} {constraint.property_path} {compared[:MAX_VALUE_LENGTH]} {where}"
