from typing import Any

import pytest
from pydantic import Field, ValidationError

from kgagent.errors import InputError
from kgagent.models.request import RequestModel
from kgagent.validation import explain_validation_error, validate


class Part(RequestModel):
    size: int = Field(ge=1, description="Size of the part.")


class Whole(RequestModel):
    name: str = "whole"
    parts: tuple[Part, ...] = ()


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"name": 3}, "name must be text, got 3"),
        ({"parts": [{"size": 0}]}, "parts.0.size must be at least 1, got 0"),
        ({"parts": [{"size": 1}, {}]}, "parts.1.size is missing"),
        ({"nmae": "x"}, "unknown field nmae: did you mean name?"),
        (
            {"name": 3, "parts": [{"size": 0}]},
            "name must be text, got 3; parts.0.size must be at least 1, got 0",
        ),
    ],
)
def test_a_bad_field_is_an_input_error_that_says_where(given: dict[str, Any], text: str) -> None:
    with pytest.raises(InputError) as caught:
        Whole(**given)
    assert str(caught.value) == text
    assert isinstance(caught.value, ValueError)


def test_an_invalid_nested_request_reports_the_same_error_alone() -> None:
    with pytest.raises(InputError, match=r"^size must be at least 1, got 0$"):
        Part(size=0)


def test_validation_by_a_framework_raises_the_error_of_pydantic_with_its_places() -> None:
    with pytest.raises(ValidationError) as caught:
        Whole.model_validate({"parts": [{"size": 0}]})
    assert [error["loc"] for error in caught.value.errors()] == [("parts", 0, "size")]
    assert explain_validation_error(caught.value, Whole) == "parts.0.size must be at least 1, got 0"
    with pytest.raises(InputError, match=r"^parts\.0\.size must be at least 1, got 0$"):
        validate(Whole, {"parts": [{"size": 0}]})


def test_the_schema_is_that_of_the_fields() -> None:
    schema = Whole.model_json_schema()
    assert schema["properties"]["parts"]["items"] == {"$ref": "#/$defs/Part"}
    assert schema["$defs"]["Part"]["properties"]["size"]["description"] == "Size of the part."
    assert schema["$defs"]["Part"]["required"] == ["size"]


def test_json_becomes_a_request_and_json_again() -> None:
    whole = Whole.model_validate_json('{"parts": [{"size": 2}]}')
    assert whole == Whole(parts=(Part(size=2),))
    assert Whole.model_validate_json(whole.model_dump_json()) == whole
