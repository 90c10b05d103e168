"""remember: stored notes are corrected and removed."""

import pytest

from kgagent import KnowledgeGraph
from kgagent.tools import Toolset
from tests.conftest import Clock
from tests.support.payloads import error_of, succeeded
from tests.support.people import two_friends
from tests.support.stored import Database, nodes_of, note_contents

FAIR = {
    "label": "Entity",
    "name": "Harvest fair",
    "notes": ["Moved to May.", "Moved to Oslo.", "Is in its tenth year."],
}


@pytest.fixture
async def core(graph: KnowledgeGraph, user_id: str) -> Toolset:
    """The tools that an agent has by default; the fair is stored."""
    tools = graph.tools(user_id=user_id, toolsets=["core"])
    succeeded(await tools.remember(nodes=[FAIR]))
    return tools


async def notes_of_fair(graph: KnowledgeGraph, user_id: str) -> list[str]:
    [fair] = await nodes_of(graph, user_id)
    return note_contents(fair)


async def test_a_note_is_replaced_in_its_place_and_the_embedding_follows(
    core: Toolset, graph: KnowledgeGraph, database: Database, user_id: str, clock: Clock
) -> None:
    clock.forward(days=1)
    payload = succeeded(
        await core.remember(
            notes=[{"on": "Harvest fair", "replaces": "Moved to M", "content": "Moved to June."}]
        )
    )
    assert payload["message"] == "1 note corrected"
    assert (payload["notes_added"], payload["notes_corrected"], payload["embeddings"]) == (0, 1, 1)
    assert payload["replaced"] == [
        {"item": "Harvest fair", "field": "note", "old": "Moved to May."}
    ]
    assert await notes_of_fair(graph, user_id) == [
        "Moved to June.",
        "Moved to Oslo.",
        "Is in its tenth year.",
    ]
    await database.assert_current()


async def test_a_note_is_removed_by_a_correction_without_content(
    core: Toolset, graph: KnowledgeGraph, database: Database, user_id: str
) -> None:
    answer = await core.remember.call_text(
        {"notes": [{"on": "Harvest fair", "replaces": "Moved to May…"}]}
    )
    assert answer.text.splitlines() == [
        "1 note removed",
        "Replaced: Harvest fair: note was 'Moved to May.'",
    ]
    assert answer.payload["notes_removed"] == 1
    both = [
        {"on": "Harvest fair", "replaces": "Moved"},
        {"on": "Harvest fair", "replaces": "Is in", "content": ""},
    ]
    assert succeeded(await core.remember(notes=both))["message"] == "2 notes removed"
    assert await notes_of_fair(graph, user_id) == []
    await database.assert_current()


async def test_a_note_of_a_relationship_is_corrected_with_a_new_lifetime(
    tools: Toolset, database: Database
) -> None:
    ends = list((await two_friends(tools, notes=["They met in Rome"])).values())
    note = {"on": ends, "replaces": "They met", "content": "They met in Oslo", "lifetime": "month"}
    payload = succeeded(await tools.remember(notes=[note, {"on": ends, "content": "They row"}]))
    assert payload["message"] == "1 note added, 1 corrected"
    assert payload["note_expiries"] == [{"expires_at": "2026-01-31T00:00:00Z", "notes": 1}]
    assert payload["replaced"] == [
        {"item": "Ada friend Bo", "field": "note", "old": "They met in Rome"}
    ]
    [stored] = await database.assert_current()
    assert note_contents(stored) == ["They met in Oslo", "They row"]


async def test_a_repeated_correction_changes_nothing(core: Toolset, database: Database) -> None:
    note = {
        "on": "Harvest fair",
        "replaces": "Is in its tenth",
        "content": "Has its eleventh year.",
    }
    succeeded(await core.remember(notes=[note]))
    stored = await database.nodes()
    again = succeeded(
        await core.remember(notes=[note], nodes=[{"label": "Entity", "name": "Harvest fair"}])
    )
    assert again["message"] == "Nodes: 1 unchanged. 1 note unchanged"
    assert "replaced" not in again or again["replaced"] == []
    assert await database.nodes() == stored


async def test_an_unknown_or_ambiguous_note_is_an_error_of_the_item(
    core: Toolset, graph: KnowledgeGraph, user_id: str
) -> None:
    payload = await core.remember(
        notes=[
            {"on": "Harvest fair", "replaces": "Moved to", "content": "x"},
            {"on": "Harvest fair", "replaces": "Closed"},
            {"on": "Harvest fair"},
            {"on": "Nobody", "replaces": "x"},
        ]
    )
    error = error_of(payload)
    assert (
        "notes[0] Harvest fair: 2 notes begin with 'Moved to'; give more of the text: 'Moved to "
        "May.'" in error
    )
    assert (
        "notes[1] Harvest fair: No note begins with 'Closed'. There are 3 notes: 'Moved to May.'"
        in error
    )
    assert "a note needs content; only replaces without content removes a stored note" in error
    assert "notes[3] Nobody: Node not found" in error
    assert len(await notes_of_fair(graph, user_id)) == 3
