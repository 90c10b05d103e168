"""What an agent is told to do, it can do: answers name only tools that it has."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from kgagent import KnowledgeGraph
from kgagent.adapters.langchain import get_tools
from kgagent.adapters.openai import OpenAITools
from kgagent.tools import Toolset
from kgagent.tools.payload import dump
from tests.support.payloads import error_of, succeeded
from tests.support.stored import Database

BY_COMMANDS = " (`kgagent restore`), or erase it at once (`kgagent purge --user … --restorable`)"
RUTH_CALDER = {
    "label": "Person",
    "name": "Ruth Calder",
    "description": "Naval architect in Bergen.",
}
RUTH = {"label": "Person", "name": "Ruth", "description": "Naval architect in Bergen."}

Call = Callable[[str, dict[str, Any]], Awaitable[str]]


@pytest.fixture
def core(graph: KnowledgeGraph, user_id: str) -> Toolset:
    return graph.tools(user_id=user_id, toolsets="core")


async def test_core_repairs_a_duplicate_and_removes_what_was_wrong(
    core: Toolset, database: Database
) -> None:
    sailing = {"label": "Concept", "name": "Sailing"}
    await core.remember.call_text({"nodes": [RUTH_CALDER, sailing]})
    likes = {"from": "Ruth", "to": "Sailing", "relationship_type": "likes"}
    answer = await core.remember.call_text(
        {"nodes": [{**RUTH, "notes": ["Owns a sloop."]}], "relationships": [likes]}
    )
    [created] = answer.payload["created_nodes"]
    keep = {one["name"]: one["entity_key"] for one in await database.nodes()}["Ruth Calder"]
    drop = created["entity_key"]
    merged = await core.merge_nodes.call_text(
        {"keep_entity_key": keep[:8], "drop_entity_key": drop[:8]}
    )
    assert merged.text.splitlines() == [
        "Merged Ruth into Person Ruth Calder; the user can undo it until "
        f"{merged.payload['undo_until'][:16]}Z{BY_COMMANDS}",
        f"entity_key: {keep}",
        "Relationships: 1 moved",
        "Aliases: Ruth",
    ]
    ends = {"from_entity_key": "Ruth Calder", "to_entity_key": "Sailing"}
    deleted = await core.delete_relationship.call_text(ends)
    assert deleted.text.splitlines()[0] == (
        "Deleted relationship between Ruth Calder and Sailing; the user can undo it until "
        f"{deleted.payload['undo_until'][:16]}Z{BY_COMMANDS}"
    )
    removed = await core.delete_node.call_text({"entity_key": "Sailing"})
    assert removed.text.splitlines()[0] == (
        f"Deleted Concept Sailing; the user can undo it until "
        f"{removed.payload['undo_until'][:16]}Z{BY_COMMANDS}"
    )
    [stored] = await database.nodes()
    assert (stored["name"], "Owns a sloop." in stored["notes"]) == ("Ruth Calder", True)


def calling_langchain(graph: KnowledgeGraph, user_id: str, names: list[str]) -> Call:
    tools = {tool.name: tool for tool in get_tools(graph, user_id=user_id, names=names)}

    async def call(name: str, arguments: dict[str, Any]) -> str:
        return str(await tools[name].ainvoke(arguments))

    return call


def calling_openai(graph: KnowledgeGraph, user_id: str, names: list[str]) -> Call:
    tools = OpenAITools(graph.tools(user_id=user_id), names=names)

    async def call(name: str, arguments: dict[str, Any]) -> str:
        return await tools.call(name, dump(arguments))

    return call


@pytest.mark.parametrize("surface", [calling_langchain, calling_openai])
async def test_a_surface_with_chosen_names_names_no_other_tools(
    graph: KnowledgeGraph, user_id: str, surface: Callable[[KnowledgeGraph, str, list[str]], Call]
) -> None:
    alone = surface(graph, user_id, ["remember"])
    await alone("remember", {"nodes": [RUTH_CALDER]})
    several = surface(graph, user_id, ["remember", "delete_node", "restore"])
    await several("remember", {"nodes": [{"label": "Concept", "name": "Sailing"}]})
    ends = {"from_entity_key": "Ruth Calder", "to_entity_key": "Sailing"}
    single = surface(graph, user_id, ["get_relationship"])
    assert "Relationship not found" in (error := await single("get_relationship", ends))
    assert "find_paths" not in error
    assert "; restore can undo it" in await several("delete_node", {"entity_key": "Sailing"})


async def test_errors_about_missing_relationships_name_restore_only_where_it_is(
    core: Toolset, tools: Toolset
) -> None:
    await core.remember(nodes=[RUTH_CALDER, {"label": "Concept", "name": "Sailing"}])
    ends = {"from_entity_key": "Ruth Calder", "to_entity_key": "Sailing"}
    for offered, is_named in ((core, False), (tools, True)):
        errors = [error_of(await offered.delete_relationship(**ends))]
        errors.append(
            error_of(await offered.add_note_to_relationship(**ends, content="She likes it."))
        )
        assert [("restore" in error) for error in errors] == [is_named, is_named]
    succeeded(await core.create_relationship(**ends, relationship_type="likes"))
