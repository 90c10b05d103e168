"""Matches the paths of a plan by narrowing it first to the nodes on walks from its start to its end.

A statement that matches paths follows every beginning of a path, and their number grows exponentially with the length
even if few of them arrive. Two breadth-first passes, forward and backward, read each relationship at most once per step
instead; among the nodes that are left, almost every beginning arrives. The passes ignore that a path follows no
relationship twice, and conditions on several nodes: the statement that matches the paths checks them.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Literal

from kgagent.errors import StatementTimeoutError
from kgagent.models.constraint import Constraint
from kgagent.models.pattern import GraphPattern
from kgagent.patterns.compiler import CompiledStatement, Compiler
from kgagent.patterns.fixed_lengths import plans_of_fixed_length
from kgagent.patterns.match_clauses import node_number
from kgagent.patterns.plans import PlanPosition, QueryPlan
from kgagent.patterns.reads import UserReads

QUICK_SHARE, QUICK_SECONDS = 0.5, 0.6
"""How long a statement over several hops may take before it is narrowed: a share of the time left, and most seconds."""

MAX_NODES = 10_000
"""Maximum number of nodes at one place; more of them do not narrow it."""

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
