"""JSON schemas as a model receives them."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from kgagent.adapters.json_schema import arguments_schema, compact, described_schema, strict_schema
from kgagent.tools import TOOLS, Tool
from tests.support.openai_models import not_strict

SHARED_KEYWORDS = {
    *("type", "properties", "required", "items", "anyOf", "enum"),
    *("description", "default", "minimum", "maximum"),
}
"""What Gemini, OpenAI and strict clients of MCP understand alike; Gemini's converter fails at
additionalProperties.
"""

by_name = pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)


def parts(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """A schema and all its parts."""
    yield schema
    inner = [*schema.get("properties", {}).values(), *schema.get("anyOf", ())]
    for part in [*inner, *([schema["items"]] if "items" in schema else [])]:
        yield from parts(part)


@by_name
def test_the_arguments_of_a_tool_are_described_in_the_subset_of_all_providers(
    tool: Tool[Any],
) -> None:
    schema = arguments_schema(tool.arguments)
    assert schema["type"] == "object"
    for part in parts(schema):
        assert part.keys() <= SHARED_KEYWORDS
        assert isinstance(part.get("type"), str) or "anyOf" in part
        assert part.get("type") != "object" or part["properties"]
        assert part.get("type") != "array" or "items" in part
        assert set(part.get("required", ())) <= set(part.get("properties", ()))


@by_name
def test_the_arguments_of_a_tool_have_a_strict_form(tool: Tool[Any]) -> None:
    schema = arguments_schema(tool.arguments)
    strict = strict_schema(schema)
    assert list(not_strict(strict, strict)) == []
    assert "default" not in {key for part in parts(strict) for key in part}
    assert schema == arguments_schema(tool.arguments)


class Inner(BaseModel):
    """Something inside."""

    model_config = ConfigDict(extra="forbid")
    title: str = Field(description="A field named like a keyword.")


class Outer(BaseModel):
    text: str | None = Field(None, max_length=5, description="A text.")
    inner: Inner | None = None
    other: Inner | None = Field(None, description="Another.")
    either: int | Literal["all"] | None = None
    names: list[str] = Field(default_factory=list)
    count: int = Field(3, ge=1, le=100)
    share: float = Field(0.5, ge=0, le=1)


def test_compact_omits_what_a_model_does_not_need_and_describes_a_class_once() -> None:
    assert compact(Outer.model_json_schema())["properties"] == {
        "text": {"type": "string", "description": "A text."},
        "inner": {
            "type": "object",
            "properties": {
                "title": {"type": "string", "description": "A field named like a keyword."}
            },
            "required": ["title"],
        },
        "other": {
            "type": "object",
            "properties": {"title": {"type": "string"}},
            "required": ["title"],
            "description": "Another.",
        },
        "either": {"anyOf": [{"type": "integer"}, {"enum": ["all"], "type": "string"}]},
        "names": {"type": "array", "items": {"type": "string"}},
        "count": {"type": "integer", "default": 3},
        "share": {"type": "number", "minimum": 0, "maximum": 1, "default": 0.5},
    }


def test_in_a_strict_schema_null_means_the_default() -> None:
    strict = strict_schema(compact(Outer.model_json_schema()))
    assert strict["required"] == list(Outer.model_fields)
    assert strict["properties"]["count"] == {
        "anyOf": [{"type": "integer"}, {"type": "null"}],
        "description": "Null means 3.",
    }
    assert strict["properties"]["either"]["anyOf"][-1] == {"type": "null"}
    assert strict["properties"]["inner"]["anyOf"][0]["additionalProperties"] is False


def test_the_rest_of_a_long_description_describes_the_last_parameter() -> None:
    description = " ".join(["A sentence of some length."] * 50)
    short, schema = described_schema(description, arguments_schema(TOOLS[0].arguments))
    *_, last = schema["properties"].values()
    assert len(short) <= 1024
    assert short.endswith(".")
    assert last["description"].endswith(description.removeprefix(short).strip())
    assert "A sentence" not in json.dumps(arguments_schema(TOOLS[0].arguments))


def test_only_an_ontology_with_several_types_for_a_pair_has_a_choice_of_neo4j_type() -> None:
    tools = {tool.name: tool.arguments for tool in TOOLS}
    for name in ("create_relationship", "remember", "get_relationship"):
        assert "neo4j_type" not in json.dumps(arguments_schema(tools[name]))
        schema = arguments_schema(tools[name], ("ACTED_IN", "DIRECTED"))
        assert '"enum": ["ACTED_IN", "DIRECTED"]' in json.dumps(schema)
    many = json.dumps(
        arguments_schema(tools["remember"], tuple(f"T{number}" for number in range(100)))
    )
    assert "neo4j_type" in many
    assert "T50" not in many
