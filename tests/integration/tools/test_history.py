"""What a write replaces stays in the history of the record, and a second type of a relationship is
added.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from kgagent import KnowledgeGraph
from kgagent.tools import Toolset
from tests.conftest import Clock
from tests.support.payloads import error_of, succeeded
from tests.support.people import person, persons, relate, remembered, two_friends
from tests.support.stored import Database, note_contents

PEOPLE = [{"label": "Person", "name": "Ruth"}, {"label": "Person", "name": "Ines"}]
SISTER = {
    "from": "Ruth",
    "to": "Ines",
    "relationship_type": "sister",
    "description": "They grew up in Cork.",
}
LANDLADY = {
    "from": "Ruth",
    "to": "Ines",
    "relationship_type": "landlady",
    "description": "Ines rents her attic.",
}


async def history_of(tools: Toolset, **ends: str) -> list[dict[str, Any]]:
    """The history that get_relationship shows, newest first."""
    found = succeeded(await tools.get_relationship(**ends))
    return list((found.get("relationship") or found["node"]).get("history", []))


async def test_what_an_update_replaces_is_kept_with_time_author_and_source(
    graph: KnowledgeGraph, tools: Toolset, database: Database, user_id: str, clock: Clock
) -> None:
    ends = await two_friends(tools, description="They row", attitude=4)
    clock.forward(days=1)
    reading = graph.tools(user_id=user_id, source_entity_key="the source")
    change = {"relationship_type": "rival", "attitude": "hostile", "description": ""}
    succeeded(await reading.update_relationship(**ends, **change))
    moment = clock().isoformat().replace("+00:00", "Z")
    entry = {"until": moment, "by": user_id, "source_entity_key": "the source"}
    assert await history_of(tools, **ends) == [
        {"field": "attitude", "value": 4, **entry},
        {"field": "description", "value": "They row", **entry},
        {"field": "relationship_type", "value": "friend", **entry},
    ]
    shown = (await tools["get_relationship"].call_text(dict(ends))).text
    assert (
        f"- Former attitude (until {moment[:10]}, source the source): friendly"
        in shown.splitlines()
    )
    [stored] = await database.assert_current()
    assert note_contents(stored) == []


async def test_what_an_update_clears_is_kept(tools: Toolset) -> None:
    ends = await two_friends(tools, attitude=4, when="2021")
    succeeded(await tools.update_relationship(**ends, clear=["attitude", "when"]))
    entries = [(entry["field"], entry["value"]) for entry in await history_of(tools, **ends)]
    assert entries == [("when", "2021"), ("attitude", 4)]


async def test_a_type_a_description_and_a_level_have_the_day_and_source_of_their_last_change(
    tools: Toolset,
) -> None:
    item = {"from": "Ruth", "to": "Ines", "relationship_type": "sister", "attitude": 3}
    talks = [{"label": "Source", "name": name, "description": name} for name in ("May", "June")]
    call = {"nodes": [*PEOPLE, *talks], "relationships": [item]}
    succeeded(await tools.remember(**call, said_on="2024-05", source="May"))
    change = {**item, "description": "They share a flat.", "attitude": 4}
    succeeded(await tools.remember(relationships=[change], said_on="2024-06", source="June"))
    ends = {"from_entity_key": "Ruth", "to_entity_key": "Ines"}
    lines = (await tools["get_relationship"].call_text(dict(ends))).text.splitlines()
    assert "- Said 2024-05, source May: relationship_type" in lines
    assert "- Said 2024-06, source June: description, attitude" in lines
    shown = succeeded(await tools.get_relationship(**ends))["relationship"]
    assert [(one["fields"], one["said_on"]) for one in shown["stated"]] == [
        (["relationship_type"], "2024-05"),
        (["description", "attitude"], "2024-06"),
    ]


async def test_periods_are_kept_apart_unless_the_type_changes_or_they_are_corrected(
    tools: Toolset, database: Database
) -> None:
    ends = await two_friends(tools, when="2010/2012")

    async def change(**changes: Any) -> tuple[str, list[Any]]:
        """What is stored after a change, and the earlier times."""
        succeeded(await tools.update_relationship(**ends, **changes))
        [stored] = await database.assert_current()
        history = json.loads(stored.get("history", "[]"))
        return stored["when"], [entry["value"] for entry in history if entry["field"] == "when"]

    assert await change(when="2020/..") == ("2010/2012; 2020/..", ["2010/2012"])
    assert await change(when="2020/2021") == (
        "2010/2012; 2020/2021",
        ["2010/2012", "2010/2012; 2020/.."],
    )
    shown = (await tools["get_relationship"].call_text(dict(ends))).text
    assert "(2010/2012; 2020/2021, past)" in shown
    assert (await change(when="2011", correction=True))[0] == "2011"
    assert (await change(when="2023", relationship_type="rival"))[0] == "2023"


async def test_a_correction_is_marked(tools: Toolset) -> None:
    ends = await two_friends(tools, description="They met in Rome.")
    succeeded(
        await tools.update_relationship(**ends, description="They met in Oslo.", correction=True)
    )
    item = {"from": "Ada", "to": "Bo", "relationship_type": "sister", "correction": True}
    succeeded(await tools.remember(relationships=[item]))
    corrected = [(entry["value"], entry["corrected"]) for entry in await history_of(tools, **ends)]
    assert corrected == [("friend", True), ("They met in Rome.", True)]
    assert (
        "- Wrong description (until "
        in (await tools["get_relationship"].call_text(dict(ends))).text
    )


async def test_a_node_keeps_its_earlier_names_and_descriptions(
    tools: Toolset, database: Database
) -> None:
    ada = await person(tools, "Ada", "An architect.")
    node = {"label": "Person", "name": "Ada", "description": "A painter."}
    succeeded(await tools.remember(nodes=[{**node, "correction": True}]))
    succeeded(await tools.update_node(entity_key=ada, name="Ada Holm"))
    entries = [
        (entry["field"], entry["value"]) for entry in await history_of(tools, from_entity_key=ada)
    ]
    assert entries == [("name", "Ada"), ("description", "An architect.")]
    await database.assert_current()


async def test_a_history_is_in_no_search_and_no_answer_of_a_write(tools: Toolset) -> None:
    ends = await two_friends(tools, description="They row on Lake Garda")
    written = succeeded(
        await tools.update_relationship(**ends, description="They sail", verbose=True)
    )
    del written["replaced"]
    ada = await tools.update_node(entity_key=ends["from_entity_key"], description="x")
    found = [
        await tools.hybrid_search(query="lake garda row"),
        await tools.explore(queries=["Ada"]),
    ]
    assert "history" not in json.dumps([written, ada, found])
    assert "Garda" not in json.dumps([written, ada])


@pytest.mark.parametrize("said_on", [None, "2024-05-02"])
async def test_a_replaced_description_is_found_after_the_present_one(
    tools: Toolset, said_on: str | None, clock: Clock
) -> None:
    nodes = [{"label": "Person", "name": name} for name in ("Ada", "Bo")]
    first = {"from": "Ada", "to": "Bo", "relationship_type": "friend"}
    first["description"] = "They row on Lake Garda."
    succeeded(await tools.remember(nodes=nodes, relationships=[first], said_on="2023-02"))
    second = first | {"description": "They row on Lake Como.", "replaces": True}
    succeeded(await tools.remember(relationships=[second], said_on=said_on))

    async def shown(**filters: str) -> str:
        given = {"query": "On which lake do they row?", **filters}
        return (await tools["hybrid_search"].call_text(given)).text

    ended = said_on or f"{clock():%Y-%m-%d}"
    text = await shown()
    former = f"They row on Lake Garda. (former, 2023-02/{ended})"
    assert text.index("Lake Como") < text.index(former)
    text = await shown(as_of="2023-08")
    assert "Lake Garda" in text
    assert "Lake Como" not in text
    assert "former" not in text
    corrected = second | {"description": "They row on Lake Iseo.", "correction": True}
    succeeded(await tools.remember(relationships=[corrected]))
    assert "Como" not in await shown()


async def test_a_history_keeps_its_newest_entries(
    tools: Toolset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kgagent.models.history.MAX_ENTRIES", 3)
    ends = await two_friends(tools)
    for number in range(5):
        succeeded(await tools.update_relationship(**ends, description=f"Version {number}"))
    assert [entry["value"] for entry in await history_of(tools, **ends)] == [
        "Version 3",
        "Version 2",
        "Version 1",
    ]


async def test_a_history_of_another_program_is_kept(tools: Toolset, database: Database) -> None:
    ends = await two_friends(tools, description="They row")
    await database.run("MATCH (:Person {user_id: $user})-[r]->() SET r.history = 'since 1900'")
    succeeded(await tools.update_relationship(**ends, description="They sail"))
    assert [entry["value"] for entry in await history_of(tools, **ends)] == [
        "They row",
        "since 1900",
    ]


async def test_a_merge_unites_histories(tools: Toolset) -> None:
    ada, other, bo = await persons(tools, "Ada", "Ada H.", "Bo")
    for key in (ada, other):
        await relate(tools, key, bo, description="They row")
        ends = {"from_entity_key": key, "to_entity_key": bo}
        succeeded(await tools.update_relationship(**ends, description=f"They sail, {len(key)}"))
        succeeded(await tools.update_node(entity_key=key, description="x"))
        succeeded(await tools.update_node(entity_key=key, description=f"y {key}"))
    succeeded(await tools.merge_nodes(keep_entity_key=ada, drop_entity_key=other))
    assert [entry["value"] for entry in await history_of(tools, from_entity_key=ada)] == ["x", "x"]
    entries = await history_of(tools, from_entity_key=ada, to_entity_key=bo)
    assert [entry["value"] for entry in entries] == ["They row", "They row"]


async def test_an_earlier_value_is_restored_by_one_call_which_is_in_the_history(
    tools: Toolset, database: Database
) -> None:
    ends = await two_friends(tools, description="They row together since school")
    succeeded(await tools.update_relationship(**ends, description="Colleagues", attitude=2))
    answer = await tools.restore.call_text({"from": "Bo", "to": "Ada", "field": "description"})
    assert answer.text.splitlines() == [
        "Restored description of Ada friend Bo",
        "triplet: Ada friend Bo",
        "Replaced: description 'Colleagues'",
    ]
    stored = (await database.assert_current())[0]
    assert (stored["description"], stored["attitude"]) == ("They row together since school", 2)
    entries = await history_of(tools, **ends)
    assert [(one["value"], one.get("corrected", False)) for one in entries] == [
        ("Colleagues", True),
        ("They row together since school", False),
    ]
    # The last value that differs: the same call again takes the first one back.
    succeeded(await tools.restore(**ends, field="description"))
    assert (await database.relationship())["description"] == "Colleagues"


async def test_an_earlier_value_of_a_node_is_chosen_by_its_beginning(
    tools: Toolset, database: Database
) -> None:
    ada = await person(tools, "Ada", "Rows at dawn")
    for description in ("Sails", "Sings"):
        succeeded(await tools.update_node(entity_key=ada, description=description))
    payload = succeeded(await tools.restore(entity_key="ada", field="description", value="Rows"))
    assert payload["replaced"] == {"description": "Sings"}
    [stored] = await database.nodes()
    assert stored["description"] == "Rows at dawn"
    error = error_of(await tools.restore(entity_key=ada, field="description", value="Flies"))
    assert error == (
        "The history has no other description that begins with 'Flies'. Its earlier values: "
        "'Sails'; 'Sings'"
    )
    assert "no other name" in error_of(await tools.restore(entity_key=ada, field="name"))
    assert "value needs field" in error_of(await tools.restore(entity_key=ada, value="Rows"))
    succeeded(await tools.update_node(entity_key=ada, name="Ada Moss"))
    succeeded(await tools.restore(entity_key=ada, field="name"))
    [stored] = await database.nodes()
    assert (stored["name"], stored["aliases"]) == ("Ada", ["Ada Moss"])


async def test_a_type_returns_with_its_period(tools: Toolset, database: Database) -> None:
    ends = await two_friends(tools)
    succeeded(await tools.update_relationship(**ends, when="2015/2018"))
    succeeded(await tools.update_relationship(**ends, relationship_type="rival", when="2020/.."))
    succeeded(await tools.restore(**ends, field="relationship_type"))
    stored = (await database.assert_current())[0]
    assert (stored["relationship_type"], stored["when"]) == ("friend", "2015/2018")


async def test_a_second_type_is_added_and_its_description_becomes_a_note(
    tools: Toolset, database: Database
) -> None:
    await remembered(tools, PEOPLE, [SISTER])
    answer = await tools["remember"].call_text({"relationships": [LANDLADY]})
    assert answer.text.splitlines() == [
        "Relationships: 1 updated. 1 note added",
        "Note: relationships[0]: Its type is now 'sister, landlady', and the new description is a "
        "note; "
        "if 'sister' ended, repeat it with replaces",
    ]
    [stored] = await database.assert_current()
    assert (stored["relationship_type"], stored["description"]) == (
        "sister, landlady",
        "They grew up in Cork.",
    )
    assert note_contents(stored) == ["Ines rents her attic."]
    assert [one["value"] for one in json.loads(stored["history"])] == ["sister"]
    again = [SISTER, LANDLADY, {**SISTER, "relationship_type": "Sister"}]
    assert (
        succeeded(await tools.remember(relationships=again))["message"]
        == "Relationships: 3 unchanged"
    )


async def test_a_filter_by_type_finds_one_of_several(tools: Toolset) -> None:
    await remembered(tools, PEOPLE, [SISTER, LANDLADY])
    for name in ("sister", "Landlady", "sister, landlady"):
        found = await tools.hybrid_search(query="Who is Ruth?", relationship_types=[name])
        assert [item["relationship_type"] for item in succeeded(found)["relationships"]] == [
            "sister, landlady"
        ]


async def test_a_load_adds_types_and_a_repeated_one_changes_nothing(
    graph: KnowledgeGraph, database: Database, user_id: str, tmp_path: Path
) -> None:
    lines = [
        {"kind": "node", "id": name, "label": "Person", "name": name} for name in ("Ruth", "Ines")
    ]
    path = tmp_path / "graph.jsonl"
    path.write_text(
        "\n".join(
            json.dumps({"kind": "relationship", **line} | line)
            for line in [*lines, SISTER, LANDLADY]
        )
    )
    await graph.load(path, user_id=user_id)
    [stored] = await database.assert_current()
    assert (stored["relationship_type"], note_contents(stored)) == (
        "sister, landlady",
        ["Ines rents her attic."],
    )
    await graph.load(path, user_id=user_id)
    assert await database.relationships() == [stored]
