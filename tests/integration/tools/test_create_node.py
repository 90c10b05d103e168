import hashlib

import pytest

from kgagent.tools import Toolset
from tests.support.embedders import WatchedEmbedder
from tests.support.payloads import error_of, succeeded
from tests.support.people import node, person
from tests.support.stored import Database


async def test_a_node_is_created_with_all_given_values(
    tools: Toolset, database: Database, embedder: WatchedEmbedder, user_id: str
) -> None:
    payload = succeeded(
        await tools.create_node(
            label="Person",
            name=" Ada ",
            description="A mathematician",
            notes=["Likes tea", {"content": "In Rome"}],
        )
    )
    assert payload["message"] == "Created Person Ada"
    shown = payload["node"]
    assert (shown["name"], shown["label"], shown["description"]) == (
        "Ada",
        "Person",
        "A mathematician",
    )
    assert [note["content"] for note in shown["notes"]] == ["Likes tea", "In Rome"]
    assert {note["added_by"] for note in shown["notes"]} == {user_id}
    [stored] = await database.nodes()
    assert stored["entity_key"] == payload["entity_key"] == shown["entity_key"]
    assert stored["version"] == 1
    assert embedder.stored == [
        ["Ada A mathematician Likes tea In Rome", "Ada A mathematician", "Likes tea", "In Rome"]
    ]
    await database.assert_current()


@pytest.mark.parametrize(("label", "between"), [("Concept", "concept"), ("Entity", "")])
async def test_a_concept_or_entity_of_a_name_exists_once(
    tools: Toolset, user_id: str, label: str, between: str
) -> None:
    key = await node(tools, label, "Machine Learning", "Learns from data.", notes=["Began in 1959"])
    assert key == hashlib.sha256(f"machine learning{between}{user_id}".encode()).hexdigest()
    again = error_of(await tools.create_node(label=label, name="machine LEARNING"))
    assert again == (
        f"{label} 'Machine Learning' exists already as {key[:12]}. Use update_node to change it. "
        "It is: Machine Learning: Learns from data. (1 note)"
    )


async def test_an_unknown_label_names_the_known_ones(tools: Toolset) -> None:
    error = error_of(await tools.create_node(label="Dog", name="Rex"))
    assert error == "Unknown label: Dog. Known labels: Person, Concept, Entity, Source"


async def test_a_name_with_control_characters_is_rejected(tools: Toolset) -> None:
    said = "name must not contain control characters other than tabs and line breaks, got 'A"
    key = await person(tools, "Ada\tde\r\nLovelace")
    for character in ("\0", "\x85"):
        assert error_of(await tools.create_node(label="Person", name=f"A{character}da")).startswith(
            said
        )
        assert error_of(await tools.update_node(entity_key=key, name=f"A{character}da")).startswith(
            said
        )
