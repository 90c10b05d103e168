"""How wrong arguments are told to a model."""

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from kgagent.tools.argument_errors import explain
from kgagent.tools.base import failure
from kgagent.tools.create_node import CreateNodeArguments
from kgagent.tools.explore import ExploreArguments
from kgagent.tools.query_patterns import QueryPatternsArguments
from kgagent.tools.relationship_arguments import NewRelationship

RELATIONSHIP = {"from_entity_key": "a", "to_entity_key": "b", "relationship_type": "friend"}


def wrong(model: type[BaseModel], arguments: dict[str, Any]) -> str:
    with pytest.raises(ValidationError) as refused:
        model.model_validate(arguments)
    return explain(refused.value, model)


@pytest.mark.parametrize(
    ("model", "arguments", "said"),
    [
        (CreateNodeArguments, {"name": "A"}, "label is missing"),
        (CreateNodeArguments, {"label": "Person", "name": "A", "colour": 1}, "colour is not an argument of this tool"),
        (CreateNodeArguments, {"label": "Person", "name": "A", "int": 1}, "int is not an argument of this tool"),
        (
            CreateNodeArguments,
            {"label": "Person", "name": " "},
            "name must not be empty, got ' '",
        ),
        (CreateNodeArguments, {"label": "Person", "name": None}, "name must be text, got None"),
        (
            CreateNodeArguments,
            {"label": "Person", "name": "\ud800"},
            "name must be text without halves of surrogate pairs, got '\\ud800'",
        ),
        (
            CreateNodeArguments,
            {"label": "Person", "name": "A", "notes": [{"content": ""}]},
            "notes.0.content must not be empty, got ''",
        ),
        (
            NewRelationship,
            {**RELATIONSHIP, "attitude": 4.5},
            "attitude must be 1 to 5 or the kind's word for it, got 4.5",
        ),
        (
            ExploreArguments,
            {"queries": [{"query": "x", "threshold": 2}]},
            "queries.0.threshold must be at most 1, got 2",
        ),
        (ExploreArguments, {"format": "xml"}, "format must be 'json' or 'text', got 'xml'"),
    ],
)
def test_a_wrong_argument_is_named_with_its_value(model: type[BaseModel], arguments: dict[str, Any], said: str) -> None:
    assert wrong(model, arguments) == said


STEP = {"source_label": "Person"}
INTO = "patterns.0.steps.0"


def pattern(**step: object) -> dict[str, Any]:
    return {"patterns": [{"steps": [{**STEP, **step}]}]}


def combined(**step: object) -> dict[str, Any]:
    return {"combinator": {"type": "UNION", **pattern(**step)}}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (pattern(direction="out"), f"{INTO}.direction must be 'OUTGOING', 'INCOMING' or 'BOTH', got 'OUT'"),
        (combined(direction="out"), f"combinator.{INTO}.direction must be 'OUTGOING', 'INCOMING' or 'BOTH', got 'OUT'"),
        ({"patterns": [{"steps": []}]}, "patterns.0.steps must not be empty, got []"),
        ({"patterns": {"steps": [STEP]}}, "patterns must be a list, got {'steps': [{'source_label': 'Person'}]}"),
        (pattern(relation_type=4), f"{INTO}.relation_type must be text or a list, got 4"),
        (pattern(min_hops=3, max_hops=2), f"{INTO}: min_hops must not be above max_hops, got 3 and 2"),
        ({}, "ask something: give patterns, a combinator, targets, or a query in words"),
        ({"query": "x", "one_path_per": 9}, "one_path_per must be below 8 or 'start' or 'end', got 9"),
    ],
)
def test_a_wrong_pattern_is_told_once_and_in_plain_words(arguments: dict[str, Any], said: str) -> None:
    assert wrong(QueryPatternsArguments, arguments) == said


def test_a_value_that_may_be_of_two_kinds_is_told_once() -> None:
    notes = [7, "", {"contents": "x"}]
    assert wrong(CreateNodeArguments, {"label": "Person", "name": "A", "notes": notes}).split("; ") == [
        "notes.0 must be an object or text, got 7",
        "notes.1 must not be empty, got ''",
        "notes.2.content is missing",
        "notes.2.contents is not an argument of this tool: did you mean content?",
    ]


@pytest.mark.parametrize(
    ("model", "arguments", "said"),
    [
        (
            ExploreArguments,
            {"text_match": ["x"]},
            "text_match is not an argument of this tool: did you mean text_matches?",
        ),
        (
            QueryPatternsArguments,
            pattern(direktion="IN"),
            f"{INTO}.direktion is not an argument of this tool: did you mean direction?",
        ),
        (
            QueryPatternsArguments,
            combined(direktion="IN"),
            f"combinator.{INTO}.direktion is not an argument of this tool: did you mean direction?",
        ),
        (
            QueryPatternsArguments,
            {"query": "x", "traversal": {"depth": 2}},
            "traversal.depth is not an argument of this tool: did you mean max_depth?",
        ),
    ],
)
def test_the_nearest_name_of_the_same_object_is_told(
    model: type[BaseModel], arguments: dict[str, Any], said: str
) -> None:
    assert wrong(model, arguments) == said


def test_a_long_value_is_shortened() -> None:
    said = wrong(NewRelationship, {**RELATIONSHIP, "relationship_type": "x" * 1_000})
    assert said.startswith("relationship_type must have at most 200 characters, got 'xxx")
    assert said.endswith("x...")
    assert len(said) < 250


def test_true_is_no_level() -> None:
    said = wrong(NewRelationship, {**RELATIONSHIP, "attitude": True})
    assert said == "attitude must be 1 to 5 or the kind's word for it, got True"


@pytest.mark.parametrize("text", ["two\nlines", "a\tb", "a\0b", "a\udc00b", "a\u2028b", "x" * 100_000])
def test_an_error_is_one_short_line_that_any_surface_can_write(text: str) -> None:
    error = failure(text)["error"]
    assert error.isprintable()
    assert len(error) <= 2_000
    error.encode()
