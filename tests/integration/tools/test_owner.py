"""The owner of a graph: the one Person with is_owner."""

from typing import Any

import pytest

from kgagent import KnowledgeGraph
from kgagent.tools import Toolset
from tests.support.embedders import WatchedEmbedder
from tests.support.payloads import error_of, succeeded
from tests.support.people import node, person
from tests.support.stored import Database, nodes_of


async def owners(graph: KnowledgeGraph, user_id: str) -> list[str]:
    return [stored["name"] for stored in await nodes_of(graph, user_id) if stored.get("is_owner")]


async def test_the_owner_is_set_at_creation_and_returned(
    tools: Toolset, graph: KnowledgeGraph, user_id: str
) -> None:
    created = succeeded(await tools.create_node(label="Person", name="Me", is_owner=True))
    assert created["node"]["properties"]["is_owner"] is True
    await person(tools, "Ruth", is_owner=False)
    assert await owners(graph, user_id) == ["Me"]


async def test_a_second_owner_is_an_error_that_names_the_first_and_writes_nothing(
    tools: Toolset, graph: KnowledgeGraph, database: Database, user_id: str
) -> None:
    me, ruth = await person(tools, "Me", is_owner=True), await person(tools, "Ruth")
    said = f"Person 'Me' ({me[:12]}) is already the owner of this graph. To change the owner, first set is_owner to false"
    assert error_of(await tools.create_node(label="Person", name="Tom", is_owner=True)).startswith(
        said
    )
    assert error_of(
        await tools.update_node(entity_key=ruth, is_owner=True, name="Ruth C.")
    ).startswith(said)
    assert {stored["name"] for stored in await database.nodes()} == {"Me", "Ruth"}
    assert await owners(graph, user_id) == ["Me"]


async def test_the_owner_can_change_in_two_calls_without_embedding_anything(
    tools: Toolset, graph: KnowledgeGraph, user_id: str, embedder: WatchedEmbedder
) -> None:
    me, ruth = await person(tools, "Me", is_owner=True), await person(tools, "Ruth")
    embedder.forget()
    updated = succeeded(await tools.update_node(entity_key=me, is_owner=False))
    assert "is_owner" not in updated["node"]["properties"]
    assert await owners(graph, user_id) == []
    assert (
        succeeded(await tools.update_node(entity_key=ruth, is_owner=True))["message"]
        == "Updated Person Ruth"
    )
    assert (
        succeeded(await tools.update_node(entity_key=ruth, is_owner=True))["message"]
        == "Nothing changed"
    )
    assert await owners(graph, user_id) == ["Ruth"]
    assert not embedder.stored


async def test_only_a_person_can_be_the_owner(tools: Toolset) -> None:
    said = "is_owner applies only to nodes with the label Person, got Concept"
    assert error_of(await tools.create_node(label="Concept", name="Sailing", is_owner=True)) == said
    key = await node(tools, "Concept", "Sailing")
    assert error_of(await tools.update_node(entity_key=key, is_owner=True)) == said


async def test_explore_finds_the_owner_as_me(tools: Toolset) -> None:
    succeeded(await tools.create_node(label="Entity", name="Hospiz Emmendingen"))
    found = succeeded(await tools.explore(text_matches=["me"]))
    assert [one["name"] for one in found["nodes"]] == ["Hospiz Emmendingen"]
    await person(tools, "Jonas Brandt", is_owner=True)
    found = succeeded(await tools.explore(text_matches=["me"]))
    assert [one["name"] for one in found["nodes"]] == ["Jonas Brandt"]


async def test_me_is_the_owner_even_if_a_node_of_the_call_is_also_called_that(
    tools: Toolset,
) -> None:
    await person(tools, "Ada", is_owner=True)
    nodes = [
        {"label": "Person", "name": "Bo"},
        {"label": "Person", "name": "Trudy", "aliases": ["me", "I"]},
    ]
    relationship = {"from": "me", "to": "Bo", "relationship_type": "friend"}
    succeeded(await tools.remember(nodes=nodes, relationships=[relationship]))
    assert (
        succeeded(await tools.get_relationship(from_entity_key="Ada", to_entity_key="Bo"))[
            "triplet"
        ]
        == "Ada friend Bo"
    )
    assert error_of(await tools.get_relationship(from_entity_key="Trudy", to_entity_key="Bo"))


@pytest.mark.parametrize("word", ["me", "I", "Myself"])
async def test_a_ref_that_means_the_owner_is_refused_for_another_node(
    tools: Toolset, word: str
) -> None:
    call: dict[str, Any] = {
        "nodes": [
            {"label": "Person", "name": "Trudy", "ref": word},
            {"label": "Person", "name": "Bo"},
        ],
        "relationships": [{"from": word, "to": "Bo", "relationship_type": "friend"}],
    }
    await person(tools, "Ada", is_owner=True)
    failures = succeeded(await tools.remember(**call))["failures"]
    assert [item["error"].partition(" (")[0] for item in failures] == [
        f"ref {word!r} means the owner of the graph, Ada",
        f"{word!r} is nodes[0], which was not written",
    ]
    call["nodes"][0]["name"] = "Ada"
    assert not succeeded(await tools.remember(**call))["failures"]
