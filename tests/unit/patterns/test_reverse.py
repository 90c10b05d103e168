from dataclasses import replace
from typing import Any

import pytest

from kgagent.models.pattern import GraphPattern
from kgagent.patterns.plans import PlanPosition, QueryPlan
from kgagent.patterns.reverse import reverse_plan, reverse_position
from tests.unit.patterns.wards import equals, pattern, step

STEPS = (
    step("Patient", "TREATED_BY", "Doctor", max_hops=2),
    step(None, "TREATED_BY", "Patient", direction="INCOMING"),
    step(None, "KNOWS", None, direction="BOTH"),
)


def reversed_pattern(**more: Any) -> GraphPattern:
    [segment] = reverse_plan(QueryPlan((pattern(*STEPS, **more),))).segments
    return segment


def test_steps_are_reversed() -> None:
    assert [
        (one.source_label, one.types, one.target_label, one.direction, one.max_hops) for one in reversed_pattern().steps
    ] == [
        (None, ("KNOWS",), None, "BOTH", 1),
        ("Patient", ("TREATED_BY",), None, "OUTGOING", 1),
        ("Doctor", ("TREATED_BY",), "Patient", "INCOMING", 2),
    ]


@pytest.mark.parametrize(
    ("on", "place", "expected"),
    [
        ("node", "start", "end"),
        ("node", "end", "start"),
        ("node", 0, 1),
        ("node", 1, 0),
        ("node", 2, "start"),
        ("node", -1, -1),
        ("relationship", 0, 2),
        ("relationship", 2, 0),
        ("relationship", "end", 0),
        ("relationship", -1, -1),
    ],
)
def test_a_constraint_keeps_its_node_when_reversed(on: str, place: int | str, expected: int | str) -> None:
    [constraint] = reversed_pattern(constraints=[equals("age", place, on=on)]).constraints
    assert constraint.at_step == expected


def test_branches_and_compared_nodes_keep_their_position() -> None:
    compared = equals("age", 0, value_from={"at_step": 1, "property_path": "age"})
    branch = {"at_step": "start", "ends_at": 2, "steps": [step(None, "KNOWS", None)]}
    segment = reversed_pattern(constraints=[compared], branches=[branch])
    [constraint], [leading] = segment.constraints, segment.branches
    assert (constraint.at_step, constraint.value_from and constraint.value_from.at_step) == (1, 0)
    assert (leading.at_step, leading.ends_at) == ("end", "start")


def test_a_sequence_of_patterns_is_reversed_and_restored() -> None:
    plan = QueryPlan((pattern(*STEPS), pattern(*STEPS[:2])))
    assert reverse_position(plan, PlanPosition(0, "start")) == PlanPosition(1, "end")
    assert reverse_position(plan, PlanPosition(1, 0)) == PlanPosition(0, 0)
    back = reverse_plan(reverse_plan(plan))
    assert [one.model_copy(update={"steps": ()}) for one in back.segments] == [
        one.model_copy(update={"steps": ()}) for one in plan.segments
    ]
    assert [one.steps for one in back.segments] == [one.steps for one in plan.segments]
    assert replace(back, segments=()) == replace(plan, segments=())
