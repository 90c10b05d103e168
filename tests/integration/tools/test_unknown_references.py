"""What the error about an unknown node says: near names and aliases, and short keys."""

from kgagent.tools import Toolset
from tests.support.payloads import error_of
from tests.support.people import person


async def test_near_names_include_aliases(tools: Toolset) -> None:
    robert = await person(tools, "Robert Hofmann", "Sound engineer.", aliases=["Bobby"])
    expected = f"Nearest to Bobbi: Robert Hofmann (Person, {robert[:12]}): Sound engineer."
    assert expected in error_of(await tools.remember(notes=[{"on": "Bobbi", "content": "x"}]))
    assert expected in error_of(await tools.get_relationship(from_entity_key="me", to_entity_key="Bobbi"))


async def test_names_that_share_only_a_title_or_letters_are_not_near(tools: Toolset) -> None:
    await person(tools, "Dr. Wendt")
    assert "Nearest" not in error_of(await tools.remember(notes=[{"on": "Nobody Here", "content": "x"}]))
    assert "Nearest" not in error_of(await tools.remember(notes=[{"on": "Dr. Albrecht", "content": "x"}]))
    assert "Nearest to Dr. Wend: " in error_of(await tools.delete_node(entity_key="Dr. Wend"))


async def test_a_key_that_is_too_short_is_recognised(tools: Toolset) -> None:
    ends = {"from_entity_key": "84a7", "to_entity_key": "f9999999"}
    error = error_of(await tools.get_relationship(**ends))
    assert error == "One or both nodes do not exist: 84a7, f9999999. Keys need at least 8 characters"
    assert "8 characters" not in error_of(await tools.delete_node(entity_key="Bo"))


async def test_an_item_of_remember_names_its_node_by_a_part_of_the_name(tools: Toolset) -> None:
    katrin = await person(tools, "Katrin Brandt")
    answer = await tools["remember"].call_text({"nodes": [{"entity_key": "Katrin", "aliases": ["Kati"]}]})
    assert answer.text.splitlines() == [
        "Nodes: 1 updated",
        f"Note: Katrin → Katrin Brandt (Person, {katrin[:12]})",
    ]
    renaming = error_of(await tools.remember(nodes=[{"entity_key": "Katrin", "name": "Katrin Maier"}]))
    assert "Node not found: Katrin" in renaming
