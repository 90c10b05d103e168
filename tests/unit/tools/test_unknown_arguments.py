"""An error about an unknown argument names the tools that have it."""

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from kgagent.tools.registry import TOOLS
from kgagent.tools.unknown_arguments import other_tools_with

ARGUMENTS: dict[str, type[BaseModel]] = {tool.name: tool.arguments for tool in TOOLS}


def elsewhere(tool: str, **given: Any) -> str:
    with pytest.raises(ValidationError):
        ARGUMENTS[tool].model_validate(given)
    return other_tools_with(given, ARGUMENTS[tool], ARGUMENTS)


def test_the_tool_with_the_argument_is_named() -> None:
    assert elsewhere("get_relationship", from_entity_key="a", to_entity_key="b", keep_entity_key="c") == (
        "merge_nodes takes keep_entity_key"
    )


def test_at_most_three_tools_are_named() -> None:
    said = elsewhere("get_relationship", from_entity_key="a", to_entity_key="b", description="c")
    tools, _, rest = said.partition(" and ")
    assert (len(tools.split(", ")), rest.split()[1:]) == (2, ["take", "description"])


def test_an_argument_of_no_tool_and_other_problems_are_not_explained() -> None:
    assert not elsewhere("get_relationship", from_entity_key="a", to_entity_key="b", colour="red")
    assert not elsewhere("get_relationship", from_entity_key=1)
