"""JSON schemas as a model receives them."""

from typing import Literal

import pytest
from jsonschema import Draft202012Validator, ValidationError
from pydantic import BaseModel, ConfigDict, Field

from kgagent.adapters.json_schema import compact, model_schema


class Inner(BaseModel):
    """Something inside."""

    title: str = Field(description="A field named like a keyword.")


class Outer(BaseModel):
    text: str | None = Field(None, max_length=5, description="A text.")
    inner: Inner | None = None
    either: int | Literal["all"] | None = None
    names: list[str] = Field(default_factory=list)
    count: int = Field(3, ge=1, le=100)
    share: float = Field(0.5, ge=0, le=1)
    level: int | str = 1


SCHEMA = Outer.model_json_schema()


def test_titles_go_and_fields_named_title_stay() -> None:
    schema = compact(SCHEMA)
    assert "title" not in schema
    assert schema["$defs"]["Inner"]["properties"] == {
        "title": {"description": "A field named like a keyword.", "type": "string"}
    }


def test_compact_omits_null_empty_defaults_lengths_and_high_limits() -> None:
    assert compact(SCHEMA)["properties"] == {
        "text": {"type": "string", "description": "A text."},
        "inner": {"$ref": "#/$defs/Inner"},
        "either": {"anyOf": [{"type": "integer"}, {"const": "all", "type": "string"}]},
        "names": {"type": "array", "items": {"type": "string"}},
        "count": {"type": "integer", "default": 3},
        "share": {"type": "number", "minimum": 0, "maximum": 1, "default": 0.5},
        "level": {"type": ["integer", "string"], "default": 1},
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


class Leaf(BaseModel):
    """A leaf."""

    model_config = ConfigDict(extra="forbid")
    color: str = Field(description="Green, mostly, and red or yellow in October; at times both of them in turn.")


class Twig(BaseModel):
    """A twig that twigs grow on."""

    model_config = ConfigDict(extra="forbid")
    twigs: list["Twig"] = Field(default_factory=list)
    first: Leaf
    last: Leaf = Field(description="The last one.")
    only: Inner


class Tree(BaseModel):
    """A tree."""

    model_config = ConfigDict(extra="forbid")
    trunk: Twig


def test_the_schema_for_a_model_keeps_only_definitions_that_make_it_shorter() -> None:
    schema = model_schema(Tree.model_json_schema())
    assert schema["additionalProperties"] is False
    assert "description" not in schema
    # A twig holds itself, and two references to a leaf are shorter than two leaves; what is used once stands in place.
    assert set(schema["$defs"]) == {"Leaf", "Twig"}
    assert schema["$defs"]["Twig"]["properties"]["only"]["properties"].keys() == {"title"}
    assert schema["$defs"]["Twig"]["properties"]["last"] == {"$ref": "#/$defs/Leaf", "description": "The last one."}
    assert str(schema).count("additionalProperties") == 1


def test_the_schema_for_a_model_accepts_what_the_arguments_accept() -> None:
    leaf = {"color": "green"}
    trunk = {"first": leaf, "last": leaf, "only": {"title": "x"}}
    Draft202012Validator(model_schema(Tree.model_json_schema())).validate({"trunk": trunk | {"twigs": [trunk]}})
    with pytest.raises(ValidationError):
        Draft202012Validator(model_schema(Tree.model_json_schema())).validate({"trunk": {"first": leaf}})
