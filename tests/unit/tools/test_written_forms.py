"""The forms in which models and their frameworks write arguments: JSON as text, one item for a
list, and null.
"""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import BaseModel

from kgagent.adapters.json_schema import compact
from kgagent.errors import InputError
from kgagent.models import Constraint
from kgagent.tools import TOOLS, Tool
from kgagent.tools.explore import ExploreArguments
from kgagent.tools.items import RememberArguments, Unchecked
from kgagent.validation import models_of_fields, validate

by_name = pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)


def models_of(model: type[BaseModel]) -> set[type[BaseModel]]:
    """A model, and the models in it at any depth."""
    known: set[type[BaseModel]] = set()
    left = [model]
    while left:
        if (current := left.pop()) not in known:
            known.add(current)
            left += [inner for found in models_of_fields(current).values() for inner in found]
    return known


SAMPLES = {"string": "Ruth", "boolean": True, "integer": 1, "number": 1}


def sample(schema: Mapping[str, Any]) -> Any:
    """A value that a schema describes, with all properties of its objects that are required."""
    if "anyOf" in schema:
        schema = next(
            (part for part in schema["anyOf"] if part["type"] == "array"), schema["anyOf"][0]
        )
    if schema["type"] == "object":
        required = schema.get("required", list(schema["properties"])[:1])
        return {name: sample(schema["properties"][name]) for name in required}
    if schema["type"] == "array":
        return [sample(schema["items"])]
    return schema.get("default", schema["enum"][0] if "enum" in schema else SAMPLES[schema["type"]])


def outcome(model: type[BaseModel], arguments: Mapping[str, Any]) -> object:
    """The valid arguments, or the error without the value."""
    try:
        return [_validated(value) for _, value in validate(model, dict(arguments))]
    except InputError as error:
        return str(error).partition(", got ")[0]


def _validated(value: object) -> object:
    if isinstance(value, list):
        return [_validated(item) for item in value]
    return value.validated() if isinstance(value, Unchecked) else value


@by_name
def test_every_list_and_object_of_every_tool_may_be_json_text(tool: Tool[Any]) -> None:
    for model in models_of(tool.arguments):
        schema = compact(model.model_json_schema())
        required = {name: sample(schema["properties"][name]) for name in schema.get("required", ())}
        for name, part in schema["properties"].items():
            value = sample(part)
            given = {**required, name: value}
            expected = outcome(model, given)
            assert f"{name} must be" not in str(expected), (model, name)
            # The type of a constraint says whether its value is a list.
            if isinstance(value, list | dict) and model is not Constraint:
                assert outcome(model, {**given, name: json.dumps(value)}) == expected, (model, name)
                assert (
                    outcome(model, {**given, name: f" {json.dumps(value, indent=1)}\n"}) == expected
                )
            if isinstance(value, list) and value and isinstance(value[0], dict):
                assert outcome(model, {**given, name: [json.dumps(value[0])]}) == expected, (
                    model,
                    name,
                )
                assert outcome(model, {**given, name: json.dumps(value[0])}) == expected, (
                    model,
                    name,
                )


@by_name
def test_null_is_the_default_of_every_argument_of_every_tool(tool: Tool[Any]) -> None:
    for model in models_of(tool.arguments):
        schema = compact(model.model_json_schema())
        required = {name: sample(schema["properties"][name]) for name in schema.get("required", ())}
        without = outcome(model, required)
        refused = getattr(model, "refused", ())
        optional = [name for name in model.model_fields if name not in {*required, *refused}]
        assert outcome(model, required | dict.fromkeys(optional)) == without
        for name in required:
            assert f"{name} is missing" in str(outcome(model, {**required, name: None}))


def test_text_that_is_not_json_of_the_wanted_kind_stays_text_or_is_refused() -> None:
    assert validate(ExploreArguments, {"text_matches": "{Ruth"}).text_matches == ("{Ruth",)
    for wrong in ('["a"', "7"):
        assert "must be" in str(outcome(RememberArguments, {"nodes": wrong}))


def test_the_values_of_a_constraint_may_be_json_text_where_its_type_takes_a_list() -> None:
    given = {"property_path": "name", "value": '["Ruth"]'}
    assert Constraint.model_validate({**given, "type": "PROPERTY_IN"}).value == ["Ruth"]
    assert Constraint.model_validate({**given, "type": "CONTAINS"}).value == '["Ruth"]'


def test_json_text_with_very_many_values_is_refused() -> None:
    text = "[" + ",".join(["1"] * 20_000) + "]"
    assert "JSON as text may have at most 6,000 values" in str(
        outcome(ExploreArguments, {"labels": text})
    )
