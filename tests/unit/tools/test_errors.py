"""How wrong arguments are told to a model."""

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from kgagent.tools.base import explain, failure
from kgagent.tools.create_node import CreateNodeArguments
from kgagent.tools.explore import ExploreArguments
from kgagent.tools.relationship_arguments import NewRelationship

RELATIONSHIP = {"from_entity_key": "a", "to_entity_key": "b", "relationship_type": "friend"}


def wrong(model: type[BaseModel], arguments: dict[str, Any]) -> str:
    with pytest.raises(ValidationError) as refused:
        model.model_validate(arguments)
    return explain(refused.value)


@pytest.mark.parametrize(
    ("model", "arguments", "said"),
    [
        (CreateNodeArguments, {"name": "A"}, "label is missing"),
        (CreateNodeArguments, {"label": "Person", "name": "A", "colour": 1}, "colour is not an argument of this tool"),
        (CreateNodeArguments, {"label": "Person", "name": "A", "int": 1}, "int is not an argument of this tool"),
        (
            CreateNodeArguments,
            {"label": "Person", "name": " "},
            "name: String should have at least 1 character, got ' '",
        ),
        (CreateNodeArguments, {"label": "Person", "name": None}, "name: Input should be a valid string, got None"),
        (
            CreateNodeArguments,
            {"label": "Person", "name": "\ud800"},
            "name: Input should be a valid string, unable to parse raw data as a unicode string, got '\\ud800'",
        ),
        (
            CreateNodeArguments,
            {"label": "Person", "name": "A", "notes": [{"content": ""}]},
            "notes.0.content: String should have at least 1 character, got ''; "
            "notes.0: Input should be a valid string, got {'content': ''}",
        ),
        (
            NewRelationship,
            {**RELATIONSHIP, "attitude": 4.5},
            "attitude: Input should be a valid integer, got 4.5; attitude: Input should be a valid string, got 4.5",
        ),
        (
            ExploreArguments,
            {"queries": [{"query": "x", "threshold": 2}]},
            "queries.0.threshold: Input should be less than or equal to 1, got 2",
        ),
        (ExploreArguments, {"format": "xml"}, "format: Input should be 'json' or 'text', got 'xml'"),
    ],
)
def test_a_wrong_argument_is_named_with_its_value(model: type[BaseModel], arguments: dict[str, Any], said: str) -> None:
    assert wrong(model, arguments) == said


def test_a_long_value_is_shortened() -> None:
    said = wrong(NewRelationship, {**RELATIONSHIP, "relationship_type": "x" * 1_000})
    assert said.startswith("relationship_type: String should have at most 200 characters, got 'xxx")
    assert said.endswith("x...")
    assert len(said) < 250


def test_true_is_no_level() -> None:
    assert "attitude: Input should be a valid integer, got True" in wrong(
        NewRelationship, {**RELATIONSHIP, "attitude": True}
    )


@pytest.mark.parametrize("text", ["two\nlines", "a\tb", "a\0b", "a\udc00b", "a\u2028b", "x" * 100_000])
def test_an_error_is_one_short_line_that_any_surface_can_write(text: str) -> None:
    error = failure(text)["error"]
    assert error.isprintable()
    assert len(error) <= 2_000
    error.encode()
