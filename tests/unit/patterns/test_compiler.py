"""How queries come apart into plans, and the statements that these become."""

from typing import Any

from kgagent.models.pattern_query import GraphQuery
from kgagent.patterns.compiler import Compiler
from kgagent.patterns.plans import QueryPlan, query_plans


def pattern(
    name: str, start: str | None = "A", end: str | None = "B", **more: Any
) -> dict[str, Any]:
    return {
        "pattern_id": name,
        "steps": [{"source_label": start, "relation_type": "R", "target_label": end}],
        **more,
    }


def plans(*patterns: dict[str, Any], kind: str | None = None) -> list[QueryPlan]:
    query = (
        {"patterns": patterns}
        if kind is None
        else {"combinator": {"type": kind, "patterns": patterns}}
    )
    return query_plans(GraphQuery.model_validate(query), all_types=True)


def test_patterns_with_one_start_label_are_joined_at_the_start_and_others_at_the_end() -> None:
    for starts, position in ((("A", "A"), "start"), (("A", "C"), "end"), ((None, None), "end")):
        joined = plans(*(pattern(f"from {start}", start) for start in starts), kind="INTERSECTION")
        assert {plan.join.on for plan in joined if plan.join} == {position}


def test_a_union_keeps_the_best_path_of_each_node() -> None:
    assert [plan.best_at for plan in plans(pattern("p"), pattern("q", "C"), kind="UNION")] == [
        "end",
        "end",
    ]


def test_a_value_from_a_node_of_another_user_is_not_compared() -> None:
    start = {"at_step": "start", "property_path": "age"}
    constraint = {
        "type": "LESS_THAN",
        "property_path": "age",
        "value_from": start,
        "at_step": "end",
    }
    [plan] = plans({"steps": [{}], "constraints": [constraint]})
    text = Compiler("someone").compile(plan, 10).text
    both = "CASE WHEN coalesce(s0n1.user_id, '') <> $user_id OR coalesce(s0n0.user_id, '') <> $user_id THEN false"
    assert both in text
