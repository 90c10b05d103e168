import json
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from kgagent.adapters.openai.strict_schema import strict_schema, without_nulls
from tests.support.openai_models import not_strict


class Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Leaf(Closed):
    kind: Literal["leaf"]
    title: str = Field(min_length=1, pattern="[a-z]+", description="A property that is called title.")
    weight: float | None = Field(None, ge=0)


class Branch(Closed):
    kind: Literal["branch"]
    children: list["Branch | Leaf"] = Field(max_length=3)


class Tree(Closed):
    root: Annotated[Branch | Leaf, Field(discriminator="kind", description="Where it begins.")]
    described: Leaf = Field(description="A reference with a description beside it.")
    depth: int = Field(2, description="How deep.")
    tags: set[str] = Field(default_factory=set)


def test_recursion_alternatives_and_references_are_written_strictly() -> None:
    schema = strict_schema(Tree.model_json_schema())
    assert schema is not None
    assert list(not_strict(schema, schema)) == []
    assert schema["properties"]["described"]["description"] == "A reference with a description beside it."
    assert schema["properties"]["depth"] == {
        "anyOf": [{"type": "integer"}, {"type": "null"}],
        "description": "How deep. Null means 2.",
    }
    leaf = schema["$defs"]["Leaf"]
    assert list(leaf["properties"]) == ["kind", "title", "weight"]
    assert leaf["properties"]["weight"]["anyOf"].count({"type": "null"}) == 1


def test_strict_arguments_are_valid_for_the_plain_model() -> None:
    leaf = {"kind": "leaf", "title": "x", "weight": None}
    said = {"root": {"kind": "branch", "children": [leaf]}, "described": leaf, "depth": None, "tags": None}
    taken = Tree.model_validate_json(without_nulls(json.dumps(said)))
    assert (taken.depth, taken.tags) == (2, set())


@pytest.mark.parametrize("said", ["", "{", "[" * 100_000, "null", "7"])
def test_text_that_is_not_an_object_is_unchanged(said: str) -> None:
    assert without_nulls(said) == said


class OfAnyNames(Closed):
    counts: dict[str, int]


class OfAnyType(Closed):
    value: Any


class OfAnyItems(Closed):
    values: list[Any]


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    name: str


class Pair(Closed):
    pair: tuple[int, str]


@pytest.mark.parametrize("model", [OfAnyNames, OfAnyType, OfAnyItems, Open, Pair, Branch])
def test_a_model_without_strict_form_is_refused(model: type[BaseModel]) -> None:
    assert strict_schema(model.model_json_schema()) is None
