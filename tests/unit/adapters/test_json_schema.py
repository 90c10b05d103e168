"""JSON schemas as a model receives them."""

from typing import Literal

import pytest
from jsonschema import Draft202012Validator, ValidationError
from pydantic import BaseModel, Field

from kgagent.adapters.json_schema import compact, without_titles


class Inner(BaseModel):
    """Something inside."""

    title: str = Field(description="A field named like a keyword.")


class Outer(BaseModel):
    text: str | None = Field(None, max_length=5, description="A text.")
    inner: Inner | None = None
    either: int | Literal["all"] | None = None
    names: list[str] = Field(default_factory=list)
    count: int = 3


SCHEMA = Outer.model_json_schema()


def test_titles_go_and_fields_named_title_stay() -> None:
    schema = without_titles(SCHEMA)
    assert "title" not in schema
    assert schema["$defs"]["Inner"]["properties"] == {
        "title": {"description": "A field named like a keyword.", "type": "string"}
    }


def test_compact_omits_null_empty_defaults_and_lengths() -> None:
    assert compact(SCHEMA)["properties"] == {
        "text": {"type": "string", "description": "A text."},
        "inner": {"$ref": "#/$defs/Inner"},
        "either": {"anyOf": [{"type": "integer"}, {"const": "all", "type": "string"}]},
        "names": {"type": "array", "items": {"type": "string"}},
        "count": {"type": "integer", "default": 3},
    }


def test_a_compact_schema_accepts_the_same_values_but_null_and_any_length() -> None:
    full, short = Draft202012Validator(SCHEMA), Draft202012Validator(compact(SCHEMA))
    for valid in ({}, {"text": "a", "either": "all"}, {"either": 4, "inner": {"title": "x"}, "names": ["a"]}):
        full.validate(valid)
        short.validate(valid)
    refused: tuple[dict[str, object], ...] = ({"text": 7}, {"inner": {}}, {"either": "some"}, {"count": "3"})
    for invalid in refused:
        for validator in (full, short):
            with pytest.raises(ValidationError):
                validator.validate(invalid)
