"""Reverses query plans: the same paths, traversed from their end to their start.

A pattern that may repeat relationships is compiled step by step from its start. If only its end is bound, compiling
the reversed plan starts from the bound node.
"""

from dataclasses import replace

from kgagent.models.constraint import Constraint, Position
from kgagent.models.pattern import Branch, GraphPattern, TraversalStep
from kgagent.patterns.plans import PlanPosition, QueryPlan


def reverse_plan(plan: QueryPlan) -> QueryPlan:
    """The plan from its end to its start, without `best`, which has no direction."""
    return QueryPlan(
        tuple(_reverse_pattern(segment) for segment in reversed(plan.segments)),
        tuple(replace(join, place=reverse_position(plan, join.place)) for join in plan.joins),
    )


def reverse_position(plan: QueryPlan, place: PlanPosition) -> PlanPosition:
    """The position in the reversed plan of a node of a plan."""
    steps = len(plan.segments[place.segment].steps)
    return PlanPosition(len(plan.segments) - 1 - place.segment, _reverse(place.position, steps))


def _reverse_pattern(pattern: GraphPattern) -> GraphPattern:
    steps = len(pattern.steps)
    return pattern.model_copy(
        update={
            "steps": tuple(_reverse_step(step) for step in reversed(pattern.steps)),
            "constraints": tuple(_reverse_constraint(constraint, steps) for constraint in pattern.constraints),
            "branches": tuple(_reverse_branch(branch, steps) for branch in pattern.branches),
        }
    )


def _reverse_step(step: TraversalStep) -> TraversalStep:
    ends = {"source_label": step.target_label, "target_label": step.source_label}
    return step.model_copy(update={**ends, "direction": step.direction.reversed, "step_index": None})


def _reverse_constraint(constraint: Constraint, steps: int) -> Constraint:
    place, other = constraint.at_step, constraint.value_from
    at_step: int | str
    if place == -1:
        at_step = -1
    elif constraint.on == "relationship":
        at_step = 0 if isinstance(place, str) else steps - 1 - place
    else:
        at_step = _reverse(place, steps)
    if other is not None:
        other = other.model_copy(update={"at_step": _reverse(other.at_step, steps)})
    return constraint.model_copy(update={"at_step": at_step, "value_from": other})


def _reverse_branch(branch: Branch, steps: int) -> Branch:
    ends_at = None if branch.ends_at is None else _reverse(branch.ends_at, steps)
    return branch.model_copy(update={"at_step": _reverse(branch.at_step, steps), "ends_at": ends_at})


def _reverse(position: Position, steps: int) -> Position:
    """The position of a node in the reversed path."""
    if isinstance(position, str):
        return "start" if position == "end" else "end"
    # Step i arrives at node i + 1 of steps + 1.
    arrived = steps - 1 - position
    return arrived - 1 if arrived else "start"
