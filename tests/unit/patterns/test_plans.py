"""How combinators come apart into statements."""

import pytest

from kgagent.errors import InputError
from kgagent.models.pattern import GraphPattern
from kgagent.models.pattern_query import CombinatorType, QueryCombinator, patterns_of
from kgagent.patterns.plans import PatternExpression, PlanPosition, join_position, plans_of


def pattern(name: str, start: str | None = "A", end: str | None = "B") -> GraphPattern:
    return GraphPattern.model_validate(
        {"pattern_id": name, "steps": [{"source_label": start, "relation_type": "R", "target_label": end}]}
    )


def combined(kind: CombinatorType, *parts: PatternExpression) -> QueryCombinator:
    return QueryCombinator(type=kind, patterns=parts)


def test_patterns_with_one_start_label_are_joined_at_the_start_and_others_at_the_end() -> None:
    assert join_position(combined(CombinatorType.UNION, pattern("p"), pattern("q"))) == "start"
    assert join_position(combined(CombinatorType.UNION, pattern("p"), pattern("q", start="C"))) == "end"
    assert join_position(combined(CombinatorType.UNION, pattern("p", start=None), pattern("q", start=None))) == "end"


def test_each_pattern_of_an_intersection_is_restricted_by_the_others() -> None:
    plans = plans_of(combined(CombinatorType.INTERSECTION, pattern("p"), pattern("q"), pattern("r")))
    assert [[next(patterns_of(member.part)).pattern_id for member in plan.joins] for plan in plans] == [
        ["q", "r"],
        ["p", "r"],
        ["p", "q"],
    ]


def test_a_union_keeps_the_best_path_of_each_node() -> None:
    plans = plans_of(combined(CombinatorType.UNION, pattern("p"), pattern("q", start="C")))
    assert {plan.best for plan in plans} == {plans[0].best}
    assert plans[0].best is not None
    assert plans[0].best.place == PlanPosition(0, "end")


def test_a_sequence_is_one_path_through_all_patterns_and_each_alternative_of_a_union() -> None:
    [plan] = plans_of(combined(CombinatorType.SEQUENTIAL, pattern("p"), pattern("q", "B", "C")))
    assert plan.pattern_id == "p > q"
    union = combined(CombinatorType.UNION, pattern("q", "B", "C"), pattern("r", "B", "D"))
    plans = plans_of(combined(CombinatorType.SEQUENTIAL, pattern("p"), union))
    assert [plan.pattern_id for plan in plans] == ["p > q", "p > r"]


def test_join_positions_move_with_their_pattern_in_a_sequence() -> None:
    both = combined(CombinatorType.INTERSECTION, pattern("q", "B", "C"), pattern("r", "B", "D"))
    plans = plans_of(combined(CombinatorType.SEQUENTIAL, pattern("p"), both))
    assert [plan.joins[0].place for plan in plans] == [PlanPosition(1, "start"), PlanPosition(1, "start")]


def test_steps_of_a_sequence_are_numbered_continuously() -> None:
    [plan] = plans_of(combined(CombinatorType.SEQUENTIAL, pattern("p"), pattern("q", "B", "C")))
    assert plan.place(1) == PlanPosition(1, 0)
    assert plan.place("end") == PlanPosition(1, "end")


def test_too_many_alternatives_of_unions_are_rejected() -> None:
    union = combined(CombinatorType.UNION, pattern("p", "B", "B"), pattern("q", "B", "B"))
    with pytest.raises(InputError, match="at most 40 are allowed"):
        plans_of(combined(CombinatorType.SEQUENTIAL, *[union] * 6))
