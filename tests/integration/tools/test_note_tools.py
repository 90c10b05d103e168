"""update_note and delete_note, and notes in the tools that update."""

import asyncio
import re
from typing import Any

from kgagent import KnowledgeGraph
from kgagent.tools import Toolset
from tests.conftest import Clock
from tests.support.payloads import error_of, succeeded
from tests.support.people import person, two_friends
from tests.support.stored import (
    Database,
    note_contents,
    the_relationship,
)

NOTES = ["They sail in May.", "They sail in June.", "They paint."]


async def contents(graph: KnowledgeGraph, user_id: str) -> list[str]:
    return note_contents(await the_relationship(graph, user_id))


async def test_a_note_of_a_relationship_is_corrected(
    tools: Toolset, graph: KnowledgeGraph, database: Database, user_id: str, clock: Clock
) -> None:
    ends = await two_friends(tools, notes=NOTES)
    clock.forward(days=1)
    payload = succeeded(await tools.update_note(**ends, note="They pa", content="They draw."))
    assert (payload["message"], payload["embedding_regenerated"]) == ("Updated note", True)
    assert (payload["note"]["content"], payload["note"]["date_added"]) == (
        "They draw.",
        "2026-01-01T00:00:00Z",
    )
    assert await contents(graph, user_id) == [
        "They sail in May.",
        "They sail in June.",
        "They draw.",
    ]
    await database.assert_current()


async def test_a_note_of_a_node_is_deleted(tools: Toolset, database: Database) -> None:
    await person(tools, "Ada", notes=["Sings.", "Reads."])
    payload = succeeded(await tools.delete_note(entity_key="Ada", note="Sings."))
    assert (payload["note"]["content"], payload["notes_left"]) == ("Sings.", 1)
    [stored] = await database.nodes()
    assert note_contents(stored) == ["Reads."]
    payload = succeeded(await tools.delete_note(entity_key="Ada", note="Reads."))
    assert payload["notes_left"] == 0
    [stored] = await database.nodes()
    assert "notes" not in stored
    assert "notes_text" not in stored
    await database.assert_current()


async def test_a_new_lifetime_counts_from_now(tools: Toolset, clock: Clock) -> None:
    ends = await two_friends(tools, notes=["They sail."])
    clock.forward(days=1)
    payload = succeeded(await tools.update_note(**ends, note="They sail.", lifetime="week"))
    assert payload["message"] == "Updated note; it expires on 2026-01-09"
    assert payload["embedding_regenerated"] is False
    assert (
        succeeded(await tools.update_note(**ends, note="They", lifetime="forever"))["message"]
        == "Updated note"
    )
    assert (
        succeeded(await tools.update_note(**ends, note="They", lifetime="forever"))["message"]
        == "Nothing changed"
    )


async def test_a_note_that_becomes_equal_to_another_is_kept_once(
    tools: Toolset, graph: KnowledgeGraph, user_id: str
) -> None:
    ends = await two_friends(tools, notes=NOTES)
    assert (
        succeeded(await tools.update_note(**ends, note=NOTES[0], content=NOTES[2]))["notes_left"]
        == 2
    )
    assert await contents(graph, user_id) == ["They paint.", "They sail in June."]


async def test_concurrent_changes_of_notes_are_all_kept(
    agents: list[Toolset], graph: KnowledgeGraph, database: Database, user_id: str
) -> None:
    ends = await two_friends(agents[0], notes=NOTES)
    payloads = await asyncio.gather(
        agents[0].delete_note(**ends, note=NOTES[0]),
        agents[1].update_note(**ends, note=NOTES[1], content="They sail in July."),
        agents[2].add_note_to_relationship(**ends, content="They sing."),
        agents[3].update_relationship(**ends, attitude=5),
    )
    assert all(payload["success"] for payload in payloads)
    assert sorted(await contents(graph, user_id)) == [
        "They paint.",
        "They sail in July.",
        "They sing.",
    ]
    await database.assert_current()


async def test_updates_take_notes(tools: Toolset, graph: KnowledgeGraph, user_id: str) -> None:
    ends = await two_friends(tools)
    succeeded(
        await tools.update_relationship(
            **ends, notes=["One.", {"content": "Two.", "lifetime": "year"}]
        )
    )
    succeeded(await tools.update_relationship(**ends, notes="Three."))
    several = {"content": "Four.", "notes": ["Five.", {"content": "Six."}], "lifetime": "week"}
    payload = succeeded(await tools.add_note_to_relationship(**ends, **several))
    assert payload["message"] == "Added 3 notes to relationship between Ada and Bo"
    assert payload["note_expiries"] == [{"expires_at": "2026-01-08T00:00:00Z", "notes": 2}]
    again = succeeded(
        await tools.add_note_to_relationship(**ends, notes=["Three.", {"content": "Six."}])
    )
    assert again["message"] == "The notes exist already"
    assert await contents(graph, user_id) == ["One.", "Two.", "Three.", "Four.", "Five.", "Six."]
    error = error_of(await tools.add_note_to_relationship(**ends))
    assert error == "content is missing: give the text of a note, or notes"


async def test_the_text_of_a_write_is_short(tools: Toolset) -> None:
    ends = await two_friends(tools, notes=NOTES)
    week = {"content": "On leave.", "lifetime": "week"}
    calls: dict[str, dict[str, Any]] = {
        "add_note_to_relationship": {**ends, **week},
        "update_relationship": {
            **ends,
            "attitude": 5,
            "notes": [{"content": "Ill.", "lifetime": "year"}],
        },
        "update_node": {"entity_key": "Ada", "notes": [week]},
        "delete_note": {**ends, "note": "Ill."},
    }
    texts = {
        name: (await tools[name].call_text(arguments)).text for name, arguments in calls.items()
    }
    assert texts == {
        "add_note_to_relationship": "Added note to relationship between Ada and Bo\ntriplet: Ada friend Bo\n"
        "embedding_regenerated: true\nExpiry of 1 note: 2026-01-08",
        "update_relationship": "Updated relationship between Ada and Bo\ntriplet: Ada friend Bo\n"
        "embedding_regenerated: true\nExpiry of 1 note: 2027-01-01",
        "update_node": "Updated Person Ada\nembedding_regenerated: true\nExpiry of 1 note: 2026-01-08",
        "delete_note": "Deleted note\nembedding_regenerated: true\nnote: Ill.",
    }
    created = await tools["create_node"].call_text(
        {"label": "Person", "name": "Cy", "notes": [week]}
    )
    key = created.payload["entity_key"]
    assert created.text == f"Created Person Cy\nentity_key: {key}\nExpiry of 1 note: 2026-01-08"
    deleted = (await tools["delete_relationship"].call_text(ends)).text.splitlines()
    assert deleted[1:] == ["triplet: Ada friend Bo", "undo_until: 2125-12-08T00:00:00Z"]


async def test_the_text_of_a_deletion_has_the_note_and_cuts_a_very_long_one(tools: Toolset) -> None:
    long = "A long day at sea. " * 1_000
    await person(tools, "Ada", notes=[long, "Two\nlines."])
    short = await tools["delete_note"].call_text({"entity_key": "Ada", "note": "Two"})
    assert short.text.splitlines()[-1] == "note: Two lines."
    deleted = await tools["delete_note"].call_text({"entity_key": "Ada", "note": "A long day"})
    assert deleted.payload["note"]["content"] == long.strip()
    assert re.search(
        r"^note: A long day at sea\. .*… \(\+[\d,]+ characters\)$", deleted.text, re.MULTILINE
    )
    assert len(deleted.text) < 10_000


async def test_a_wrong_address_or_change_is_explained_and_changes_nothing(
    tools: Toolset, database: Database
) -> None:
    ends = await two_friends(tools, notes=NOTES)
    before = await database.all()
    several = (
        "2 notes begin with 'They sail'; give more of the text: 'They sail in May.'; 'They sail"
    )
    which = "give entity_key for a note of a node, or from_entity_key and"
    for arguments, error in (
        ({"note": "They sail"}, several),
        ({"note": "they"}, "No note begins with 'they'. There are 3 notes: 'They sail in May.'; "),
        ({"note": " "}, "note must not be empty"),
        ({"note": "They paint.", "entity_key": "Ada"}, which),
        ({"note": "They paint.", "to_entity_key": None}, which),
        (
            {"note": "They paint.", "to_entity_key": "Zorro"},
            "Node not found: Zorro",
        ),
    ):
        given: dict[str, Any] = {**ends, **arguments}
        assert error in error_of(await tools.delete_note(**given))
        assert error in error_of(await tools.update_note(**given, content="x"))
    assert (
        error_of(await tools.update_note(**ends, note="They p"))
        == "Nothing to change: give content, when or lifetime"
    )
    assert "lifetime must be one of" in error_of(
        await tools.update_note(**ends, note="They p", lifetime="decade")
    )
    assert await database.all() == before
