"""What a model reads of the tools before it calls one."""

from collections.abc import Iterator
from typing import Any, get_args

import pytest
from pydantic import BaseModel, ValidationError

from kgagent.ontology import default_ontology
from kgagent.tools import TOOLS
from kgagent.tools.base import Tool
from kgagent.tools.ontology_guide import ontology_guide
from kgagent.tools.write_tools import CreateRelationshipArguments

by_name = pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)


def fields(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for part in (schema, *schema.get("$defs", {}).values()):
        yield from part.get("properties", {}).items()


@by_name
def test_every_field_is_described(tool: Tool[Any]) -> None:
    undescribed = [
        name
        for name, field in fields(tool.arguments.model_json_schema())
        if not field.get("description")
    ]
    assert undescribed == []


def models_in(annotation: object, known: set[type[BaseModel]]) -> set[type[BaseModel]]:
    """Add the models that a value may contain, at any depth, to those that are known."""
    if (
        isinstance(annotation, type)
        and issubclass(annotation, BaseModel)
        and annotation not in known
    ):
        known.add(annotation)
        for field in annotation.model_fields.values():
            models_in(field.annotation, known)
    for argument in get_args(annotation):
        models_in(argument, known)
    return known


@by_name
def test_every_text_has_a_maximum_length(tool: Tool[Any]) -> None:
    endless = "x" * 1_000_000
    accepted = []
    for model in models_in(tool.arguments, set()):
        for name in model.model_fields:
            for value in (endless, [endless]):
                try:
                    model.model_validate({name: value})
                except ValidationError as error:
                    if any(item["loc"][:1] == (name,) for item in error.errors()):
                        continue
                accepted.append(f"{model.__name__}.{name}")
    # The length of a constraint's value is checked together with its type, and the items of
    # remember one by one.
    items = {f"RememberArguments.{name}" for name in ("nodes", "relationships", "notes")}
    items |= {"RememberedNode.notes", "RememberedRelationship.notes"}
    assert set(accepted) <= {"Constraint.value", "RememberArguments.source_text", *items}


@by_name
def test_no_tool_takes_the_user(tool: Tool[Any]) -> None:
    assert not {name for name, _ in fields(tool.arguments.model_json_schema())} & {
        "user_id",
        "added_by",
        "created_by",
    }


@by_name
def test_unknown_arguments_are_refused_at_every_depth(tool: Tool[Any]) -> None:
    schema = tool.arguments.model_json_schema()
    objects = [
        part for part in (schema, *schema.get("$defs", {}).values()) if part.get("type") == "object"
    ]
    assert all(part["additionalProperties"] is False for part in objects)


@by_name
def test_a_description_is_sentences_on_one_line(tool: Tool[Any]) -> None:
    description = tool.description(default_ontology())
    assert len(description) > 40
    assert "\n" not in description
    assert "  " not in description
    assert description.endswith(".")


def test_the_words_for_levels_stand_in_no_definition_but_in_the_guide() -> None:
    ontology = default_ontology()
    descriptions = {tool.name: tool.description(ontology) for tool in TOOLS}
    for definition in ontology.relationships.values():
        words = "/".join(definition.attitude)
        assert words in ontology_guide(ontology)
        assert [name for name, text in descriptions.items() if words in text] == []
    for field in ("attitude", "proximity"):
        assert "1 to 5" in str(CreateRelationshipArguments.model_fields[field].description)
