"""Splits a query plan into plans of fixed length, in which each step follows one relationship."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from kgagent.models.constraint import Constraint, Position
from kgagent.models.pattern import Branch, TraversalStep
from kgagent.patterns.plans import PlanPosition, QueryPlan

MAX_LENGTHS = 16
"""Maximum number of plans into which one is split."""


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
