"""Other names of a node: those that it had, of nodes merged into it, and those that were given; all
refer to it.
"""

import pytest

from kgagent import KnowledgeGraph
from kgagent.graph.aliases import MAX_ALIASES
from kgagent.tools import Toolset
from tests.support.payloads import error_of, succeeded
from tests.support.people import person, persons, relate
from tests.support.stored import Database

ROBERT = {"label": "Person", "name": "Robert Lund", "description": "A carpenter."}


async def test_the_name_of_a_merged_node_means_the_kept_one(
    tools: Toolset, database: Database
) -> None:
    kept, dropped = (
        await person(tools, "Robert Lund"),
        await person(tools, "Bob Lund", aliases=["Bobby"]),
    )
    merged = await tools.merge_nodes.call_text(
        {"keep_entity_key": kept, "drop_entity_key": dropped}
    )
    assert merged.text.splitlines()[-1] == "Aliases: Bobby, Bob Lund"
    notice = f"Robert Lund (Person, {kept[:12]})"
    again = succeeded(
        await tools.remember(
            nodes=[{"label": "Person", "name": "bob LUND", "description": "Carves."}]
        )
    )
    assert again["nodes"]["created"] == 0
    assert again["hints"] == [f"bob LUND → {notice}"]
    noted = succeeded(
        await tools.remember(notes=[{"on": name, "content": name} for name in ("Bobby", "Bob")])
    )
    assert noted["hints"] == [f"Bobby → {notice}", f"Bob → {notice}"]
    [stored] = await database.nodes()
    assert (stored["name"], stored["description"]) == ("Robert Lund", "Carves.")
    assert stored["aliases"] == ["Bobby", "Bob Lund"]
    await database.assert_current()


@pytest.mark.parametrize("tool", ["update_node", "remember"])
async def test_the_old_name_of_a_renamed_node_means_it(tools: Toolset, tool: str) -> None:
    key, other = await persons(tools, "Anna", "Cy")
    change = {"entity_key": key, "name": "Anna Berg"}
    succeeded(
        await (
            tools.update_node(**change) if tool == "update_node" else tools.remember(nodes=[change])
        )
    )
    written = await relate(tools, "anna", other)
    assert written["message"].endswith(f"anna → Anna Berg (Person, {key[:12]})")
    found = await tools.explore.call_text({"text_matches": ["Anna Berg"]})
    assert "Anna Berg (Person) [aliases: Anna]" in found.text


async def test_a_name_comes_before_an_alias_and_an_alias_of_two_is_refused(tools: Toolset) -> None:
    first, second = (
        await person(tools, "Ada", aliases=["Bo", "Liv"]),
        await person(tools, "Cy", aliases=["Liv"]),
    )
    named = await person(tools, "Bo")
    assert (
        succeeded(await tools.update_node(entity_key="Bo", description="x"))["node"]["entity_key"]
        == named
    )
    error = error_of(await tools.update_node(entity_key="liv", description="x"))
    assert error.startswith("liv could refer to 2 nodes")
    assert first[:8] in error
    assert second[:8] in error


async def test_aliases_are_added_bounded_and_removed(tools: Toolset, database: Database) -> None:
    key = await person(tools, "Ada", aliases=["Addie", "ADDIE", " ada "])
    succeeded(await tools.remember(nodes=[{"entity_key": key, "aliases": ["Ms. King"]}]))
    shown = succeeded(await tools.update_node(entity_key=key, aliases=["addie", "Countess"]))
    assert shown["node"]["properties"]["aliases"] == ["Addie", "Ms. King", "Countess"]
    many = [f"Name {number}" for number in range(MAX_ALIASES + 1)]
    assert "aliases" in error_of(await tools.update_node(entity_key=key, aliases=many))
    succeeded(await tools.update_node(entity_key=key, aliases=many[1:]))
    succeeded(await tools.update_node(entity_key=key, name="Augusta"))
    [stored] = await database.nodes()
    assert stored["aliases"] == [*many[2:], "Ada"]
    succeeded(await tools.update_node(entity_key=key, name="Ada", aliases=[]))
    [stored] = await database.nodes()
    assert stored.get("aliases") is None
    assert "Node not found" in error_of(
        await tools.update_node(entity_key="Name 5", description="x")
    )


async def test_searches_find_a_node_by_its_alias(tools: Toolset) -> None:
    key = await person(tools, "Robert Lund", "A carpenter.", aliases=["Zebedee"])
    await person(tools, "Cy Holm", "A baker.")
    explored = succeeded(await tools.explore(text_matches=["zebedee"]))
    assert [one["entity_key"] for one in explored["nodes"]] == [key]
    found = succeeded(await tools.hybrid_search(query="What does Zebedee do?", threshold=0.99))
    assert [one["entity_key"] for one in found["objects"]] == [key]


async def test_remember_removes_aliases_by_an_empty_list_and_nothing_else(
    tools: Toolset, database: Database
) -> None:
    key = await person(tools, "Ada", aliases=["Kati"])
    for kept in (
        {"entity_key": key, "aliases": [], "notes": []},
        {"entity_key": key, "aliases": None},
        {"label": "Person", "name": "Ada", "aliases": []},
    ):
        succeeded(await tools.remember(nodes=[kept]))
        [stored] = await database.nodes()
        assert stored["aliases"] == ["Kati"]
    payload = succeeded(await tools.remember(nodes=[{"entity_key": "Ada", "aliases": []}]))
    assert payload["nodes"]["updated"] == 1
    [stored] = await database.nodes()
    assert stored.get("aliases") is None


async def test_aliases_that_another_program_stored_are_found_after_a_migration(
    tools: Toolset, graph: KnowledgeGraph, database: Database, user_id: str
) -> None:
    key = await person(tools, "Robert Lund", notes=["Carves."])
    await database.run("MATCH (n:Person {user_id: $user}) SET n.aliases = ['Bobby']")
    found = await graph.diagnose(user_id=user_id)
    assert any("searches miss" in finding.message for finding in found.findings)
    await graph.migrate(user_id=user_id)
    assert (
        succeeded(await tools.update_node(entity_key="Bobby", description="x"))["node"][
            "entity_key"
        ]
        == key
    )


async def test_a_node_of_a_call_is_referred_to_by_its_aliases_after_the_names_of_the_call(
    tools: Toolset, database: Database
) -> None:
    nodes = [{**ROBERT, "aliases": ["Bob", "Cy"]}, {"label": "Person", "name": "Cy"}]
    knows = {"relationship_type": "friend of", "from": "bob", "to": "Cy"}
    payload = succeeded(
        await tools.remember(
            nodes=nodes, relationships=[knows], notes=[{"on": "Bob", "content": "x"}]
        )
    )
    assert (payload["relationships"]["created"], payload["notes_added"]) == (1, 1)
    [robert] = [one for one in await database.nodes() if one["name"] == "Robert Lund"]
    assert "notes" in robert
