"""The statements that plans become."""

from kgagent.models.pattern import GraphPattern
from kgagent.models.pattern_query import CombinatorType, QueryCombinator
from kgagent.patterns.compiler import Compiler
from kgagent.patterns.plans import PatternExpression, plans_of


def nested(levels: int) -> PatternExpression:
    if not levels:
        return GraphPattern.single_hop("A", "R", "B")
    return QueryCombinator(type=CombinatorType.INTERSECTION, patterns=(nested(levels - 1), nested(levels - 1)))


def test_nested_intersections_search_each_pattern_once() -> None:
    plans = plans_of(nested(4))
    texts = [Compiler("someone").compile(plan, 10).text for plan in plans]
    assert [text.count("EXISTS") for text in texts] == [15] * 16


def test_a_value_from_a_node_of_another_user_is_not_compared() -> None:
    start = {"at_step": "start", "property_path": "age"}
    constraint = {"type": "LESS_THAN", "property_path": "age", "value_from": start, "at_step": "end"}
    pattern = GraphPattern.model_validate({"steps": [{}], "constraints": [constraint]})
    [plan] = plans_of(pattern)
    text = Compiler("someone").compile(plan, 10).text
    both = "CASE WHEN coalesce(s0n1.user_id, '') <> $user_id OR coalesce(s0n0.user_id, '') <> $user_id THEN false"
    assert both in text
