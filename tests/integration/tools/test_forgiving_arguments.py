"""Arguments as models write them: other letter case, other names, a cursor alone, and names that
are too long.
"""

import pytest

from kgagent.tools import Toolset
from tests.support.payloads import error_of, succeeded
from tests.support.people import node, person, two_friends
from tests.support.stored import Database, note_contents


async def test_labels_and_lifetimes_are_accepted_in_any_letter_case(tools: Toolset) -> None:
    key = await node(tools, "PERSON", "Ada")
    payload = succeeded(
        await tools.remember(
            nodes=[{"label": "person", "name": "ada"}, {"label": "concept", "name": "Chess"}],
            notes=[{"on": "Ada", "content": "Rows.", "lifetime": "Week"}],
        )
    )
    assert (payload["nodes"]["created"], payload["nodes"]["unchanged"]) == (1, 1)
    assert payload["note_expiries"] != []
    for found in (
        succeeded(await tools.explore(text_matches=["Ada"], labels=["person"]))["nodes"],
        succeeded(await tools.hybrid_search(query="Ada", labels=["PERSON"]))["objects"],
    ):
        assert [one["entity_key"] for one in found] == [key]
    assert "Unknown label: Animal" in error_of(await tools.create_node(label="Animal", name="Rex"))


async def test_the_nodes_of_a_relationship_have_other_names(tools: Toolset) -> None:
    ends = await two_friends(tools)
    for first, second in (("from", "to"), ("source", "target"), ("from_node", "to_node")):
        named = {first: ends["from_entity_key"], second: "Bo"}
        assert succeeded(await tools.get_relationship(**named))["triplet"] == "Ada friend Bo"
        succeeded(await tools.add_note_to_relationship(**named, content="They row."))


async def test_a_cursor_alone_says_to_repeat_the_arguments(tools: Toolset) -> None:
    for name in ("explore", "hybrid_search", "get_relationship", "traverse", "find_paths"):
        error = error_of(await tools[name](cursor="12-abcdef"))
        known = (
            "A cursor continues a result: repeat the other arguments of the call that returned it"
        )
        assert error.endswith(known), name


async def test_a_name_that_no_reference_can_be_is_refused(tools: Toolset) -> None:
    key = await person(tools, "x" * 500)
    told = "name must have at most 500 characters, got 501: no tool finds a node by a longer name"
    assert told in error_of(await tools.create_node(label="Person", name="x" * 501))
    assert told in error_of(await tools.update_node(entity_key=key, name="x" * 501))
    assert told in error_of(await tools.remember(nodes=[{"label": "Person", "name": "x" * 501}]))


async def test_one_value_may_stand_for_a_list_and_null_for_an_optional_one(
    tools: Toolset, database: Database
) -> None:
    rosa = {"label": "Person", "name": "Rosa Feld", "aliases": "Rosi", "notes": "Lives in Jena."}
    payload = succeeded(await tools.remember(nodes=rosa, relationships=None))
    assert (payload["nodes"]["created"], payload["notes_added"]) == (1, 1)
    unchanged = {"label": "Person", "name": "Rosa Feld", "aliases": None, "notes": None}
    assert succeeded(await tools.remember(nodes=[unchanged], notes=None))["nodes"]["unchanged"] == 1
    [stored] = await database.nodes()
    assert (stored["aliases"], note_contents(stored)) == (["Rosi"], ["Lives in Jena."])
    found = succeeded(await tools.explore(text_matches="Rosa", labels="Person", queries=None))
    assert [one["name"] for one in found["nodes"]] == ["Rosa Feld"]
    found = succeeded(await tools.explore(query="Rosa Feld", queries=[]))
    assert [one["name"] for one in found["nodes"]] == ["Rosa Feld"]
    ends = await two_friends(tools, attitude=3)
    succeeded(await tools.update_relationship(**ends, clear="attitude", notes=None))


async def test_a_value_that_may_mean_another_list_is_refused(tools: Toolset) -> None:
    assert error_of(await tools.remember(nodes='[{"label": "Per')).startswith(
        "nodes must be a list, got "
    )
    assert "must be an object" in error_of(await tools.remember(notes="Rosa paints."))
    node_item = {"label": "Person", "name": "Rosa", "aliases": 7}
    assert "aliases must be a list, got 7" in error_of(await tools.remember(nodes=[node_item]))


@pytest.mark.parametrize("nothing", ["", " ", []])
async def test_an_empty_value_of_an_optional_argument_means_that_it_is_omitted(
    tools: Toolset, nothing: object
) -> None:
    for name, tool in tools.items():
        fields = tool.arguments.model_fields.items()
        refused: frozenset[str] = getattr(tool.arguments, "refused", frozenset())
        optional = {
            field: nothing
            for field, info in fields
            if not info.is_required() and field not in refused
        }
        assert await tool(**optional) == await tool(), name


async def test_an_empty_value_removes_what_may_be_empty(tools: Toolset) -> None:
    key = await person(tools, "Ada", "Rows")
    succeeded(await tools.update_node(entity_key=key, aliases=["Addi"]))
    emptied = succeeded(
        await tools.update_node(entity_key=key, aliases=[], description="", name="")
    )
    assert emptied["node"]["name"] == "Ada"
    assert "description" not in emptied["node"]
    assert "aliases" not in emptied["node"].get("properties", {})


async def test_a_choice_is_accepted_in_any_letter_case(tools: Toolset) -> None:
    key = await person(tools, "Ada")
    for given in ("JSON", "Text", "json "):
        succeeded(await tools.explore(text_matches=["Ada"], format=given))
    succeeded(await tools.traverse(entity_key=key, direction="Outgoing"))
    step = {"source_label": "Person", "direction": "both"}
    succeeded(await tools.query_patterns(patterns=[{"steps": [step]}], ranking="path length"))
    assert "format must be" in error_of(await tools.explore(text_matches=["Ada"], format="yaml"))
