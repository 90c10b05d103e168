"""Matches the paths of a plan; if that takes long, narrows it first to the nodes on walks from its
start to its end.

A statement that matches paths follows every beginning of a path, and their number grows
exponentially with the length even if few of them arrive. Two breadth-first passes, forward and
backward, read each relationship at most once per step instead; among the nodes that are left,
almost every beginning arrives. The passes ignore that a path follows no relationship twice, and
conditions on several nodes: the statement that matches the paths checks them. In a narrowed plan,
each step follows one relationship, so a plan is first split into plans of fixed length.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import product
from sys import intern
from typing import Literal

from kgagent.errors import StatementTimeoutError
from kgagent.models.constraint import Constraint, Position
from kgagent.models.pattern import Branch, GraphPattern, TraversalStep
from kgagent.patterns.compiler import CompiledStatement, Compiler
from kgagent.patterns.path_scores import PathMatch
from kgagent.patterns.plans import QueryPlan
from kgagent.patterns.reads import UserReads
from kgagent.patterns.step_sequences import node_number

QUICK_SHARE, QUICK_SECONDS = 0.5, 0.6
"""How long a statement over several hops may take before it is narrowed: a share of the time left,
and most seconds.
"""

MAX_NODES = 10_000
"""Maximum number of nodes at one place; more of them do not narrow it."""

MAX_LENGTHS = 16
"""Maximum number of plans into which one is split."""

Ids = Sequence[str] | None
"""Ids of the nodes that a place may have; None is any node."""

Lengths = tuple[int, ...]
"""Number of relationships that each step follows."""


async def matched_paths(
    reads: UserReads,
    compiler: Compiler,
    plan: QueryPlan,
    limit: int,
    *,
    quick_seconds: float = QUICK_SECONDS,
) -> list[PathMatch]:
    """Match the paths of a plan; if that takes long, narrow the plan first.

    Args:
        reads: runs the statements.
        compiler: compiles them.
        plan: the plan.
        limit: maximum number of paths.
        quick_seconds: time that one statement over several hops may take before it is narrowed; 0
            narrows at once.

    Raises:
        StatementTimeoutError: time ran out.
        StoreError: the database failed.
    """
    fixed = _plans_of_fixed_length(plan) if plan.max_hops > 1 else []
    if not fixed:
        return await _read(reads, compiler.compile(plan, limit))
    with suppress(StatementTimeoutError):
        if quick_seconds > 0:
            quick = reads.part(QUICK_SHARE, quick_seconds)
            return await _read(quick, compiler.compile(plan, limit))
    entered = plan.entered_at(compiler.entry_points)
    entry_ids = [] if entered is None else compiler.entered_ids(plan.label(entered))
    paths: list[PathMatch] = []
    for lengths, fixed_plan in fixed:
        [pattern] = fixed_plan.segments
        ids: list[Ids] = [None] * (len(pattern.steps) + 1)
        if entered is not None:
            last = _last_steps(lengths)
            place = node_number(last.get(entered.position, entered.position), len(pattern.steps))
            ids[place] = entry_ids
            if pattern.cycle and place in {0, len(pattern.steps)}:
                ids[0] = ids[-1] = entry_ids
        nodes = await _narrowed(reads, compiler, pattern, ids)
        if [] not in nodes:
            statement = compiler.compile_narrowed(fixed_plan, nodes, limit - len(paths))
            paths += [replace(path, lengths=lengths) for path in await _read(reads, statement)]
        if len(paths) == limit:
            break
    return paths


async def _read(reads: UserReads, statement: CompiledStatement) -> list[PathMatch]:
    """Read paths; each id is kept in memory once, however many paths contain it."""
    [row] = await reads.read(statement.text, statement.parameters)
    return [
        PathMatch(
            tuple(map(intern, nodes)),
            tuple(map(intern, relationships)),
            tuple(lengths),
            at,
            is_past,
        )
        for nodes, relationships, lengths, at, is_past in row["paths"]
    ]


async def _narrowed(
    reads: UserReads, compiler: Compiler, pattern: GraphPattern, given: Sequence[Ids]
) -> list[Ids]:
    """For each node of the paths, from the start, the ids that it may have, according to those that
    are given.
    """
    steps, ids = [_one_step(pattern, place) for place in range(len(pattern.steps))], list(given)

    async def ends(step: int, at: Literal["start", "end"]) -> Ids:
        compiled = compiler.compile_step(
            steps[step], ids[step], ids[step + 1], at=at, limit=MAX_NODES + 1
        )
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
    """A step as a pattern of its own, with the constraints on its relationship and its two
    nodes.
    """
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


def _plans_of_fixed_length(plan: QueryPlan) -> list[tuple[Lengths, QueryPlan]]:
    """Split a plan into plans in which each step follows one relationship, shortest paths first.

    Each comes with the number of relationships that each step of the original pattern follows in
    it. Together, the plans match the same paths, each once. A plan with several patterns, with a
    pattern that may repeat relationships, or with more than 16 combinations of lengths is not
    split: the result is empty.
    """
    [pattern, *others] = plan.segments
    ranges = [range(step.min_hops, step.max_hops + 1) for step in pattern.steps]
    if others or pattern.repeat_relationships or math.prod(map(len, ranges)) > MAX_LENGTHS:
        return []
    return [
        (lengths, _fixed(plan, pattern, lengths)) for lengths in sorted(product(*ranges), key=sum)
    ]


def _fixed(plan: QueryPlan, pattern: GraphPattern, lengths: Lengths) -> QueryPlan:
    last = _last_steps(lengths)
    fixed = pattern.model_copy(
        update={
            "steps": tuple(_single_steps(pattern.steps, lengths)),
            "constraints": tuple(_moved_constraints(pattern.constraints, lengths)),
            "branches": tuple(_moved_branch(branch, last) for branch in pattern.branches),
        }
    )
    join = plan.join and replace(plan.join, at=last.get(plan.join.at, plan.join.at))
    best_at = None if plan.best_at is None else last.get(plan.best_at, plan.best_at)
    return QueryPlan((fixed,), join, best_at)


def _last_steps(lengths: Lengths) -> Mapping[Position, int]:
    """For each original step, the last of those that replace it, which arrives where it did."""
    return {place: sum(lengths[: place + 1]) - 1 for place in range(len(lengths))}


def _single_steps(steps: Sequence[TraversalStep], lengths: Lengths) -> Iterator[TraversalStep]:
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


def _moved_constraints(constraints: Sequence[Constraint], lengths: Lengths) -> Iterator[Constraint]:
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
    return branch.model_copy(
        update={"at_step": last.get(branch.at_step, branch.at_step), "ends_at": ends_at}
    )
