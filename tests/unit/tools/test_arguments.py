"""What a model reads of the tools before it calls one."""

from collections.abc import Iterator
from typing import Any

import pytest

from kgagent.ontology import default_ontology
from kgagent.tools import TOOLS
from kgagent.tools.base import Tool

NAMES = {
    "explore",
    "describe_graph",
    "hybrid_search",
    "query_patterns",
    "get_relationship",
    "traverse",
    "find_paths",
    "create_node",
    "update_node",
    "create_relationship",
    "create_relationships",
    "update_relationship",
    "update_relationships",
    "add_note_to_relationship",
    "delete_relationship",
    "restore_relationship",
    "merge_nodes",
}

by_name = pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)


def fields(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for part in (schema, *schema.get("$defs", {}).values()):
        yield from part.get("properties", {}).items()


def test_these_are_the_tools() -> None:
    assert {tool.name for tool in TOOLS} == NAMES


@by_name
def test_every_field_is_described(tool: Tool[Any]) -> None:
    undescribed = [name for name, field in fields(tool.arguments.model_json_schema()) if not field.get("description")]
    assert undescribed == []


@by_name
def test_every_text_has_a_longest_length(tool: Tool[Any]) -> None:
    def texts(part: Any) -> Iterator[dict[str, Any]]:
        if isinstance(part, dict):
            if part.get("type") == "string" and "enum" not in part:
                yield part
            for item in part.values():
                yield from texts(item)
        elif isinstance(part, list):
            for item in part:
                yield from texts(item)

    assert all("maxLength" in text for text in texts(tool.arguments.model_json_schema()))


@by_name
def test_no_tool_takes_the_user(tool: Tool[Any]) -> None:
    assert not {name for name, _ in fields(tool.arguments.model_json_schema())} & {"user_id", "added_by", "created_by"}


@by_name
def test_unknown_arguments_are_refused_at_every_depth(tool: Tool[Any]) -> None:
    schema = tool.arguments.model_json_schema()
    objects = [part for part in (schema, *schema.get("$defs", {}).values()) if part.get("type") == "object"]
    assert all(part["additionalProperties"] is False for part in objects)


@by_name
def test_a_description_is_sentences_on_one_line(tool: Tool[Any]) -> None:
    description = tool.description(default_ontology())
    assert len(description) > 40
    assert "\n" not in description
    assert "  " not in description
    assert description.endswith(".")


def test_the_words_for_levels_stand_in_one_description() -> None:
    ontology = default_ontology()
    descriptions = {tool.name: tool.description(ontology) for tool in TOOLS}
    for definition in ontology.relationships.values():
        words = f"{definition.from_label}-{definition.to_label}: attitude {'/'.join(definition.attitude)}"
        assert [name for name, text in descriptions.items() if words in text] == ["create_relationship"]
    assert "create_relationship" in descriptions["create_relationships"]


def test_tools_that_only_read_say_so() -> None:
    reading = {
        "explore",
        "describe_graph",
        "hybrid_search",
        "query_patterns",
        "get_relationship",
        "traverse",
        "find_paths",
    }
    assert {tool.name for tool in TOOLS if tool.read_only} == reading
