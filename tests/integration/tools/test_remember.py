"""remember: many nodes, relationships and notes in one call."""

import asyncio
import json
from typing import Any

import pytest

from kgagent import KnowledgeGraph
from kgagent.errors import EmbeddingUnavailableError
from kgagent.tools import Toolset
from kgagent.tools.remember_results import RememberResult
from tests.conftest import Clock
from tests.support.embedders import WatchedEmbedder
from tests.support.payloads import error_of, succeeded
from tests.support.people import node, person, relate, two_friends
from tests.support.stored import (
    Database,
    nodes_of,
    note_contents,
)

ME = {"label": "Person", "name": "Ines", "is_owner": True}
RUTH = {
    "label": "Person",
    "name": "Ruth Calder",
    "description": "Naval architect.",
    "notes": ["Moved to Bergen."],
}
MENTOR = {
    "from": "Ruth Calder",
    "to": "me",
    "relationship_type": "mentor of",
    "description": "Ruth taught Ines to lead a team.",
    "attitude": "close",
    "proximity": 4,
    "notes": ["They had lunch in June."],
}


async def named(graph: KnowledgeGraph, user_id: str) -> dict[str, dict[str, Any]]:
    return {str(stored["name"]): stored for stored in await nodes_of(graph, user_id)}


async def test_nodes_relationships_and_notes_are_created_in_one_call(
    tools: Toolset, graph: KnowledgeGraph, database: Database, user_id: str
) -> None:
    payload = succeeded(
        await tools.remember(
            nodes=[ME, {**RUTH, "ref": "r"}, {"label": "Concept", "name": "Sailing"}],
            relationships=[{**MENTOR, "from": "r", "to": "Ines"}],
            notes=[
                {"on": "Sailing", "content": "Starts again in May."},
                {"on": ["r", "Ines"], "content": "They sail."},
            ],
        )
    )
    assert payload["message"] == "Nodes: 3 created. Relationships: 1 created. 4 notes added"
    assert [created["name"] for created in payload["created_nodes"]] == [
        "Ines",
        "Ruth Calder",
        "Sailing",
    ]
    stored = await named(graph, user_id)
    assert stored["Ines"]["is_owner"] is True
    assert note_contents(stored["Sailing"]) == ["Starts again in May."]
    [relationship] = await database.assert_current()
    assert (
        relationship["relationship_type"],
        relationship["attitude"],
        relationship["proximity"],
    ) == (
        "mentor of",
        5,
        4,
    )
    assert note_contents(relationship) == ["They had lunch in June.", "They sail."]
    assert (relationship["first"], relationship["second"]) == (
        stored["Ruth Calder"]["entity_key"],
        stored["Ines"]["entity_key"],
    )


async def test_notes_of_one_call_on_a_relationship_are_one_write(
    tools: Toolset, database: Database, embedder: WatchedEmbedder
) -> None:
    await two_friends(tools)
    embedder.stored.clear()
    on = ["Ada", "Bo"]
    notes = [{"on": on, "content": f"They row on lake {number}."} for number in (1, 2, 3, 2)]
    payload = succeeded(await tools.remember(notes=notes))
    assert (
        payload["notes_added"],
        payload["embeddings"],
        [len(texts) for texts in embedder.stored],
    ) == (3, 1, [4])
    assert "1 unchanged" in payload["message"]
    correction = {"on": on, "replaces": "They row on lake 1.", "content": "They sail."}
    later = [
        {"on": on, "content": "They swim."},
        correction,
        {"on": on, "content": "They row on lake 1."},
    ]
    payload = succeeded(await tools.remember(notes=[*later, {"on": on, "content": "They run."}]))
    assert (payload["notes_added"], payload["notes_corrected"]) == (3, 1)
    [stored] = await database.assert_current()
    assert note_contents(stored) == [
        "They sail.",
        "They row on lake 2.",
        "They row on lake 3.",
        "They swim.",
        "They row on lake 1.",
        "They run.",
    ]


async def test_a_note_that_the_model_refuses_does_not_keep_the_others_from_being_written(
    tools: Toolset, database: Database, embedder: WatchedEmbedder
) -> None:
    await two_friends(tools)
    embedder.refused = "lake 2"
    on = ["Ada", "Bo"]
    notes = [{"on": on, "content": f"They row on lake {number}."} for number in (1, 2, 3)]
    payload = succeeded(await tools.remember(notes=notes))
    assert (payload["notes_added"], [failure["index"] for failure in payload["failures"]]) == (
        2,
        [1],
    )
    [stored] = await database.assert_current()
    assert note_contents(stored) == ["They row on lake 1.", "They row on lake 3."]


async def test_the_same_call_again_changes_nothing(
    tools: Toolset, database: Database, embedder: WatchedEmbedder, clock: Clock
) -> None:
    arguments = {
        "nodes": [ME, RUTH],
        "relationships": [MENTOR],
        "notes": [{"on": "Ines", "content": "Reads a lot."}],
    }
    succeeded(await tools.remember(**arguments))
    before = await database.all()
    embedder.forget()
    clock.forward(days=1)
    payload = succeeded(await tools.remember(**arguments))
    assert payload["message"] == "Nodes: 2 unchanged. Relationships: 1 unchanged. 1 note unchanged"
    assert await database.all() == before
    assert embedder.calls == 0


async def test_what_exists_is_updated_and_replaced_texts_are_reported(
    tools: Toolset, graph: KnowledgeGraph, database: Database, user_id: str
) -> None:
    key = await person(tools, "Ruth Calder", "An architect.", notes=["Sings."])
    other = await person(tools, "Ines", is_owner=True)
    await relate(tools, key, other, "friend", description="They met at work.", attitude=3)
    payload = succeeded(
        await tools.remember(
            nodes=[{**RUTH, "name": "ruth  CALDER"}],
            relationships=[{**MENTOR, "from": key[:8], "to": "I", "replaces": True}],
        )
    )
    assert payload["message"] == "Nodes: 1 updated. Relationships: 1 updated. 2 notes added"
    assert payload["replaced"] == [
        {"item": "Ruth Calder", "field": "description", "old": "An architect."},
        {"item": "Ruth Calder mentor of Ines", "field": "relationship_type", "old": "friend"},
        {"item": "Ruth Calder mentor of Ines", "field": "attitude", "old": "neutral"},
        {"item": "Ruth Calder mentor of Ines", "field": "description", "old": "They met at work."},
    ]
    assert RememberResult.model_validate(payload).short_text().splitlines()[1:] == [
        "Replaced: Ruth Calder: description was 'An architect.'",
        "Replaced: Ruth Calder mentor of Ines: relationship_type was 'friend', attitude was "
        "'neutral', "
        "description was 'They met at work.'",
    ]
    stored = (await named(graph, user_id))["Ruth Calder"]
    assert (stored["entity_key"], stored["description"]) == (key, "Naval architect.")
    assert note_contents(stored) == ["Sings.", "Moved to Bergen."]
    [relationship] = await database.relationships()
    assert (relationship["attitude"], relationship["proximity"]) == (5, 4)


async def test_an_empty_description_does_not_clear_the_stored_one(tools: Toolset) -> None:
    succeeded(await tools.remember(nodes=[ME, RUTH], relationships=[MENTOR]))
    again = {**RUTH, "description": ""}, {**MENTOR, "description": ""}
    payload = succeeded(await tools.remember(nodes=[again[0]], relationships=[again[1]]))
    assert payload["message"] == "Nodes: 1 unchanged. Relationships: 1 unchanged"


async def test_a_renamed_node_does_not_take_the_place_of_a_new_one_with_a_name_that_it_lost(
    tools: Toolset, database: Database
) -> None:
    [created] = succeeded(await tools.remember(nodes=[RUTH]))["created_nodes"]
    succeeded(
        await tools.remember(nodes=[{"entity_key": created["entity_key"], "name": "Ruth Holm"}])
    )
    succeeded(await tools.update_node(entity_key=created["entity_key"], aliases=[]))
    succeeded(await tools.remember(nodes=[RUTH]))
    assert sorted(stored["name"] for stored in await database.nodes()) == [
        "Ruth Calder",
        "Ruth Holm",
    ]


async def test_several_nodes_with_the_name_are_an_error_that_lists_them(tools: Toolset) -> None:
    keys = [await person(tools, "Anna", description) for description in ("A baker.", "A judge.")]
    payload = await tools.remember(
        nodes=[{"label": "Person", "name": "Anna", "notes": ["Likes tea."]}]
    )
    error = error_of(payload)
    assert all(key[:8] in error for key in keys)
    assert "A baker." in error


async def test_another_person_of_the_same_name_is_created_if_asked_for(
    tools: Toolset, database: Database
) -> None:
    await person(tools, "Anna", "A baker.")
    anna = {
        "label": "Person",
        "name": "Anna",
        "description": "A judge.",
        "new": True,
        "ref": "judge",
    }
    payload = succeeded(
        await tools.remember(nodes=[anna], notes=[{"on": "judge", "content": "Retired in 2020."}])
    )
    assert payload["nodes"]["created"] == 1
    judge = next(stored for stored in await database.nodes() if stored["description"] == "A judge.")
    assert note_contents(judge) == ["Retired in 2020."]


async def test_concurrent_calls_create_a_person_once(
    agents: list[Toolset], database: Database
) -> None:
    payloads = await asyncio.gather(
        *(tools.remember(nodes=[ME, RUTH], relationships=[MENTOR]) for tools in agents)
    )
    assert all(payload["success"] for payload in payloads)
    assert sorted(stored["name"] for stored in await database.nodes()) == ["Ines", "Ruth Calder"]
    assert len(await database.relationships()) == 1


async def test_each_item_succeeds_or_fails_by_itself(tools: Toolset, database: Database) -> None:
    payload = succeeded(
        await tools.remember(
            nodes=[
                ME,
                {"lable": "Person", "name": "Typo"},
                {"name": "Nobody"},
                {"label": "Dog", "name": "Rex"},
                RUTH,
                7,
            ],
            relationships=[
                MENTOR,
                {**MENTOR, "from": "Rex"},
                {**MENTOR, "from": "A stranger"},
                {**MENTOR, "to": "Ruth Calder"},
                {**MENTOR, "attitude": 9},
            ],
            notes=[
                {"on": "Ines", "content": "Reads.", "lifetime": "decade"},
                {"on": ["Ines", "Ruth Calder", "x"], "content": "x"},
                {"on": "Ruth Calder", "content": "Sails."},
            ],
        )
    )
    assert payload["message"] == (
        "Nodes: 2 created, 4 failed. Relationships: 1 created, 4 failed. 3 notes added, 2 failed"
    )
    errors = {
        f"{failure['list']}[{failure['index']}]": failure["error"]
        for failure in payload["failures"]
    }
    assert errors["nodes[1]"] == "unknown argument lable: did you mean label?"
    assert "or a label (Person, Concept, Entity, Source) to create it" in errors["nodes[2]"]
    assert errors["nodes[3]"].startswith("Unknown label: Dog")
    assert errors["nodes[5]"] == "arguments must be an object, got 7"
    assert errors["relationships[1]"] == "'Rex' is nodes[3], which was not written"
    assert errors["relationships[2]"].startswith("Node not found: A stranger")
    assert errors["relationships[3]"].startswith("A relationship joins two different nodes")
    assert errors["relationships[4]"].startswith("Attitude/proximity must be 1-5, got attitude 9")
    assert errors["notes[0]"].startswith("lifetime must be one of week")
    assert "notes[1]" in errors
    assert len(await database.relationships()) == 1


async def test_if_everything_fails_the_call_fails(tools: Toolset) -> None:
    payload = await tools.remember(
        relationships=[{"from": "A", "to": "B", "relationship_type": "x"}]
    )
    assert error_of(payload).startswith("relationships[0] A to B: Node not found: A, B")
    assert [failure["index"] for failure in payload["failures"]] == [0]


async def test_a_failure_of_the_embedder_is_the_error_of_every_new_item(
    tools: Toolset, database: Database, embedder: WatchedEmbedder
) -> None:
    embedder.failure = EmbeddingUnavailableError("the model is down")
    payload = await tools.remember(nodes=[ME, RUTH], relationships=[MENTOR])
    errors = ["the model is down", "the model is down", "nodes[1] was not written"]
    assert [failure["error"] for failure in payload["failures"]] == errors
    assert error_of(payload).startswith(
        "nodes[0] Ines, nodes[1] Ruth Calder: the model is down; relationships[0] "
    )
    assert await database.nodes() == []


async def test_a_note_or_relationship_without_a_type_creates_the_relationship_with_a_plain_type(
    tools: Toolset, database: Database
) -> None:
    nodes = [ME, RUTH, {"label": "Concept", "name": "Sailing"}]
    notes = [
        {"on": ["Sailing", "me"], "content": "Ines sails."},
        {"on": ["me", "Sailing"], "content": "Ines won."},
    ]
    call = {
        "nodes": nodes,
        "relationships": [{"from": "Ruth Calder", "to": "me", "proximity": 4}],
        "notes": notes,
    }
    answer = await tools.remember.call_text(call)
    assert (
        answer.text.splitlines()[0] == "Nodes: 3 created. Relationships: 2 created. 3 notes added"
    )
    assert answer.text.splitlines()[2:] == [
        "Note: New relationship 'Ruth Calder has relationship with Ines'; give a better "
        "relationship_type",
        "Note: New relationship 'Ines engages with Sailing'; give a better relationship_type",
    ]
    stored = {one["neo4j_type"]: one for one in await database.assert_current()}
    assert note_contents(stored["engages_with"]) == ["Ines sails.", "Ines won."]
    better = {"from": "me", "to": "Sailing", "relationship_type": "loves"}
    answer = await tools.remember.call_text({"relationships": [better]})
    assert "Replaced: Ines loves Sailing: relationship_type was 'engages with'" in answer.text
    # A plain type says nothing of a direction.
    better = {"from": "me", "to": "Ruth Calder", "relationship_type": "apprentice of"}
    succeeded(await tools.remember(relationships=[better]))
    known = await tools.get_relationship(from_entity_key="Ruth Calder", to_entity_key="me")
    assert known["triplet"] == "Ines apprentice of Ruth Calder"
    await database.assert_current()
    edit = {"on": ["Ruth Calder", "Sailing"], "replaces": "Ruth", "content": "Ruth rows."}
    assert "Relationship not found between Ruth Calder" in error_of(
        await tools.remember(notes=[edit])
    )


@pytest.mark.parametrize(
    ("note", "said"),
    [
        ({"content": "They met.", "when": "last Friday"}, "notes.1.when: must be a date"),
        ({"content": "They row.", "lifetime": "age"}, "lifetime must be one of"),
    ],
)
async def test_an_invalid_note_refuses_its_item_and_no_other(
    tools: Toolset, database: Database, note: dict[str, str], said: str
) -> None:
    relationship = {**MENTOR, "notes": ["They sail.", note]}
    payload = succeeded(await tools.remember(nodes=[ME, RUTH], relationships=[relationship]))
    [failure] = payload["failures"]
    assert failure["error"].startswith(said)
    assert len(await database.nodes()) == 2
    assert await database.relationships() == []


async def test_a_source_that_does_not_exist_is_created_once(
    tools: Toolset, graph: KnowledgeGraph, user_id: str
) -> None:
    for number in range(2):
        notes = [{"on": "Ruth Calder", "content": f"Fact {number}."}]
        source = "Talk in  May" if number else "Talk in May"
        succeeded(await tools.remember(nodes=[RUTH], notes=notes, source=source))
    stored = await named(graph, user_id)
    assert stored.keys() == {"Ruth Calder", "Talk in May"}
    sources = {
        note["source_entity_key"] for note in json.loads(str(stored["Ruth Calder"]["notes"]))
    }
    assert sources == {stored["Talk in May"]["entity_key"]}


async def test_each_name_of_a_new_source_in_a_call_is_a_source(
    tools: Toolset, graph: KnowledgeGraph, user_id: str
) -> None:
    def said(*names: str) -> list[dict[str, str]]:
        return [{"content": f"In {name}.", "source": name} for name in names]

    notes = [{"on": "Ruth Calder", **note} for note in said("Talk", "Diary")]
    succeeded(await tools.remember(nodes=[RUTH], notes=notes))
    succeeded(await tools.create_node(label="Person", name="Ines", notes=said("Log", "Letter")))
    stored = await named(graph, user_id)
    assert stored.keys() == {"Ruth Calder", "Ines", "Talk", "Diary", "Log", "Letter"}
    for name, sources in (("Ruth Calder", {"Talk", "Diary"}), ("Ines", {"Log", "Letter"})):
        kept = {note["source_entity_key"] for note in json.loads(str(stored[name]["notes"]))}
        assert kept - {None} == {stored[source]["entity_key"] for source in sources}


async def test_a_note_that_is_not_stored_leaves_no_source(
    tools: Toolset, graph: KnowledgeGraph, user_id: str
) -> None:
    ada = await person(tools, "Ada")
    note = {"content": "Rows.", "source": "Diary 8"}
    ends = {"from_entity_key": ada, "to_entity_key": await person(tools, "Di")}
    missing = await tools.add_note_to_relationship(**ends, notes=[note])
    assert error_of(missing).startswith("Relationship not found")
    error_of(await tools.remember(notes=[{"on": "nobody", **note}]))
    assert (await named(graph, user_id)).keys() == {"Ada", "Di"}


async def test_items_that_fail_for_one_cause_are_one_message(tools: Toolset) -> None:
    notes = [{"on": "Zorro", "content": f"Fact {number}."} for number in range(3)]
    error = error_of(await tools.remember(notes=notes))
    assert error == (
        "notes[0] Zorro, notes[1] Zorro, notes[2] Zorro: Node not found: Zorro. Add it to nodes to "
        "create it"
    )


async def test_a_note_may_give_the_type_of_a_relationship_that_it_creates(
    tools: Toolset, database: Database
) -> None:
    note = {"on": ["Ruth Calder", "me"], "content": "They sail.", "relationship_type": "friend"}
    payload = succeeded(await tools.remember(nodes=[ME, RUTH], notes=[note]))
    assert (payload["relationships"]["created"], payload["hints"]) == (1, [])
    later = {**note, "on": ["me", "Ruth Calder"], "content": "They row.", "relationship_type": "x"}
    succeeded(await tools.remember(notes=[later]))
    stored = await database.relationship()
    assert (stored["relationship_type"], len(note_contents(stored))) == ("friend", 2)


async def test_two_items_with_one_name_and_different_refs_are_refused(
    tools: Toolset, database: Database
) -> None:
    first = {"ref": "a", "label": "Person", "name": "Peter", "description": "Carpenter."}
    second = {"ref": "b", "label": "Person", "name": "peter", "description": "Priest."}
    kitchen = {"from": "a", "to": "me", "relationship_type": "built the kitchen of"}
    payload = succeeded(await tools.remember(nodes=[ME, first, second], relationships=[kitchen]))
    errors = [failure["error"] for failure in payload["failures"]]
    assert errors[0] == errors[1]
    assert errors[0].startswith(
        "nodes 1, 2 have different refs and the same name. If they are the same thing, give one "
        "item;"
    )
    assert errors[2] == "'a' is nodes[1], which was not written"
    assert [node["name"] for node in await database.nodes()] == ["Ines"]
    succeeded(await tools.remember(nodes=[first, {**second, "new": True}], relationships=[kitchen]))
    assert sorted(node["name"] for node in await database.nodes()) == ["Ines", "Peter", "peter"]


async def test_a_node_is_not_renamed_to_the_name_of_another(
    tools: Toolset, database: Database
) -> None:
    created = succeeded(
        await tools.remember(nodes=[RUTH, {"label": "Person", "name": "Rut Calder"}])
    )["created_nodes"]
    key = next(node["entity_key"] for node in created if node["name"] == "Rut Calder")
    error = error_of(await tools.remember(nodes=[{"entity_key": key, "name": "ruth calder"}]))
    assert "Person 'Ruth Calder' (" in error
    assert "If both are the same thing, use merge_nodes" in error
    assert {node["name"] for node in await database.nodes()} == {"Ruth Calder", "Rut Calder"}
    succeeded(await tools.remember(nodes=[{"entity_key": key, "name": "rut calder"}]))
    assert {node["name"] for node in await database.nodes()} == {"Ruth Calder", "rut calder"}


async def test_a_name_that_means_the_owner_creates_nobody(
    tools: Toolset, database: Database
) -> None:
    assert "give the real name and is_owner" in error_of(
        await tools.remember(nodes=[{"label": "Person", "name": "Me"}])
    )
    assert await database.nodes() == []
    succeeded(await tools.remember(nodes=[ME]))
    succeeded(await tools.remember(nodes=[{"name": "me", "notes": ["Likes tea."]}]))
    [stored] = await database.nodes()
    assert (stored["name"], note_contents(stored)) == ("Ines", ["Likes tea."])


async def test_a_stored_label_does_not_change(tools: Toolset) -> None:
    key = await node(tools, "Concept", "Sailing")
    error = error_of(
        await tools.remember(
            nodes=[{"entity_key": key, "label": "Entity", "description": "A sport."}]
        )
    )
    assert error.endswith("'Sailing' has the label Concept, not Entity")


async def test_a_note_names_a_source_of_the_same_call(
    tools: Toolset, graph: KnowledgeGraph, user_id: str
) -> None:
    talk = {"label": "Source", "name": "Talk", "description": "A talk in May.", "ref": "talk"}
    note = {"content": "Sails.", "source_entity_key": "talk"}
    [_, source] = succeeded(await tools.remember(nodes=[{**RUTH, "notes": [note]}, talk]))[
        "created_nodes"
    ]
    stored = (await named(graph, user_id))["Ruth Calder"]
    assert f'"source_entity_key":"{source["entity_key"]}"' in stored["notes"]


async def test_the_text_is_what_a_model_needs_to_go_on(tools: Toolset) -> None:
    succeeded(await tools.remember(nodes=[ME, RUTH], relationships=[MENTOR]))
    answer = await tools["remember"].call_text(
        {
            "nodes": [
                {
                    "label": "Person",
                    "name": "Ruth",
                    "ref": "r",
                    "notes": [{"content": "On leave.", "lifetime": "week"}],
                },
                {"label": "Person", "name": "Ines", "description": "Engineer."},
            ],
            "relationships": [
                {**MENTOR, "relationship_type": "friend of"},
                {**MENTOR, "to": "Zorro"},
            ],
        }
    )
    [created] = answer.payload["created_nodes"]
    key = created["entity_key"][:12]
    assert answer.text.splitlines()[:4] == [
        "Nodes: 1 created, 1 updated. Relationships: 1 updated, 1 failed. 1 note added",
        f"New: Ruth (Person, {key})",
        "Expiry of 1 note: 2026-01-08",
        answer.text.splitlines()[3],
    ]
    assert answer.text.splitlines()[3].startswith(
        "Failed: relationships[1] Ruth Calder to Zorro: Node not found: Zorro"
    )
    assert answer.text.splitlines()[4].startswith("Note: Ruth is new; there is Ruth Calder (")
    assert answer.text.splitlines()[5:] == [
        "Note: relationships[0]: Its type is now 'mentor of, friend of'; if 'mentor of' ended, "
        "repeat it with replaces",
    ]


async def test_the_text_lists_twenty_failures_and_counts_the_others(tools: Toolset) -> None:
    answer = await tools["remember"].call_text(
        {"nodes": [ME, *({"name": f"Nobody {i}"} for i in range(30))]}
    )
    assert answer.text.count("Failed: ") == 21
    assert answer.text.splitlines()[-1] == "Failed: 10 more"


async def test_too_many_items_are_rejected(tools: Toolset) -> None:
    for argument, most in (("nodes", 100), ("relationships", 200), ("notes", 200)):
        error = error_of(await tools.remember(**{argument: [{}] * 5_000}))
        assert error.startswith(f"{argument} must have at most {most} items, got 5,000: ")


async def test_a_call_without_items_is_an_error(tools: Toolset) -> None:
    assert (
        error_of(await tools.remember())
        == "Nothing to remember: give nodes, relationships or notes"
    )


@pytest.mark.parametrize("stored", [True, False])
async def test_a_name_of_two_nodes_means_neither(
    database: Database, tools: Toolset, *, stored: bool
) -> None:
    concept, entity = [{"label": label, "name": "Yacht design"} for label in ("Concept", "Entity")]
    if stored:
        succeeded(await tools.remember(nodes=[concept]))
    likes = {"from": "Ann", "to": "yacht design", "relationship_type": "likes"}
    nodes = [concept, {"label": "Person", "name": "Ann"}, entity]
    answer = await tools["remember"].call_text({"nodes": nodes, "relationships": [likes]})
    assert (
        "yacht design could refer to 2 nodes; give the ref or key of one: nodes[0] (Yacht design); "
        "nodes[2] (Yacht design)" in answer.text
    )
    assert await database.relationships() == []
    refs = [{**concept, "ref": "c"}, {**entity, "ref": "e"}]
    succeeded(await tools.remember(nodes=refs, relationships=[{**likes, "to": "e"}]))
    [written] = await database.relationships()
    assert written["relationship_type"] == "likes"


async def test_a_type_that_gets_only_a_preposition_keeps_no_former_type(tools: Toolset) -> None:
    mother = {
        "from": "Ada",
        "to": "Bo",
        "relationship_type": "mother",
        "description": "Born in Porto.",
    }
    await two_friends(tools, relationship_type="mother", description="Born in Porto.")
    changed = succeeded(
        await tools.remember(relationships=[{**mother, "relationship_type": "Mother of"}])
    )
    assert changed["notes_added"] == 0


async def test_a_ref_of_two_nodes_means_neither(tools: Toolset) -> None:
    nodes = [{"ref": "a", "label": "Person", "name": name} for name in ("Tom", "Tim")]
    answer = await tools.remember.call_text(
        {
            "nodes": nodes,
            "relationships": [{"from": "a", "to": "Tom", "relationship_type": "brother"}],
        }
    )
    assert "Nodes: 2 created" in answer.text
    assert "a could refer to 2 nodes" in answer.text
