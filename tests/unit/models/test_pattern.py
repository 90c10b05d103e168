"""Validation of graph patterns and their JSON forms."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from kgagent.errors import InputError
from kgagent.models.constraint import Constraint
from kgagent.models.pattern import Branch, GraphPattern, TraversalStep
from kgagent.models.pattern_query import GraphQuery, QueryCombinator

STEP: dict[str, Any] = {
    "source_label": "Vendor",
    "relation_type": "SUPPLIES",
    "target_label": "Part",
}


def one_step(**more: Any) -> GraphPattern:
    return GraphPattern.model_validate({"steps": [STEP], **more})


def test_a_pattern_survives_a_round_trip_through_json() -> None:
    pattern = one_step(
        constraints=[
            {"type": "PROPERTY_IN", "property_path": "name", "value": ["a", 1], "at_step": 0}
        ],
        branches=[{"steps": [STEP], "at_most": 0}],
    )
    assert GraphPattern.model_validate_json(pattern.model_dump_json()) == pattern
    query = GraphQuery(combinator=QueryCombinator(type="UNION", patterns=(pattern,)))
    assert GraphQuery.model_validate(json.loads(query.model_dump_json())) == query


def test_the_factories_make_what_they_name() -> None:
    assert GraphPattern.single_hop("A", "R", "B").steps[0].types == ("R",)
    assert Constraint.property_equals("A", "name", "x", 0).value == "x"
    assert Constraint.property_in("A", "name", ["x"], 0).value == ["x"]
    assert Constraint.not_in("A", "name", ["x"], 0).type == "NOT_IN"


def test_steps_are_sorted_by_their_index() -> None:
    pattern = GraphPattern.model_validate(
        {
            "steps": [
                {"relation_type": "B", "step_index": 1},
                {"relation_type": "A", "step_index": 0},
            ]
        }
    )
    assert [step.relation_type for step in pattern.steps] == ["A", "B"]


def test_the_minimum_of_hops_can_set_the_maximum() -> None:
    assert TraversalStep.model_validate({"min_hops": 3}).max_hops == 3


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"steps": []}, "at least 1 item"),
        (
            {"steps": [STEP, {"source_label": "Plant"}]},
            "step 1 starts at Plant, but step 0 arrives at Part",
        ),
        ({"steps": [{"step_index": 1}]}, "step_index must number the steps 0 to 0"),
        ({"steps": [{"step_index": 0}, {}]}, "step_index must number the steps 0 to 1"),
        (
            {"steps": [{"min_hops": 3, "max_hops": 2}]},
            "min_hops must not be above max_hops, got 3 and 2",
        ),
        (
            {"steps": [{"max_hops": 5}, {"max_hops": 5}]},
            "at most 8 relationships, but these steps may follow 10",
        ),
        ({"steps": [STEP], "cycle": True}, "starts at Vendor and ends at Part"),
        ({"steps": [{}], "cycle": True, "distinct_nodes": True}, "omit distinct_nodes"),
        ({"steps": [{"max_hops": 2}], "repeat_relationships": True}, "omit max_hops"),
        (
            {"steps": [STEP], "branches": [{"steps": [STEP], "at_step": 3}]},
            "branch refers to step 3",
        ),
        ({"steps": [STEP], "sourcelabel": "x"}, "Extra inputs"),
    ],
)
def test_an_invalid_pattern_is_rejected_with_a_reason(given: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        GraphPattern.model_validate(given)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"type": "PROPERTY_EQUALS"}, "needs either a value"),
        (
            {"type": "PROPERTY_EQUALS", "value": [1]},
            "needs one value: text, a number, true or false, got .1.",
        ),
        ({"type": "PROPERTY_IN", "value": "x"}, "needs a list"),
        ({"type": "PROPERTY_IN", "value": [None]}, "None"),
        ({"type": "PROPERTY_IN", "value": ["\udfff"]}, "string_unicode"),
        ({"type": "GREATER_THAN", "value": True}, "needs a number, text, or a date"),
        ({"type": "GREATER_THAN", "value": float("nan")}, "finite"),
        ({"type": "STARTS_WITH", "value": 5}, "needs text"),
        ({"type": "PROPERTY_EQUALS", "value": "x" * 10_001}, "at most 10000 characters"),
        (
            {"type": "PROPERTY_EQUALS", "value": 1, "on": "relationship", "at_step": "start"},
            "no at_step 'start'",
        ),
        (
            {"type": "REGEX_MATCH", "value_from": {"at_step": 0, "property_path": "x"}},
            "value_from works on",
        ),
        ({"type": "LIKE", "value": 1}, "Input should be"),
    ],
)
def test_an_invalid_constraint_is_rejected_with_a_reason(
    given: dict[str, Any], reason: str
) -> None:
    with pytest.raises(ValidationError, match=reason):
        Constraint.model_validate({"property_path": "name", **given})


def test_a_constraint_at_a_missing_step_is_rejected() -> None:
    with pytest.raises(ValidationError, match="at_step 1 does not exist: the steps are 0 to 0"):
        one_step(
            constraints=[
                {"type": "PROPERTY_EQUALS", "property_path": "name", "value": 1, "at_step": 1}
            ]
        )


def test_a_branch_requires_at_least_one_by_default() -> None:
    assert Branch.model_validate({"steps": [STEP]}).minimum == 1
    assert Branch.model_validate({"steps": [STEP], "at_most": 0}).minimum == 0
    with pytest.raises(ValidationError, match="at_least must not be above at_most, got 1 and 0"):
        Branch.model_validate({"steps": [STEP], "at_least": 1, "at_most": 0})


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({}, "the query is empty"),
        ({"query": "  "}, "the query is empty"),
        ({"patterns": [{"steps": [STEP]}] * 21}, "at most 20"),
        ({"query": "x", "weights": {"semantic": 0}}, "weights must not all be 0"),
        ({"query": "x", "weights": {"length": float("inf")}}, "finite"),
        ({"query": "x", "ranking": "BEST"}, "Input should be"),
        ({"targets": [{"label": "A"}]}, "a target needs a description"),
    ],
)
def test_an_invalid_query_is_rejected_with_a_reason(given: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        GraphQuery.model_validate(given)


def test_a_sequence_is_not_joined_on_a_node() -> None:
    with pytest.raises(ValidationError, match="omit join_on"):
        QueryCombinator.model_validate(
            {"type": "SEQUENTIAL", "patterns": [{"steps": [STEP]}], "join_on": "end"}
        )


def test_one_path_per_a_missing_step_is_an_error() -> None:
    with pytest.raises(InputError, match="one_path_per 1 is not a step: the longest path has 1"):
        GraphQuery(patterns=(one_step(),), one_path_per=1)
    sequence = QueryCombinator(type="SEQUENTIAL", patterns=(one_step(), one_step()))
    assert GraphQuery(combinator=sequence, one_path_per=1).one_path_per == 1


def test_a_query_knows_whether_it_has_patterns_and_a_combinator() -> None:
    walk = GraphQuery.model_validate(
        {"targets": [{"description": "Ann"}], "traversal": {"max_depth": 1}}
    )
    assert (walk.has_patterns, walk.has_combinator) == (False, False)
    single = GraphQuery(patterns=(one_step(),))
    assert (single.has_patterns, single.has_combinator) == (True, False)
    union = GraphQuery(combinator=QueryCombinator(type="UNION", patterns=(one_step(),)))
    assert (union.has_patterns, union.has_combinator) == (False, True)
