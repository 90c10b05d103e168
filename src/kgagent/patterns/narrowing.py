"""Matches the paths of a plan; if that takes long, narrows it first to the nodes on walks from its start to its end.

A statement that matches paths follows every beginning of a path, and their number grows exponentially with the length
even if few of them arrive. Two breadth-first passes, forward and backward, read each relationship at most once per step
instead; among the nodes that are left, almost every beginning arrives. The passes ignore that a path follows no
relationship twice, and conditions on several nodes: the statement that matches the paths checks them. In a narrowed
plan, each step follows one relationship, so a plan is first split into plans of fixed length.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Literal

from kgagent.errors import StatementTimeoutError
from kgagent.models.constraint import Constraint, Position
from kgagent.models.pattern import Branch, GraphPattern, TraversalStep
from kgagent.patterns.compiler import CompiledStatement, Compiler
from kgagent.patterns.match_clauses import node_number
from kgagent.patterns.plans import PlanPosition, QueryPlan
from kgagent.patterns.reads import UserReads

QUICK_SHARE, QUICK_SECONDS = 0.5, 0.6
"""How long a statement over several hops may take before it is narrowed: a share of the time left, and most seconds."""

MAX_NODES = 10_000
"""Maximum number of nodes at one place; more of them do not narrow it."""

MAX_LENGTHS = 16
"""Maximum number of plans into which one is split."""

Ids = Sequence[str] | None
"""Ids of the nodes that a place may have; None is any node."""


async def matched_paths(
    reads: UserReads, compiler: Compiler, plan: QueryPlan, limit: int, *, quick_seconds: float = QUICK_SECONDS
) -> list[Sequence[Any]]:
    """Match the paths of a plan, as `Compiler.compile` describes them; if that takes long, narrow the plan first.

    Args:
        reads: runs the statements.
        compiler: compiles them.
        plan: the plan.
        limit: maximum number of paths.
        quick_seconds: time that one statement over several hops may take before it is narrowed; 0 narrows at once.

    Raises:
        StatementTimeoutError: time ran out.
        StoreError: the database failed.
    """
    fixed = plans_of_fixed_length(plan) if plan.max_hops > 1 else []
    if not fixed:
        return await _rows(reads, compiler.compile(plan, limit))
    with suppress(StatementTimeoutError):
        if quick_seconds > 0:
            quick = reads.until(reads.deadline.part(QUICK_SHARE, quick_seconds))
            return await _rows(quick, compiler.compile(plan, limit))
    entered, best = plan.entered_at(compiler.entry_points), compiler.best_place(plan)
    paths: list[Sequence[Any]] = []
    for fixed_plan in fixed:
        nodes = await _narrowed(reads, compiler, fixed_plan.plan, entered and fixed_plan.place(entered))
        if [] not in nodes:
            room = limit - len(paths)
            statement = compiler.compile_narrowed(fixed_plan.plan, nodes, room, best=best and fixed_plan.place(best))
            paths += [[*path[:2], fixed_plan.lengths, path[3]] for path in await _rows(reads, statement)]
        if len(paths) == limit:
            break
    return paths


async def _rows(reads: UserReads, statement: CompiledStatement) -> list[Sequence[Any]]:
    [row] = await reads.read(statement.text, statement.parameters)
    return list(row["paths"])


async def _narrowed(reads: UserReads, compiler: Compiler, plan: QueryPlan, entered: PlanPosition | None) -> list[Ids]:
    """For each node of the paths, from the start, the ids that it may have."""
    [pattern] = plan.segments
    steps = [_one_step(pattern, place) for place in range(len(pattern.steps))]
    ids: list[Ids] = [None] * (len(steps) + 1)
    if entered is not None:
        place = node_number(entered.position, len(steps))
        ids[place] = compiler.entered_ids(plan.label(entered))
        if pattern.cycle and place in {0, len(steps)}:
            ids[0] = ids[-1] = ids[place]

    async def ends(step: int, at: Literal["start", "end"]) -> Ids:
        compiled = compiler.compile_step(steps[step], ids[step], ids[step + 1], at=at, limit=MAX_NODES + 1)
        [row] = await reads.read(compiled.text, compiled.parameters)
        return row["nodes"] if len(row["nodes"]) <= MAX_NODES else None

    for step in range(len(steps)):
        ids[step + 1] = await ends(step, "end")
        if ids[step + 1] == []:
            return ids
    for step in reversed(range(len(steps))):
        if ids[step] is not None or ids[step + 1] is not None:
            ids[step] = await ends(step, "start")
    return ids


def _one_step(pattern: GraphPattern, place: int) -> GraphPattern:
    """A step as a pattern of its own, with the constraints on its relationship and its two nodes."""
    constraints = (
        constraint.model_copy(update={"at_step": moved})
        for constraint in pattern.constraints
        if constraint.value_from is None
        and (moved := _place_in_step(constraint, place, len(pattern.steps))) is not None
    )
    step = pattern.steps[place]
    if place and step.source_label is None:
        step = step.model_copy(update={"source_label": pattern.steps[place - 1].target_label})
    return GraphPattern(steps=(step,), constraints=tuple(constraints))


def _place_in_step(constraint: Constraint, step: int, steps: int) -> int | str | None:
    """Where a constraint applies in the pattern of one step; None if it does not."""
    place = constraint.at_step
    if place == -1:
        return -1
    if constraint.on == "relationship":
        return 0 if place == step or (place == "end" and step == steps - 1) else None
    return {step: "start", step + 1: "end"}.get(node_number(place, steps))


@dataclass(frozen=True)
class FixedLengthPlan:
    """A plan of one pattern in which each step follows one relationship.

    Attributes:
        plan: the plan.
        lengths: for each step of the original pattern, the number of relationships that it follows.
    """

    plan: QueryPlan
    lengths: tuple[int, ...]

    def place(self, original: PlanPosition) -> PlanPosition:
        """The place of a node that has a place in the original plan."""
        return _moved_place(original, _last_steps(self.lengths))


def plans_of_fixed_length(plan: QueryPlan) -> list[FixedLengthPlan]:
    """Split a plan, shortest paths first; empty if it cannot be split.

    Together, the plans match the same paths, each once. A plan with several patterns, with a pattern that may repeat
    relationships, or with more than 16 combinations of lengths is not split.
    """
    [pattern, *others] = plan.segments
    ranges = [range(step.min_hops, step.max_hops + 1) for step in pattern.steps]
    if others or pattern.repeat_relationships or math.prod(map(len, ranges)) > MAX_LENGTHS:
        return []
    return [FixedLengthPlan(_fixed(plan, lengths), lengths) for lengths in sorted(product(*ranges), key=sum)]


def _fixed(plan: QueryPlan, lengths: Sequence[int]) -> QueryPlan:
    [pattern], last = plan.segments, _last_steps(lengths)
    fixed = pattern.model_copy(
        update={
            "steps": tuple(_single_steps(pattern.steps, lengths)),
            "constraints": tuple(_moved_constraints(pattern.constraints, lengths)),
            "branches": tuple(_moved_branch(branch, last) for branch in pattern.branches),
        }
    )
    joins = tuple(replace(join, place=_moved_place(join.place, last)) for join in plan.joins)
    return QueryPlan((fixed,), joins)


def _last_steps(lengths: Sequence[int]) -> Mapping[Position, int]:
    """For each original step, the last of those that replace it, which arrives where it did."""
    return {place: sum(lengths[: place + 1]) - 1 for place in range(len(lengths))}


def _single_steps(steps: Sequence[TraversalStep], lengths: Sequence[int]) -> Iterator[TraversalStep]:
    for step, length in zip(steps, lengths, strict=True):
        for number in range(length):
            yield step.model_copy(
                update={
                    "source_label": step.source_label if number == 0 else None,
                    "target_label": step.target_label if number == length - 1 else None,
                    "min_hops": 1,
                    "max_hops": 1,
                    "step_index": None,
                }
            )


def _moved_constraints(constraints: Sequence[Constraint], lengths: Sequence[int]) -> Iterator[Constraint]:
    """The constraints; one on the relationships of a step applies to each step that replaces it."""
    last = _last_steps(lengths)
    for constraint in constraints:
        place, other = constraint.at_step, constraint.value_from
        if other is not None:
            other = other.model_copy(update={"at_step": last.get(other.at_step, other.at_step)})
        places: Sequence[int | str] = [last.get(place, place)]
        if constraint.on == "relationship" and place != -1:
            step = len(lengths) - 1 if isinstance(place, str) else place
            places = range(last[step] - lengths[step] + 1, last[step] + 1)
        for moved in places:
            yield constraint.model_copy(update={"at_step": moved, "value_from": other})


def _moved_branch(branch: Branch, last: Mapping[Position, int]) -> Branch:
    ends_at = None if branch.ends_at is None else last.get(branch.ends_at, branch.ends_at)
    return branch.model_copy(update={"at_step": last.get(branch.at_step, branch.at_step), "ends_at": ends_at})


def _moved_place(place: PlanPosition, last: Mapping[Position, int]) -> PlanPosition:
    return replace(place, position=last.get(place.position, place.position))
