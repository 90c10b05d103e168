"""Which tools belong to which toolset."""

import re
from typing import get_args

import pytest

from kgagent.errors import InputError
from kgagent.ontology import default_ontology
from kgagent.settings import ToolsetName
from kgagent.tools import TOOLS
from kgagent.tools.toolsets import TOOLSETS, tools_of, toolsets_with, why_missing

NAMES = {tool.name for tool in TOOLS}


def test_every_tool_belongs_to_a_toolset_and_every_toolset_has_only_tools() -> None:
    assert tools_of("all") == NAMES
    assert all(len(set(tools)) == len(tools) for tools in TOOLSETS.values())


def test_the_settings_know_every_toolset() -> None:
    assert get_args(ToolsetName) == (*TOOLSETS, "all")


def test_core_is_what_an_agent_needs_in_at_most_ten_tools() -> None:
    of_the_documents = {
        "explore",
        "create_relationship",
        "update_relationship",
        "add_note_to_relationship",
    }
    needed = {"remember", "hybrid_search", *of_the_documents}
    assert needed <= tools_of("core")
    assert len(tools_of("core")) <= 10


def test_an_agent_that_stores_can_also_correct_what_it_stored() -> None:
    correcting = {"merge_nodes", "delete_node", "delete_relationship"}
    assert all(
        correcting <= set(tools) for tools in TOOLSETS.values() if "create_relationship" in tools
    )
    assert correcting <= set(TOOLSETS["admin"])


def test_toolsets_are_given_as_a_collection_or_separated_by_commas() -> None:
    assert (
        tools_of("core, patterns")
        == tools_of(["core", "patterns"])
        == tools_of("core") | tools_of({"patterns"})
    )
    assert "describe_graph" in tools_of("graph") & tools_of("patterns")


def test_an_unknown_toolset_is_answered_with_the_names() -> None:
    with pytest.raises(InputError) as refused:
        tools_of("core,pattern")
    assert str(refused.value) == (
        "Unknown toolset: 'pattern'. Did you mean patterns? Toolsets: core, graph, patterns, "
        "admin, all"
    )
    with pytest.raises(InputError, match="Toolsets: core, graph"):
        tools_of("")
    with pytest.raises(InputError, match=r"No toolset is given. Toolsets: core, graph"):
        tools_of([])


def test_a_missing_tool_is_answered_with_its_toolset() -> None:
    assert toolsets_with("describe_graph") == ["graph", "patterns"]
    assert why_missing("describe_graph", ["explore"]) == (
        "describe_graph belongs to the toolset graph or patterns, which is not offered here; there "
        "are explore"
    )
    assert why_missing("drop_all", ["explore"]) == "No tool is called 'drop_all'; there are explore"


def test_a_description_names_only_tools_of_core_and_of_its_own_toolsets() -> None:
    named_elsewhere = {}
    for tool in TOOLS:
        named = set(re.findall(r"[a-z]+(?:_[a-z]+)*", tool.description(default_ontology()))) & NAMES
        beside = tools_of(["core", *toolsets_with(tool.name)])
        if tool.name in tools_of("core"):
            beside = tools_of("core")
        if named - beside:
            named_elsewhere[tool.name] = named - beside
    assert named_elsewhere == {}
