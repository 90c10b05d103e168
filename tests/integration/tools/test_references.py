"""Tools take names, the first characters of keys and "me" wherever they take an entity_key."""

from typing import Any

import pytest

from kgagent.tools import Toolset
from tests.support.payloads import error_of, succeeded
from tests.support.people import node, person, relate, remembered


@pytest.fixture
async def keys(tools: Toolset) -> dict[str, str]:
    """Anna, the owner, and Ruth, her mentor."""
    keys = await remembered(
        tools,
        [
            {"label": "Person", "name": "Anna", "is_owner": True},
            {"label": "Person", "name": "Ruth Calder", "description": "Architect."},
        ],
        [
            {
                "from": "Ruth Calder",
                "to": "Anna",
                "relationship_type": "mentor",
                "description": "Taught her to sail",
            }
        ],
    )
    return {"anna": keys["Anna"], "ruth": keys["Ruth Calder"]}


async def test_ends_may_be_names_and_beginnings_of_keys(
    tools: Toolset, keys: dict[str, str]
) -> None:
    names = {"from_entity_key": "ruth  calder", "to_entity_key": "me"}
    begins = {"from_entity_key": keys["ruth"][:8], "to_entity_key": "MYSELF"}
    calls: list[tuple[str, dict[str, Any]]] = [
        ("get_relationship", names),
        ("update_relationship", {**begins, "attitude": 5}),
        ("add_note_to_relationship", {**names, "content": "They met in June"}),
        ("find_paths", begins),
        ("delete_relationship", names),
    ]
    for tool, arguments in calls:
        assert "mentor" in str(succeeded(await tools[tool](**arguments)))
    created = await relate(tools, "MYSELF", keys["ruth"][:8], "friend")
    assert created["relationship"]["from_entity_key"] == keys["anna"]


async def test_nodes_are_updated_traversed_and_merged_by_name(
    tools: Toolset, keys: dict[str, str]
) -> None:
    assert (
        succeeded(await tools.update_node(entity_key="me", description="Sailor"))["node"]["name"]
        == "Anna"
    )
    assert (
        succeeded(await tools.traverse(entity_key="Anna"))["nodes"][0]["entity_key"] == keys["ruth"]
    )
    await person(tools, "R. Calder")
    merged = succeeded(
        await tools.merge_nodes(keep_entity_key=keys["ruth"][:10], drop_entity_key="R. Calder")
    )
    assert merged["node"]["entity_key"] == keys["ruth"]
    assert (
        succeeded(await tools.update_node(entity_key="Anna", is_owner=True))["message"]
        == "Nothing changed"
    )


async def test_targets_of_pattern_queries_are_references(
    tools: Toolset, keys: dict[str, str]
) -> None:
    for target, key in (
        ({"entity_key": "anna"}, keys["anna"]),
        ({"description": "Me"}, keys["anna"]),
        ({"entity_key": "I", "label": "Person"}, keys["anna"]),
        ({"description": keys["ruth"][:8]}, keys["ruth"]),
    ):
        payload = succeeded(
            await tools.query_patterns(targets=[target], traversal={"max_depth": 1})
        )
        assert payload["entry_points"] == [key]
    await person(tools, "anna")
    error = error_of(
        await tools.query_patterns(targets=[{"entity_key": "Anna"}], traversal={"max_depth": 1})
    )
    assert error.startswith("Anna could refer to 2 nodes")
    assert keys["anna"][:8] in error


async def test_a_name_may_be_followed_by_its_label_as_texts_show_it(tools: Toolset) -> None:
    varnish, other = [await node(tools, label, "Varnish") for label in ("Concept", "Entity")]
    ann = await person(tools, "Ann")
    await relate(tools, ann, varnish, "makes")
    for reference, key in (
        ("Varnish (Concept)", varnish),
        ("varnish(Entity)", other),
        ("Ann (Person)", ann),
    ):
        assert succeeded(await tools.traverse(entity_key=reference))["start"]["entity_key"] == key
    for unknown in ("Varnish (Person)", "Varnish (Dog)", "(Concept)", "Varnish ()"):
        assert f"Node not found: {unknown}" in error_of(await tools.traverse(entity_key=unknown))
    named = await node(tools, "Entity", "Varnish (Concept)")
    assert (
        succeeded(await tools.traverse(entity_key="Varnish (Concept)"))["start"]["entity_key"]
        == named
    )


async def test_near_names_include_aliases(tools: Toolset) -> None:
    robert = await person(tools, "Robert Hofmann", "Sound engineer.", aliases=["Bobby"])
    expected = f"Nearest to Bobbi: Robert Hofmann (Person, {robert[:12]}): Sound engineer."
    assert expected in error_of(await tools.remember(notes=[{"on": "Bobbi", "content": "x"}]))
    assert expected in error_of(
        await tools.get_relationship(from_entity_key="me", to_entity_key="Bobbi")
    )


async def test_a_key_that_is_too_short_is_recognised(tools: Toolset) -> None:
    ends = {"from_entity_key": "84a7", "to_entity_key": "f9999999"}
    error = error_of(await tools.get_relationship(**ends))
    assert error == "Node not found: 84a7, f9999999. Keys need at least 8 characters"
    assert "8 characters" not in error_of(await tools.delete_node(entity_key="Bo"))
