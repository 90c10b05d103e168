"""Plans told from their end: the same paths, walked the other way.

What follows a relationship twice is written step by step, so it is walked from where it begins. Where only its end is
known, it begins there.
"""

from dataclasses import replace

from kgagent.models.constraint import Constraint, Position
from kgagent.models.pattern import Branch, GraphPattern, TraversalStep
from kgagent.patterns.plans import PlanPosition, QueryPlan


def reverse_plan(plan: QueryPlan) -> QueryPlan:
    """The plan from its end to its start; what it keeps the best of is left out, as that has no direction."""
    return QueryPlan(
        tuple(_pattern(segment) for segment in reversed(plan.segments)),
        tuple(replace(member, place=reverse_position(plan, member.place)) for member in plan.joins),
    )


def reverse_position(plan: QueryPlan, place: PlanPosition) -> PlanPosition:
    """Where a node of a plan's paths stands in the reverse_plan plan."""
    steps = len(plan.segments[place.segment].steps)
    return PlanPosition(len(plan.segments) - 1 - place.segment, _position(place.position, steps))


def _pattern(pattern: GraphPattern) -> GraphPattern:
    steps = len(pattern.steps)
    return pattern.model_copy(
        update={
            "steps": tuple(_step(step) for step in reversed(pattern.steps)),
            "constraints": tuple(_constraint(constraint, steps) for constraint in pattern.constraints),
            "branches": tuple(_branch(branch, steps) for branch in pattern.branches),
        }
    )


def _step(step: TraversalStep) -> TraversalStep:
    ends = {"source_label": step.target_label, "target_label": step.source_label}
    return step.model_copy(update={**ends, "direction": step.direction.reversed, "step_index": None})


def _constraint(constraint: Constraint, steps: int) -> Constraint:
    place, other = constraint.at_step, constraint.value_from
    if place == -1:
        place_there: int | str = -1
    elif constraint.on == "relationship":
        place_there = 0 if isinstance(place, str) else steps - 1 - place
    else:
        place_there = _position(place, steps)
    if other is not None:
        other = other.model_copy(update={"at_step": _position(other.at_step, steps)})
    return constraint.model_copy(update={"at_step": place_there, "value_from": other})


def _branch(branch: Branch, steps: int) -> Branch:
    ends_at = None if branch.ends_at is None else _position(branch.ends_at, steps)
    return branch.model_copy(update={"at_step": _position(branch.at_step, steps), "ends_at": ends_at})


def _position(position: Position, steps: int) -> Position:
    """Where a node of a path stands when it is told from its end."""
    if isinstance(position, str):
        return "start" if position == "end" else "end"
    # Step i arrives at node i + 1 of steps + 1.
    arrived = steps - 1 - position
    return arrived - 1 if arrived else "start"
