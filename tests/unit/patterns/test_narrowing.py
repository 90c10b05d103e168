import pytest

from kgagent.models.pattern import GraphPattern
from kgagent.patterns.narrowing import plans_of_fixed_length
from kgagent.patterns.plans import PlanPosition, QueryPlan
from tests.unit.patterns.wards import equals, pattern, step

STEPS = (
    step("Patient", "TREATED_BY", "Doctor", min_hops=1, max_hops=2),
    step("Doctor", "KNOWS", "Patient", direction="BOTH"),
)
PLAN = QueryPlan((pattern(*STEPS),))


def longer(*constraints: object, **more: object) -> GraphPattern:
    """The pattern whose first step follows two relationships."""
    _, fixed = plans_of_fixed_length(QueryPlan((pattern(*STEPS, constraints=constraints, **more),)))
    [found] = fixed.plan.segments
    return found


def test_each_length_is_a_plan_of_single_steps_and_the_shortest_is_first() -> None:
    assert [one.lengths for one in plans_of_fixed_length(PLAN)] == [(1, 1), (2, 1)]
    assert [(one.source_label, one.types, one.target_label, one.min_hops, one.max_hops) for one in longer().steps] == [
        ("Patient", ("TREATED_BY",), None, 1, 1),
        (None, ("TREATED_BY",), "Doctor", 1, 1),
        ("Doctor", ("KNOWS",), "Patient", 1, 1),
    ]


@pytest.mark.parametrize(
    ("on", "place", "expected"),
    [
        ("node", "start", ["start"]),
        ("node", 0, [1]),
        ("node", 1, [2]),
        ("node", "end", ["end"]),
        ("node", -1, [-1]),
        ("relationship", 0, [0, 1]),
        ("relationship", 1, [2]),
        ("relationship", "end", [2]),
        ("relationship", -1, [-1]),
    ],
)
def test_a_constraint_keeps_its_nodes_and_relationships(on: str, place: int | str, expected: list[int | str]) -> None:
    assert [one.at_step for one in longer(equals("age", place, on=on)).constraints] == expected


def test_branches_compared_nodes_and_other_places_keep_their_node() -> None:
    compared = equals("age", "end", value_from={"at_step": 0, "property_path": "age"})
    branch = {"at_step": 0, "ends_at": 1, "steps": [step(None, "KNOWS", None)]}
    moved = longer(compared, branches=[branch])
    [constraint], [leading] = moved.constraints, moved.branches
    assert constraint.value_from is not None
    assert (constraint.value_from.at_step, leading.at_step, leading.ends_at) == (1, 1, 2)
    _, fixed = plans_of_fixed_length(PLAN)
    assert fixed.place(PlanPosition(0, 0)) == PlanPosition(0, 1)
    assert fixed.place(PlanPosition(0, "end")) == PlanPosition(0, "end")


LONG = [step(None, "KNOWS", None, min_hops=1, max_hops=hops) for hops in (3, 3, 2)]


@pytest.mark.parametrize(
    "plan",
    [
        QueryPlan((pattern(*STEPS), pattern(*STEPS))),
        QueryPlan((pattern(*STEPS, repeat_relationships=True),)),
        QueryPlan((pattern(*LONG),)),
    ],
    ids=["several patterns", "relationships twice", "too many lengths"],
)
def test_other_plans_are_not_split(plan: QueryPlan) -> None:
    assert plans_of_fixed_length(plan) == []
