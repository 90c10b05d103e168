"""What tools say of themselves to clients: read-only, destructive, idempotent."""

from typing import Any

import pytest

from kgagent import KnowledgeGraph
from kgagent.knowledge_graph import services_of
from kgagent.tools import TOOLS, Toolset
from tests.support.people import remembered

REPEATABLE = [tool.name for tool in TOOLS if tool.idempotent and not tool.read_only]
ADDING = [tool.name for tool in TOOLS if not tool.destructive and not tool.read_only]


async def arguments_of(name: str, tools: Toolset) -> dict[str, Any]:
    """A call of the tool that changes something, on a graph that has what it needs."""
    friend = {
        "relationship_type": "friend",
        "description": "They met at school.",
        "notes": ["Bo plays chess"],
    }
    people = [{"label": "Person", "name": name} for name in ("Ada", "Bo", "Cy", "Eve")]
    keys = await remembered(
        tools,
        [*people, {"label": "Concept", "name": "Chess"}],
        [{"from": "Ada", "to": "Bo", **friend}],
    )
    ends, new_ends = [
        {"from_entity_key": keys["Ada"], "to_entity_key": keys[other]} for other in ("Bo", "Cy")
    ]
    calls: dict[str, dict[str, Any]] = {
        "remember": {
            "nodes": [{"label": "Person", "name": "Dee"}],
            "relationships": [{**ends, "proximity": 2}],
        },
        "create_node": {"label": "Person", "name": "Dee"},
        "update_node": {
            "entity_key": keys["Chess"],
            "description": "A game",
            "notes": ["It is old"],
        },
        "create_relationship": {
            **new_ends,
            "relationship_type": "neighbour",
            "notes": ["They share a fence"],
        },
        "update_relationship": {**ends, "description": "They met at work.", "clear": ["attitude"]},
        "add_note_to_relationship": {**ends, "content": "They quarrelled in May"},
        "restore": {"entity_key": "Eve"},
    }
    if name == "restore":
        await tools.delete_node(entity_key="Eve")
    return calls[name]


async def stored(graph: KnowledgeGraph, user_id: str) -> dict[str, dict[str, Any]]:
    """All that is stored for a user, by element."""
    rows = await services_of(graph).store.read(
        "MATCH (n) WHERE n.user_id = $user_id AND NOT n:KgagentDeletedNode OPTIONAL MATCH "
        "(n)-[r]->() "
        "RETURN elementId(n) AS node, properties(n) AS of_node, elementId(r) AS relationship, "
        "properties(r) AS of_it",
        {"user_id": user_id},
    )
    nodes = {row["node"]: row["of_node"] for row in rows}
    return nodes | {
        row["relationship"]: row["of_it"] for row in rows if row["relationship"] is not None
    }


@pytest.mark.parametrize("name", REPEATABLE)
async def test_repeating_an_idempotent_call_changes_nothing(
    graph: KnowledgeGraph, tools: Toolset, user_id: str, name: str
) -> None:
    arguments = await arguments_of(name, tools)
    before = await stored(graph, user_id)
    assert (await tools[name](**arguments))["success"] is True
    once = await stored(graph, user_id)
    assert once != before
    await tools[name](**arguments)
    assert await stored(graph, user_id) == once


@pytest.mark.parametrize("name", ADDING)
async def test_a_call_that_is_not_destructive_keeps_all_data(
    graph: KnowledgeGraph, tools: Toolset, user_id: str, name: str
) -> None:
    arguments = await arguments_of(name, tools)
    before = await stored(graph, user_id)
    assert (await tools[name](**arguments))["success"] is True
    after = await stored(graph, user_id)
    assert before.keys() <= after.keys()
    for element, properties in before.items():
        for said in ("name", "description", "relationship_type", "attitude", "proximity"):
            assert after[element].get(said) == properties.get(said)
        notes_before, notes_after = (
            item.get("notes_text") or "" for item in (properties, after[element])
        )
        assert notes_after.startswith(notes_before)
