import json
from datetime import datetime, timedelta

from kgagent import KnowledgeGraph
from kgagent.tools import Toolset
from kgagent.tools.arguments import NewNote
from kgagent.tools.write_tools import AddNoteToRelationshipArguments
from tests.conftest import Clock
from tests.support.embedders import WatchedEmbedder
from tests.support.payloads import WHERE_KEYS_ARE, error_of, succeeded
from tests.support.people import person, persons, two_friends
from tests.support.stored import Database, note_contents


async def test_a_note_is_signed_dated_and_embedded_once(
    tools: Toolset, database: Database, embedder: WatchedEmbedder, user_id: str
) -> None:
    ends = await two_friends(tools)
    embedder.forget()
    payload = succeeded(
        await tools.add_note_to_relationship(**ends, content=" They went sailing ", lifetime="year")
    )
    assert payload["message"] == "Added note to relationship between Ada and Bo"
    assert payload["embedding_regenerated"] is True
    assert embedder.stored == [["friend They went sailing", "They went sailing"]]
    [stored] = await database.assert_current()
    assert json.loads(stored["notes"]) == [
        {
            "content": "They went sailing",
            "added_by": user_id,
            "date_added": "2026-01-01T00:00:00Z",
            "source_entity_key": None,
            "expires_at": "2027-01-01T00:00:00Z",
        }
    ]
    [shown] = payload["relationship"]["notes"]
    assert (shown["content"], shown["added_by"]) == ("They went sailing", user_id)


async def test_a_note_expires_after_its_lifetime(
    tools: Toolset, database: Database, clock: Clock
) -> None:
    ends = await two_friends(tools)
    days = {"week": 7, "month": 30, "year": 365, "forever": None, None: None}
    notes = [{"content": str(lifetime), "lifetime": lifetime} for lifetime in days]
    succeeded(await tools.add_note_to_relationship(**ends, notes=notes))
    stored = json.loads((await database.relationship())["notes"])
    expiries = [
        note["expires_at"] and datetime.fromisoformat(note["expires_at"]) for note in stored
    ]
    assert expiries == [
        None if after is None else clock() + timedelta(days=after) for after in days.values()
    ]


async def test_the_same_note_twice_is_one_and_makes_no_embedding_call(
    tools: Toolset, database: Database, embedder: WatchedEmbedder
) -> None:
    ends = await two_friends(tools, notes=["They row"])
    embedder.forget()
    payload = succeeded(await tools.add_note_to_relationship(**ends, content="They row"))
    assert payload["message"] == "The note exists already"
    assert embedder.calls == 0
    assert note_contents(await database.relationship()) == ["They row"]


async def test_notes_of_an_old_graph_stay(tools: Toolset, database: Database) -> None:
    ends = await two_friends(tools)
    await database.run(
        "MATCH (:Person|Concept {user_id: $user})-[r]->() SET r.notes = ['Met in May', 'Owes 5 "
        "euro']",
    )
    succeeded(await tools.add_note_to_relationship(**ends, content="Paid"))
    assert note_contents(await database.relationship()) == ["Met in May", "Owes 5 euro", "Paid"]


async def test_a_relationship_that_does_not_exist_is_named(tools: Toolset) -> None:
    first, second = await persons(tools, "Ada", "Bo")
    error = error_of(
        await tools.add_note_to_relationship(
            from_entity_key=first, to_entity_key=second, content="x"
        )
    )
    assert error.startswith(
        f"Relationship not found between Ada ({first[:12]}) and Bo ({second[:12]}). Create it with "
        f"create_relationship"
    )
    error = error_of(
        await tools.add_note_to_relationship(
            from_entity_key=first, to_entity_key="ghost", content="x"
        )
    )
    assert error == "Node not found: ghost" + WHERE_KEYS_ARE


async def test_any_node_may_be_the_source_of_a_note(tools: Toolset, database: Database) -> None:
    ends = await two_friends(tools)
    cy = await person(tools, "Cy")
    for source in (cy[:12], "CY"):
        succeeded(
            await tools.add_note_to_relationship(
                **ends, content=f"From {source}", source_entity_key=source
            )
        )
    sources = [
        note["source_entity_key"] for note in json.loads((await database.relationship())["notes"])
    ]
    assert sources == [cy, cy]
    assert "(source Cy)" in (await tools["get_relationship"].call_text(ends)).text
    for model in (AddNoteToRelationshipArguments, NewNote):
        assert "Source" not in (model.model_fields["source_entity_key"].description or "")


async def test_a_key_that_no_node_of_the_user_has_is_no_source(
    graph: KnowledgeGraph, tools: Toolset, database: Database, user_id: str
) -> None:
    ends = await two_friends(tools)
    foreign = await person(graph.tools(user_id=f"{user_id}-other"), "Cy")
    note = {"content": "Rows", "source_entity_key": foreign}
    said = f"No node has the key {foreign}, the source of a note. Give the key of a node, or a name"
    assert error_of(await tools.add_note_to_relationship(**ends, **note)) == said
    assert error_of(await tools.create_node(label="Person", name="Di", notes=[note])) == said
    assert note_contents(await database.relationship()) == []
